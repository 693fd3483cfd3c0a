import { weekdayOfDays } from "../../time/civil.js";
import { rangeOf } from "./kind.js";
import { listKind } from "./list.js";

const NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

export const DOW = listKind({
  word: "dow",
  min: 0,
  // 7 is Sunday too, as in cron.
  max: 7,
  names: NAMES,
  judged: weekdayOfDays,
  /** Writes Sunday as 0 at both ends, without turning the whole week `0-7` into a Sunday. */
  rangeOf: (from, to) => (from === 0 && to === 7 ? rangeOf(0, 6) : rangeOf(from % 7, to % 7)),
  /** By name, because 0 and 7 would both be Sunday. */
  format: (value) => NAMES[value] ?? String(value),
});
