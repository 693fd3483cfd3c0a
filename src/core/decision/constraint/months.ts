import { civilFromDays } from "../../time/civil.js";
import { listKind } from "./list.js";

export const MONTHS = listKind({
  word: "months",
  min: 1,
  max: 12,
  names: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
  judged: (days) => civilFromDays(days).month,
});
