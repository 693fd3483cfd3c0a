/** Every kind of constraint there is, by name. Nothing else lists them: types, readers and texts follow from here. */
import { BETWEEN } from "./between.js";
import { CALENDAR } from "./calendar.js";
import { DATE } from "./date.js";
import { DOM } from "./dom.js";
import { DOW } from "./dow.js";
import { HOURS } from "./hours.js";
import type { ClauseBody, ConstraintKind } from "./kind.js";
import { MONTHS } from "./months.js";

const KINDS = {
  hours: HOURS,
  dow: DOW,
  dom: DOM,
  months: MONTHS,
  between: BETWEEN,
  date: DATE,
  calendar: CALENDAR,
} as const;

export const CONSTRAINT_KINDS: Readonly<Record<keyof typeof KINDS, ConstraintKind>> = KINDS;

export type ClauseKind = keyof typeof KINDS;

/** One clause: what a candidate is, by its kind, has to lie in one of the ranges, or in none. */
export interface Clause extends ClauseBody {
  readonly kind: ClauseKind;
}

/** What may stand before the `=`, with the kind it means. */
export const CLAUSE_WORDS: ReadonlyMap<string, ClauseKind> = new Map(
  (Object.keys(KINDS) as ClauseKind[]).flatMap((kind) => KINDS[kind].words.map((word) => [word, kind] as const)),
);
