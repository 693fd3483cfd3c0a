/** A unified diff, made from the edits themselves, so that it never has to guess what was changed. */
import { applyEdits, sortEdits, type TextEdit } from "./edits.js";

const CONTEXT_LINES = 3;

/** A line of the source and what stands in its place. */
interface ChangedLine {
  /** Zero-based. */
  readonly index: number;
  readonly lines: readonly string[];
}

export function unifiedDiff(name: string, source: string, edits: readonly TextEdit[]): string {
  const lines = source.split("\n");
  const changed = changedLines(lines, edits);
  if (changed.length === 0) return "";
  const path = name.replace(/^\/+/, "");
  let text = `--- ${headName(`a/${path}`)}\n+++ ${headName(`b/${path}`)}\n`;
  let grown = 0;
  for (const group of groupsOf(changed)) {
    text += hunkText(lines, group, grown);
    grown += group.reduce((sum, change) => sum + change.lines.length - 1, 0);
  }
  return text;
}

function changedLines(lines: readonly string[], edits: readonly TextEdit[]): readonly ChangedLine[] {
  const changed: ChangedLine[] = [];
  const rest = [...sortEdits(edits)];
  let start = 0;
  for (const [index, line] of lines.entries()) {
    if (rest.length === 0) break;
    const here: TextEdit[] = [];
    while (rest[0] !== undefined && rest[0].start <= start + line.length) {
      const edit = rest.shift() as TextEdit;
      here.push({ start: edit.start - start, end: edit.end - start, text: edit.text });
    }
    if (here.length > 0) changed.push({ index, lines: applyEdits(line, here).split("\n") });
    start += line.length + 1;
  }
  return changed;
}

/** Changes whose contexts touch share a hunk. */
function groupsOf(changed: readonly ChangedLine[]): readonly (readonly ChangedLine[])[] {
  const groups: ChangedLine[][] = [];
  for (const change of changed) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && change.index - last.index <= 2 * CONTEXT_LINES) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

function hunkText(lines: readonly string[], group: readonly ChangedLine[], grown: number): string {
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const [start] = group;
  // Programs that apply diffs take a longer context before than behind for a sign that the file ends here.
  const firstChanged = start === undefined ? 0 : start.index + (isOnlyAddedTo(start, lines) ? 1 : 0);
  const first = Math.max(0, firstChanged - CONTEXT_LINES);
  const end = Math.min(count, (group.at(-1)?.index ?? 0) + CONTEXT_LINES + 1);
  const isAtOpenEnd = (index: number): boolean => index === lines.length - 1;
  const mark = "\\ No newline at end of file\n";
  let text = "";
  let after = 0;
  for (let index = first; index < end; index++) {
    const line = lines[index] ?? "";
    const change = group.find((candidate) => candidate.index === index);
    const close = isAtOpenEnd(index) ? mark : "";
    if (change === undefined) text += ` ${line}\n${close}`;
    else if (isOnlyAddedTo(change, lines)) text += ` ${line}\n${added(change.lines.slice(1))}`;
    else text += `-${line}\n${close}${added(change.lines)}${close}`;
    after += change?.lines.length ?? 1;
  }
  return `@@ -${first + 1},${end - first} +${first + 1 + grown},${after} @@\n${text}`;
}

/** A line that stays and gets others below it reads best as a line that stays; not the last one without a newline. */
function isOnlyAddedTo({ index, lines: [kept] }: ChangedLine, lines: readonly string[]): boolean {
  return kept === lines[index] && index < lines.length - 1;
}

function added(lines: readonly string[]): string {
  return lines.map((line) => `+${line}\n`).join("");
}

/** As git writes names that hold what a line of a diff cannot. */
function headName(name: string): string {
  return /["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}
