/** What the checker says: which property of the specification an action, or a silence, breaks. */

const SAFETY = 26;
const LIVENESS = 4;

export type PropertyId = `P${number}` | `L${number}`;

export const PROPERTY_IDS: readonly PropertyId[] = [
  ...Array.from({ length: SAFETY }, (_, i): PropertyId => `P${i + 1}`),
  ...Array.from({ length: LIVENESS }, (_, i): PropertyId => `L${i + 1}`),
];

export interface Violation {
  readonly property: PropertyId;
  readonly message: string;
  /** Index into the actions of the trace; their number: the end of the trace. */
  readonly action: number;
  /** Reading of the wall clock. */
  readonly at: number;
  readonly task?: string;
}

/** Called by every part of the checker; the walk knows where in the trace it is. */
export type Report = (property: PropertyId, message: string, task?: string) => void;
