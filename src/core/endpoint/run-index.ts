/**
 * How runs are found by tenant, by how they ended and by time: the ledger knows them by their endpoint alone. The name of such
 * an entry says where the record lies, and the entry holds nothing else. It is written with the record and goes with it.
 */
import type { EpochMs } from "../time/instant.js";
import { readLedgerEntry } from "../why/records.js";
import { type EndedResult, endedResultOf } from "./ended-run.js";
import { endpointIdentity, endpointName } from "./endpoint-name.js";

/** The last instant that there is: counted back from it, names sort from the newest to the oldest. */
const LAST_INSTANT = 253_402_300_799_999;
const DIGITS = 15;
const KIND = /^run(?::[a-z-]+)?$/;

export interface RunPlace {
  readonly identity: string;
  readonly at: EpochMs;
  /** Of the ledger's record. */
  readonly kind: string;
}

interface LedgerText extends RunPlace {
  readonly text: string;
}

/** What the names of a tenant's runs with this end begin with. */
export function runsOf(tenant: string, status: EndedResult): string {
  return `run/${tenant}/${status}/`;
}

/** Behind it lie those about earlier instants. */
export function runsBefore(tenant: string, status: EndedResult, at: EpochMs): string {
  return `${runsOf(tenant, status)}${countedBack(at - 1)}`;
}

/** The name of the entry that this record has; null: it is not the end of a run of an endpoint. */
export function runIndexKey({ identity, at, kind, text }: LedgerText): string | null {
  const name = endpointName(identity);
  if (name === null || !KIND.test(kind)) return null;
  const entry = readLedgerEntry({ at, kind, text });
  if (entry?.kind !== "run" || entry.ending === null) return null;
  return runKeyAt(name.tenant, endedResultOf(entry.ending), { identity, at, kind });
}

/** null: no run of this tenant can have it. */
export function runKeyAt(tenant: string, status: EndedResult, { identity, at, kind }: RunPlace): string | null {
  const name = endpointName(identity);
  if (name?.tenant !== tenant || !KIND.test(kind)) return null;
  return `${runsOf(tenant, status)}${countedBack(at)}/${name.jobId}/${name.endpointId}/${kind}`;
}

/** Where the record of an entry lies; null: that is not the name of one. */
export function placeOfRun(key: string): RunPlace | null {
  const [run, tenant = "", , back, jobId = "", endpointId = "", kind = ""] = key.split("/");
  const identity = endpointIdentity({ tenant, jobId, endpointId });
  const at = LAST_INSTANT - Number(back);
  return run === "run" && endpointName(identity) !== null && Number.isSafeInteger(at) ? { identity, at, kind } : null;
}

function countedBack(at: EpochMs): string {
  return String(LAST_INSTANT - at).padStart(DIGITS, "0");
}
