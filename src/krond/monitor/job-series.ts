/** The gauges of single jobs, for those that the operator has asked for: thousands of series are nobody's default. */
import type { JobStatus, Supervisor } from "../../actors/supervisor/port.js";
import { turnOfLoop } from "../../actors/turns.js";
import type { IdentityFilter } from "../../core/job/identity-glob.js";
import { storedDefinition } from "../../core/job/stored.js";
import { expectedBy } from "../../core/restart/glance.js";
import { isSuccess } from "../../core/state/ending.js";
import { endingOf, isRun } from "../../core/state/past-runs.js";
import { type EpochMs, instantOrNull } from "../../core/time/instant.js";
import { documentOf } from "../../operations/records/why.js";
import type { StateReader } from "../../persist/store.js";
import { exitCodeOf } from "../state/exit-code.js";
import type { LastRun } from "./job-gauges.js";
import { DAEMON_METRIC_LIMITS, type DaemonMetrics } from "./metrics.js";

/** Identities, before everything else has its turn. */
const LOOKED_AT_PER_TURN = 4_096;

export class JobSeries {
  #identities: readonly string[] = [];
  readonly #isWanted: IdentityFilter;
  readonly #metrics: DaemonMetrics;

  constructor(isWanted: IdentityFilter, metrics: DaemonMetrics) {
    this.#isWanted = isWanted;
    this.#metrics = metrics;
  }

  /** The jobs in force, after a start or a reload. What they last did is on record. */
  async jobsAre(identities: Iterable<string>, reader: StateReader): Promise<void> {
    const known = new Set(this.#identities);
    const wanted: string[] = [];
    let seen = 0;
    for (const identity of identities) {
      if (++seen % LOOKED_AT_PER_TURN === 0) await turnOfLoop();
      if (this.#isWanted(identity) && wanted.length < DAEMON_METRIC_LIMITS.jobs) wanted.push(identity);
    }
    this.#identities = wanted;
    // Of several nodes another one has them by now.
    const ours = new Set(wanted);
    for (const identity of known) if (!ours.has(identity)) this.#metrics.forget(identity);
    for (const identity of wanted) {
      if (known.has(identity)) continue;
      this.#metrics.known(identity);
      const at = await lastSuccessAt(reader, identity);
      if (at !== null) this.#metrics.lastSuccess(identity, at);
    }
  }

  /** Before they are read. */
  async collect(lister: Pick<Supervisor, "list">, now: EpochMs): Promise<void> {
    if (this.#identities.length === 0) return;
    for (const row of await lister.list({ identities: this.#identities })) {
      this.#metrics.nextRun(row.identity, nextRunAt(row, now));
      this.#metrics.lastRun(row.identity, lastRunOf(row), row.failures);
    }
  }
}

/** S24: what is due and not started yet is being started, or tried again: now. */
function nextRunAt({ standing, nextChosenTime }: JobStatus, now: EpochMs): EpochMs | null {
  const nextAt = standing === "suspended" || standing === "removed" ? null : instantOrNull(nextChosenTime);
  return nextAt === null ? null : Math.max(nextAt, now);
}

function lastRunOf({ lastRun }: JobStatus): LastRun | null {
  const endedAt = instantOrNull(lastRun?.endedAt);
  return lastRun === null || endedAt === null ? null : { endedAt, exitCode: exitCodeOf(lastRun.ending) };
}

async function lastSuccessAt(reader: StateReader, identity: string): Promise<EpochMs | null> {
  const document = await documentOf(reader, identity);
  if (document === null) return null;
  const text = (await reader.newestVersion(identity))?.text ?? null;
  const definition = text === null ? null : storedDefinition(text);
  if (definition === null) return null;
  const isExpected = expectedBy(definition);
  const last = document.History.findLast((entry) => isRun(entry) && isSuccess(endingOf(entry, isExpected)));
  return instantOrNull(last?.CompletedAt);
}
