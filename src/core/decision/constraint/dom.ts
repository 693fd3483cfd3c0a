import { civilFromDays } from "../../time/civil.js";
import { listKind } from "./list.js";

export const DOM = listKind({
  word: "dom",
  min: 1,
  max: 31,
  names: [],
  judged: (days) => civilFromDays(days).day,
});
