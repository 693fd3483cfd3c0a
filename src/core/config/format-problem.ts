/** Shows a problem the way compilers do: where, what, the line itself, a caret below it, and what to write instead. */
import type { LocatedProblem, Place } from "./located.js";

/** Of longer lines only the surroundings of the trouble are shown. */
const SHOWN_CHARS = 160;
const SHOWN_BEFORE = 60;
const SHOWN_PATH = 80;

const PLAIN: Paint = (text) => text;
type Paint = (text: string) => string;

function paint(code: string): Paint {
  return (text) => `\u001b[${code}m${text}\u001b[0m`;
}

/** One text of several lines, without a final newline. `sourceLine` is the line the problem names, when it is at hand. */
export function formatProblem(
  located: LocatedProblem,
  sourceLine: string | null,
  { color = false }: { readonly color?: boolean } = {},
): string {
  const strong = color ? paint("1") : PLAIN;
  const alarm = color ? paint("1;31") : PLAIN;
  const { problem } = located;
  const field = problem.path.length === 0 ? "" : `${formatPath(problem.path)}: `;
  const head = `${strong(printable(formatPlace(located)))}: ${alarm("error:")} ${printable(field + problem.message)}`;
  const excerpt = sourceLine === null ? [] : excerptOf(sourceLine, located, alarm);
  const hint = problem.hint === undefined ? [] : [`  hint: ${printable(problem.hint)}`];
  return [head, ...excerpt, ...hint].join("\n");
}

export function formatPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** `policy.deadline`, `command[2]`. */
export function formatPath(path: readonly (string | number)[]): string {
  const whole = path.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${key}`)).join("");
  return whole.length > SHOWN_PATH ? `${whole.slice(0, SHOWN_PATH - 3)}...` : whole;
}

function excerptOf(sourceLine: string, { column, length }: LocatedProblem, alarm: Paint): string[] {
  const at = Math.min(column - 1, sourceLine.length);
  const from = sourceLine.length <= SHOWN_CHARS ? 0 : Math.max(0, at - SHOWN_BEFORE);
  const to = Math.min(sourceLine.length, from + SHOWN_CHARS);
  const lead = from === 0 ? "" : "...";
  const shown = printable(sourceLine.slice(from, to));
  const before = printable(sourceLine.slice(from, at));
  const marked = printable(sourceLine.slice(at, Math.min(at + length, to)));
  const carets = "^".repeat(Math.max(1, columnsOf(marked)));
  const text = `  ${lead}${shown}${to < sourceLine.length ? "..." : ""}`;
  return [text, `  ${" ".repeat(lead.length)}${before.replace(/[^\t]/gu, blanks)}${alarm(carets)}`];
}

/** Characters that take two columns in a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[^\0-\uffff]/u;

function blanks(char: string): string {
  return WIDE.test(char) ? "  " : " ";
}

function columnsOf(text: string): number {
  return [...text].reduce((columns, char) => columns + (WIDE.test(char) ? 2 : 1), 0);
}

/** Files come from anywhere: nothing in them may speak to the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]/gu, "\ufffd");
}
