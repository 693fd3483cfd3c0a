/** The part of a crontab line that is run: up to the first `%`; what follows is its standard input. */

interface CrontabCommand {
  /** For the shell. */
  readonly command: string;
  readonly stdin: string | null;
}

/**
 * As cron does it: in the command `\%` stands for `%` and every other backslash for itself; in the input a further `%`
 * is a line break, `\%` a `%`, and a last line without an end gets one.
 */
export function splitCrontabCommand(text: string): CrontabCommand {
  const end = firstPercent(text);
  const command = text.slice(0, end).replace(/\\./gs, (pair) => (pair === "\\%" ? "%" : pair));
  const input = inputOf(text.slice(end + 1));
  return { command, stdin: input === "" ? null : input };
}

/** A backslash protects the character after it, also another backslash. */
function firstPercent(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "%") return at;
  }
  return text.length;
}

function inputOf(text: string): string {
  // Here, unlike before the first %, a backslash does not protect another one.
  const input = text.replace(/\\%|%/g, (found) => (found === "%" ? "\n" : "%"));
  return input === "" || input.endsWith("\n") ? input : `${input}\n`;
}
