/**
 * Everything a store holds of its jobs, a stretch of keys at a time: documents and definitions lie in the same order, so
 * that one pass over both brings together what belongs to a job.
 */
import type { StoredJob } from "../../core/restart/resting.js";
import type { KeyRange } from "../key-range.js";
import type { DocumentEntry, StoredVersion } from "../store.js";
import { storedJob } from "../stored-job.js";
import { type Entry, toDefinition, toDocument } from "./entries.js";
import type { Databases } from "./environment.js";

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
      jobs.push(undocumented(newest[next] as Newest));
    }
    const mine = newest[next]?.prefix === prefix ? (newest[next] as Newest) : null;
    if (mine !== null) next += 1;
    jobs.push(storedJob(document, mine?.version ?? null, prefix));
  }
  for (; next < newest.length; next++) jobs.push(undocumented(newest[next] as Newest));
  return jobs;
}

function undocumented({ version, prefix }: Newest): StoredJob {
  return storedJob(null, version, prefix);
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
