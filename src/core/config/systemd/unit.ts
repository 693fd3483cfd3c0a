/** Unit files: sections of `Key=value`, comments, lines continued by a backslash. What a key means is for others. */

export interface UnitText {
  /** As it is named to people. */
  readonly file: string;
  readonly text: string;
}

export interface UnitEntry {
  readonly section: string;
  readonly key: string;
  readonly value: string;
  readonly file: string;
  /** One-based, of the line it begins on. */
  readonly line: number;
}

export interface Unit {
  /** `backup.timer`, `dump@main.service`. */
  readonly name: string;
  /** Of the unit's own file, where it is named as a whole. */
  readonly file: string;
  readonly entries: readonly UnitEntry[];
  /** Lines that are neither: where they stand, and what stands there. */
  readonly broken: readonly UnitEntry[];
}

/** The unit's own file, and its drop-ins in the order in which they count. */
export function readUnit(name: string, texts: readonly UnitText[]): Unit {
  const entries: UnitEntry[] = [];
  const broken: UnitEntry[] = [];
  for (const text of texts) readText(text, entries, broken);
  return { name, file: texts[0]?.file ?? name, entries, broken };
}

function readText({ file, text }: UnitText, entries: UnitEntry[], broken: UnitEntry[]): void {
  let section = "";
  for (const { line, content } of joinedLines(text)) {
    const header = /^\[([^\]]+)\]$/.exec(content)?.[1];
    const [, key, value = ""] = /^([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/s.exec(content) ?? [];
    if (header !== undefined) section = header;
    else if (key !== undefined && section !== "") entries.push({ section, key, value: value.trim(), file, line });
    else broken.push({ section, key: "", value: content, file, line });
  }
}

/** A backslash at the end of a line stands for a blank; comment lines in between do not count. */
function* joinedLines(text: string): Generator<{ readonly line: number; readonly content: string }> {
  let pending: { line: number; content: string } | null = null;
  for (const [index, raw] of text.split("\n").entries()) {
    const trimmed: string = raw.trim();
    if (/^[#;]/.test(trimmed) || (pending === null && trimmed === "")) continue;
    const content: string = pending === null ? trimmed : `${pending.content} ${trimmed}`;
    const line: number = pending?.line ?? index + 1;
    if (content.endsWith("\\")) {
      pending = { line, content: content.slice(0, -1).trimEnd() };
      continue;
    }
    pending = null;
    yield { line, content };
  }
  if (pending !== null) yield pending;
}
