/** Where calendars are looked up that a clause calls by their names. */
import type { IntRange } from "./range.js";

export interface Calendars {
  /** Its days since 1970-01-01; null: there is one of that name, but its dates cannot be had; undefined: there is none. */
  rangesOf(name: string): readonly IntRange[] | null | undefined;
  /** What to write instead of a name that is not known. */
  hintFor(name: string): string;
}

/** Outside of files that define calendars. A definition that was read carries the dates with it, and needs none. */
export const NO_CALENDARS: Calendars = {
  rangesOf: () => undefined,
  hintFor: (name) =>
    "calendars stand under calendars: in a YAML file, for the jobs of that file; " +
    `elsewhere write its dates with it, like calendar=${name}(2026-12-25,2026-12-31..2027-01-01)`,
};
