import { listKind } from "./list.js";

const MINUTES_PER_HOUR = 60;

export const HOURS = listKind({
  word: "hours",
  min: 0,
  max: 23,
  names: [],
  judged: (_, minute) => Math.floor(minute / MINUTES_PER_HOUR),
});
