/**
 * What a state directory knows of jobs, from the daemon or from what the last one left behind: how long runs took, when the
 * last began, and what holds a job or stands in for its schedule.
 */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { ALL_JOBS } from "../../actors/supervisor/rows/job-query.js";
import type { PastRuns } from "../../core/forecast/forecaster.js";
import { type EpochMs, floorToSecond, instantOrNull } from "../../core/time/instant.js";
import { ControlClient, ControlError } from "../../krond/control/client.js";
import { socketPathIn } from "../../krond/state/directory.js";
import { type HistoryRow, readHistory } from "../../operations/records/history.js";
import { readStore } from "../daemon.js";
import { CliError, EXIT } from "../exit.js";
import { livePages } from "../list/pages.js";

/** Past runs that are looked at. */
const PAST_RUNS = 20;

export type PastByJob = ReadonlyMap<string, PastRuns>;

/** Jobs that never ran, and that nothing is known of otherwise, are left out. */
export async function pastRuns(directory: string, identities: readonly string[], now: EpochMs): Promise<PastByJob> {
  const client = await ControlClient.connect(socketPathIn(directory));
  if (client === null) {
    return readStore(directory, async (reader) => {
      const past = await collect(identities, (request) => readHistory(reader, request));
      const { offlineStatuses } = await import("../../operations/records/offline-status.js");
      const refuse = (error: Error): never => {
        throw error;
      };
      return withStandings(past, offlineStatuses(reader, now, refuse), now);
    });
  }
  try {
    const past = await collect(identities, async (request) => {
      return (await client.ask({ op: "history", ...request }).catch(unknownJob)) as readonly HistoryRow[] | null;
    });
    return await withStandings(past, livePages(client, ALL_JOBS), now);
  } catch (error) {
    throw error instanceof ControlError ? new CliError(EXIT.fatal, error.message) : error;
  } finally {
    client.close();
  }
}

async function withStandings(
  past: ReadonlyMap<string, PastRuns>,
  pages: AsyncIterable<readonly JobStatus[]>,
  now: EpochMs,
): Promise<PastByJob> {
  const all = new Map(past);
  const asOfAt = floorToSecond(now);
  for await (const rows of pages) {
    for (const { identity, hints, pausedUntil, lastRunAt: written } of rows) {
      const { durationMs = null, lastRunAt = null } = past.get(identity) ?? {};
      const standing = { asOfAt, hints, pausedUntilAt: instantOrNull(pausedUntil) };
      all.set(identity, { durationMs, lastRunAt: instantOrNull(written) ?? lastRunAt, standing });
    }
  }
  return all;
}

function unknownJob(error: unknown): null {
  if (error instanceof ControlError && error.kind === "not-found") return null;
  throw error;
}

type AskHistory = (request: {
  readonly identity: string;
  readonly limit: number;
  readonly beforeAt: null;
}) => Promise<readonly HistoryRow[] | null>;

async function collect(identities: readonly string[], ask: AskHistory): Promise<PastByJob> {
  const past = new Map<string, PastRuns>();
  for (const identity of identities) {
    const rows = await ask({ identity, limit: PAST_RUNS, beforeAt: null });
    const runs = { durationMs: meanMs(rows ?? []), lastRunAt: lastRunAt(rows ?? []) };
    if (runs.lastRunAt !== null) past.set(identity, runs);
  }
  return past;
}

/** Of whatever source: intervals count from it. */
function lastRunAt(rows: readonly HistoryRow[]): EpochMs | null {
  const starts = rows.flatMap(({ started_at }) => {
    const at = instantOrNull(started_at);
    return at === null ? [] : [at];
  });
  return starts.length === 0 ? null : Math.max(...starts);
}

/** null when no run on record has both a beginning and an end. */
export function meanMs(rows: readonly HistoryRow[]): number | null {
  const lengths = rows.flatMap(({ started_at, ended_at }) => {
    const [start, end] = [instantOrNull(started_at), instantOrNull(ended_at)];
    return start !== null && end !== null && end >= start ? [end - start] : [];
  });
  return lengths.length === 0 ? null : lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
}
