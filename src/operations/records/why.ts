/** Gathers from a store what `whyPeriod` needs: for the daemon, and for commands while no daemon runs. */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Problem } from "../../core/base/problem.js";
import type { Settings } from "../../core/config/settings.js";
import { storedDefinition } from "../../core/job/stored.js";
import type { StateDocument } from "../../core/state/document.js";
import { parseDocument } from "../../core/state/parse.js";
import { DAY_MS, type EpochMs } from "../../core/time/instant.js";
import { currentAt } from "../../core/why/current.js";
import type { WhyAnswer, WhySpan, WhyVersion } from "../../core/why/facts.js";
import { whyCurrent, whyPeriod } from "../../core/why/why.js";
import type { UnservedJob } from "../../persist/cluster.js";
import type { StateReader } from "../../persist/store.js";
import { entriesUpTo, isKnown } from "./ledger-view.js";

interface WhyRequest {
  readonly identity: string;
  /** Nominal time; null asks about the period that is tried or current, or about the last run of a job that has none. */
  readonly periodAt: EpochMs | null;
  readonly now: EpochMs;
  readonly ledger: Settings["ledger"];
  /** A daemon is alive, so that the newest span reaches up to `now`. */
  readonly isAlive?: boolean;
  /** It drains, and starts nothing any more. */
  readonly isStopping?: boolean;
  /** Among several nodes: the job, where no node looks after it now; null: one does. Absent: there is one daemon alone. */
  readonly unserved?: UnservedJob | null;
}

/** Records about earlier instants that may say something about this one: pauses, and the gap it belongs to. */
const ENTRIES_LOOKED_AT = 5_000;
/** No window is longer; a pause is read from the records around it. */
const AROUND_MS = 32 * DAY_MS;

/** null for a job that the store does not know. */
export async function readWhy(reader: StateReader, request: WhyRequest): Promise<WhyAnswer | null> {
  const { identity, now, ledger, isStopping = false, unserved } = request;
  const isAlive = request.isAlive !== false && unserved == null;
  if (unserved == null && !(await isKnown(reader, identity))) return null;
  const versions = await versionsOf(reader, identity, unserved ?? null);
  const document = await documentOf(reader, identity);
  const periodAt = request.periodAt ?? currentAt(versions, document, now);
  const latestAt = Math.min(now, periodAt + AROUND_MS);
  const answer = request.periodAt === null ? whyCurrent : whyPeriod;
  return answer({
    identity,
    daemon: isAlive ? (isStopping ? "stopping" : "running") : "none",
    ...(unserved === undefined ? {} : { unserved: unserved?.pool ?? null }),
    nominalAt: periodAt,
    now,
    versions,
    document,
    entries: await entriesUpTo(reader, identity, Math.max(latestAt, periodAt), ENTRIES_LOOKED_AT),
    spans: await spansOf(reader, identity, now, isAlive),
    keptFromAt: now - ledger.maxAgeMs,
  });
}

/** What nobody has looked after yet is wanted since nobody knows when. */
async function versionsOf(
  reader: StateReader,
  identity: string,
  unserved: UnservedJob | null,
): Promise<readonly WhyVersion[]> {
  const versions = (await reader.definitionVersions(identity)).filter(({ isIntact }) => isIntact);
  if (versions.length === 0 && unserved !== null) {
    return [{ definedAt: Number.MIN_SAFE_INTEGER, definition: storedDefinition(unserved.text) }];
  }
  return versions.flatMap(({ definedAt, text }): WhyVersion[] => {
    if (text === null) return [{ definedAt, definition: null }];
    const definition = storedDefinition(text);
    return definition === null ? [] : [{ definedAt, definition }];
  });
}

/**
 * null: there is none, or none that can be read (S32). Rejects with a KronError when it is one that this version cannot use:
 * to go on as if there were none would tell that the job never ran.
 */
export async function documentOf(reader: StateReader, identity: string): Promise<StateDocument | null> {
  const stored = await reader.get(identity);
  if (stored === undefined || !stored.isIntact) return null;
  const parsed = parseDocument(stored.text, stored.key);
  if (parsed.ok) return parsed.value;
  if (parsed.error.code !== "state-incompatible") return null;
  throw incompatible(identity, parsed.error);
}

function incompatible(identity: string, { message }: Problem): KronError {
  const hint = "use the version of Kron that wrote it, or 'krond state export' with that one and import the result";
  const details = { component: "persist", operation: "read", identity, hint } as const;
  return new KronError("state-incompatible", `${identity}: ${message}`, details);
}

/** Marks are written every half minute: where the daemon answers itself, it has been alive up to now. */
async function spansOf(reader: StateReader, identity: string, now: EpochMs, isAlive: boolean): Promise<WhySpan[]> {
  const spans = [...(await reader.aliveSpans(identity, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))];
  const last = spans.pop();
  if (last === undefined) return [];
  return [...spans, isAlive ? { bootedAt: last.bootedAt, at: Math.max(last.at, now) } : last];
}
