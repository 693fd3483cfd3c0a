/** How schedules of one time are told from others: `@at 2026-12-01T03:00`. What it says reads `once.ts`. */
export const AT = "@at";

/** `@atlas` is no time, but a macro that nobody knows. */
const IS_ONCE = /^[ \t]*@at(?![A-Za-z_])/i;

/** Whether a schedule is meant as one time; what is wrong with it says `parseOnce`. */
export function isOnce(schedule: string): boolean {
  return IS_ONCE.test(schedule);
}

/** Where the time begins, in a schedule that `isOnce`. */
export function afterAt(schedule: string): number {
  return IS_ONCE.exec(schedule)?.[0].length ?? 0;
}
