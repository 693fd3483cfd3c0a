/**
 * Ledger and definitions as lines of JSON, one file an identity. A line that was written again replaces the earlier
 * one. A line that cannot be read at all is one whose writing was interrupted; a line that can be read but does not
 * match its checksum is damaged.
 */
import { checksum } from "../checksum.js";
import type { DefinitionVersion, LedgerRecord, StoredRecord, StoredVersion } from "../store.js";

interface Line {
  readonly sum: number;
  readonly body: string;
}

function format(value: LedgerRecord | DefinitionVersion): string {
  const body = JSON.stringify(value);
  return `${JSON.stringify({ sum: checksum(0, body), body } satisfies Line)}\n`;
}

export function formatRecord({ identity, at, kind, text }: LedgerRecord): string {
  return format({ identity, at, kind, text });
}

export function formatVersion({ identity, definedAt, text }: DefinitionVersion): string {
  return format({ identity, definedAt, text });
}

function parseLine(line: string): { readonly body: unknown; readonly isIntact: boolean } | null {
  try {
    const { sum, body } = JSON.parse(line) as Line;
    return { body: JSON.parse(body), isIntact: sum === checksum(0, body) };
  } catch {
    return null;
  }
}

function parseLines(text: string): { readonly body: unknown; readonly isIntact: boolean }[] {
  return text
    .split("\n")
    .map(parseLine)
    .filter((line) => line !== null);
}

function byInstantAndKind(left: LedgerRecord, right: LedgerRecord): number {
  if (left.at !== right.at) return left.at - right.at;
  return left.kind < right.kind ? -1 : 1;
}

/** Oldest first. */
export function parseRecords(text: string): StoredRecord[] {
  const records = new Map<string, StoredRecord>();
  for (const { body, isIntact } of parseLines(text)) {
    const record = body as LedgerRecord;
    records.set(`${record.at}/${record.kind}`, { ...record, isIntact });
  }
  return [...records.values()].sort(byInstantAndKind);
}

/** Oldest first. */
export function parseVersions(text: string): StoredVersion[] {
  const versions = new Map<number, StoredVersion>();
  for (const { body, isIntact } of parseLines(text)) {
    const version = body as DefinitionVersion;
    versions.set(version.definedAt, { ...version, isIntact });
  }
  return [...versions.values()].sort((left, right) => left.definedAt - right.definedAt);
}
