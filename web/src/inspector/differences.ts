/** Two values as text, line by line, with what differs between them. */
import { isFields } from "./frames.js";

export interface DifferenceLine {
  readonly mark: "same" | "added" | "removed";
  readonly depth: number;
  readonly text: string;
}

type Mark = DifferenceLine["mark"];

/** Longer lists are compared place by place. */
const MOST_ALIGNED = 64;

/** `before` null: there was nothing to compare with, and nothing is marked. */
export function differences(before: { readonly value: unknown } | null, after: unknown): readonly DifferenceLine[] {
  const lines: DifferenceLine[] = [];
  if (before === null) write(lines, "same", 0, "", after, "");
  else compare(lines, 0, "", before.value, after, "");
  return lines;
}

export function hasDifferences(lines: readonly DifferenceLine[]): boolean {
  return lines.some(({ mark }) => mark !== "same");
}

function compare(
  lines: DifferenceLine[],
  depth: number,
  key: string,
  before: unknown,
  after: unknown,
  comma: string,
): void {
  if (isFields(before) && isFields(after)) {
    if (Object.keys(before).length + Object.keys(after).length > 0) {
      lines.push({ mark: "same", depth, text: `${key}{` });
      compareFields(lines, depth + 1, before, after);
      lines.push({ mark: "same", depth, text: `}${comma}` });
      return;
    }
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length + after.length > 0) {
    lines.push({ mark: "same", depth, text: `${key}[` });
    compareLists(lines, depth + 1, before, after);
    lines.push({ mark: "same", depth, text: `]${comma}` });
    return;
  }
  if (textOf(before) === textOf(after)) {
    write(lines, "same", depth, key, after, comma);
    return;
  }
  write(lines, "removed", depth, key, before, comma);
  write(lines, "added", depth, key, after, comma);
}

function compareFields(
  lines: DifferenceLine[],
  depth: number,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): void {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  for (const [index, name] of names.entries()) {
    const key = `${JSON.stringify(name)}: `;
    const comma = index === names.length - 1 ? "" : ",";
    if (!Object.hasOwn(after, name) || after[name] === undefined)
      write(lines, "removed", depth, key, before[name], comma);
    else if (!Object.hasOwn(before, name)) write(lines, "added", depth, key, after[name], comma);
    else compare(lines, depth, key, before[name], after[name], comma);
  }
}

/** What was put in or taken out anywhere is found, so that the rest is not called different. */
function compareLists(
  lines: DifferenceLine[],
  depth: number,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  const pairs = Math.max(before.length, after.length) > MOST_ALIGNED ? byPlace(before, after) : aligned(before, after);
  for (const [index, [was, is]] of pairs.entries()) {
    const comma = index === pairs.length - 1 ? "" : ",";
    if (was !== null && is !== null) compare(lines, depth, "", was.value, is.value, comma);
    else if (was !== null) write(lines, "removed", depth, "", was.value, comma);
    else if (is !== null) write(lines, "added", depth, "", is.value, comma);
  }
}

type Pair = readonly [was: { readonly value: unknown } | null, is: { readonly value: unknown } | null];

function byPlace(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at): Pair => {
    return [at < before.length ? { value: before[at] } : null, at < after.length ? { value: after[at] } : null];
  });
}

/** The longest common part stays, and the rest was put in or taken out; one for one, where only that one is different. */
function aligned(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  const [a, b] = [before.map(textOf), after.map(textOf)];
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row === undefined) continue;
      row[j] = a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  if (lengthAt(0, 0) === 0 && a.length === b.length) return byPlace(before, after);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([{ value: before[i++] }, { value: after[j++] }]);
    else if (i < a.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1)) pairs.push([{ value: before[i++] }, null]);
    else pairs.push([null, { value: after[j++] }]);
  }
  return pairs;
}

function write(lines: DifferenceLine[], mark: Mark, depth: number, key: string, value: unknown, comma: string): void {
  const entries = Array.isArray(value)
    ? value.map((item) => ["", item] as const)
    : isFields(value)
      ? Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item] as const)
      : null;
  if (entries === null || entries.length === 0) {
    lines.push({ mark, depth, text: `${key}${textOf(value)}${comma}` });
    return;
  }
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  lines.push({ mark, depth, text: `${key}${open}` });
  for (const [index, [name, item]] of entries.entries()) {
    write(lines, mark, depth + 1, name, item, index === entries.length - 1 ? "" : ",");
  }
  lines.push({ mark, depth, text: `${close}${comma}` });
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
