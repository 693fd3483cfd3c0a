/**
 * Everything a store holds of its jobs, a stretch of keys at a time: documents and definitions lie in the same order, so
 * that one pass over both brings together what belongs to a job.
 */
import type { StoredJob } from "../../core/restart/resting.js";
import { documentKey, identityPrefix } from "../keys.js";
import type { DocumentEntry, StoredVersion } from "../store.js";
import { type Entry, toDefinition, toDocument } from "./entries.js";
import type { Databases } from "./environment.js";

/** Keys from `from` up to, and without, `to`: hexadecimal digits of SHA-256, an even number of them. */
export interface KeyRange {
  readonly from: string;
  /** null: to the end. */
  readonly to: string | null;
}

const RANGE_DIGITS = 12;
const RANGE_SPACE = 16 ** RANGE_DIGITS;

/** Stretches that hold about the same number of jobs each: keys are hashes. Together they hold every key once. */
export function keyRanges(count: number): readonly KeyRange[] {
  const startOf = (index: number): string =>
    Math.floor((index / count) * RANGE_SPACE)
      .toString(16)
      .padStart(RANGE_DIGITS, "0");
  return Array.from({ length: count }, (_, index) => {
    return { from: startOf(index), to: index + 1 === count ? null : startOf(index + 1) };
  });
}

/** The jobs of a stretch, in the order of their keys, as of one instant. */
export function jobsIn(databases: Databases, range: KeyRange): StoredJob[] {
  // A snapshot that this thread took earlier would hide what was written since.
  databases.root.resetReadTxn();
  const documents = documentsIn(databases, range);
  const newest = newestIn(databases, range);
  const jobs: StoredJob[] = [];
  let next = 0;
  for (const document of documents) {
    const prefix = document.key.slice(0, PREFIX_DIGITS);
    for (; next < newest.length && (newest[next] as Newest).prefix < prefix; next++) {
      jobs.push(storedJob(null, newest[next] as Newest));
    }
    const mine = newest[next]?.prefix === prefix ? (newest[next] as Newest) : null;
    if (mine !== null) next += 1;
    jobs.push(storedJob(document, mine));
  }
  for (; next < newest.length; next++) jobs.push(storedJob(null, newest[next] as Newest));
  return jobs;
}

/** Hexadecimal digits of what the keys of definitions begin with. */
const PREFIX_DIGITS = 32;

function documentsIn({ documents }: Databases, { from, to }: KeyRange): DocumentEntry[] {
  const bounds = { start: from, ...(to === null ? {} : { end: to }), versions: true };
  const found: DocumentEntry[] = [];
  for (const entry of documents.getRange(bounds)) found.push(toDocument(entry as Entry<string>));
  return found;
}

interface Newest {
  readonly prefix: string;
  readonly version: StoredVersion;
}

/** The newest version of each definition: versions of one lie together, the oldest first. */
function newestIn({ definitions }: Databases, { from, to }: KeyRange): Newest[] {
  const end = to === null ? {} : { end: Buffer.from(to, "hex") };
  const found: Newest[] = [];
  for (const entry of definitions.getRange({ start: Buffer.from(from, "hex"), ...end, versions: true })) {
    const prefix = entry.key.toString("hex", 0, PREFIX_DIGITS / 2);
    if (found.at(-1)?.prefix === prefix) found.pop();
    found.push({ prefix, version: toDefinition(entry as Entry<Buffer>) });
  }
  return found;
}

/** Of a damaged version only an identity is believed that belongs to its key. */
function storedJob(document: DocumentEntry | null, newest: Newest | null): StoredJob {
  const version = newest === null ? null : newest.version;
  const isDefinitionIntact = version === null || version.isIntact;
  const isKnown = version !== null && (isDefinitionIntact || prefixOf(version.identity) === newest?.prefix);
  const identity = isKnown ? version.identity : null;
  return {
    key: document?.key ?? (identity === null ? "" : documentKey(identity)),
    documentText: document?.text ?? null,
    isDocumentIntact: document?.isIntact ?? true,
    identity,
    definitionText: isDefinitionIntact ? (version?.text ?? null) : null,
    isDefinitionIntact,
  };
}

function prefixOf(identity: string): string {
  return identityPrefix(identity).toString("hex");
}
