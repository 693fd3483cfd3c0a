/**
 * Who wants something of a job for a while. Planners are called `planner:rules` and `planner:MODEL`; everybody else counts as
 * a person: whoever runs the daemon has no name here, and whoever has a key goes by it.
 */
const PLANNER = "planner:";

/** S51: what a job does to itself because its definition says so. A planner stands back behind it as behind a person. */
export const KRON = "kron";

export function plannerNamed(name: string): string {
  return PLANNER + name;
}

export function isPlanners(by: string | undefined): boolean {
  return by?.startsWith(PLANNER) === true;
}

/** As it is told beside what was wanted; nothing where nobody is named. */
export function byText(by: string | undefined): string {
  return by === undefined ? "" : `, by ${by}`;
}
