/** Whether what we write goes to the journal of systemd, which then reads the priority of each line. */
import * as fs from "node:fs";

/** systemd names the stream that it has put in the place of standard output or error. */
export function isJournal(descriptor: number, env: Readonly<Record<string, string | undefined>>): boolean {
  const named = /^(\d+):(\d+)$/.exec(env["JOURNAL_STREAM"] ?? "");
  if (named === null) return false;
  try {
    const { dev, ino } = fs.fstatSync(descriptor, { bigint: true });
    return `${dev}:${ino}` === named[0];
  } catch {
    return false;
  }
}
