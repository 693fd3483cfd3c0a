/**
 * The schedule that names no time: `@reboot`, once for each boot of the machine (S44). Like an interval it has no
 * occurrences: whoever walks nominal times finds none.
 */
export const REBOOT = "@reboot";

const IS_REBOOT = /^[ \t]*@reboot[ \t]*$/i;

export function isReboot(schedule: string): boolean {
  return IS_REBOOT.test(schedule);
}
