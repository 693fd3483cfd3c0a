/** The past runs of a job, of the daemon or of what the last one left behind: how long they took, when the last began. */
import type { PastRuns } from "../../core/forecast/forecaster.js";
import { type EpochMs, parseInstant } from "../../core/time/instant.js";
import { ControlClient, ControlError } from "../../krond/control/client.js";
import { socketPathIn } from "../../krond/state/directory.js";
import { type HistoryRow, readHistory } from "../../krond/state/history.js";
import { readStore } from "../daemon.js";
import { CliError, EXIT } from "../exit.js";

/** Past runs that are looked at. */
const PAST_RUNS = 20;

export type PastByJob = ReadonlyMap<string, PastRuns>;

/** Jobs that never ran are left out. */
export async function pastRuns(directory: string, identities: readonly string[]): Promise<PastByJob> {
  const client = await ControlClient.connect(socketPathIn(directory));
  if (client === null) {
    return readStore(directory, (reader) => collect(identities, (request) => readHistory(reader, request)));
  }
  try {
    return await collect(identities, async (request) => {
      return (await client.ask({ op: "history", ...request }).catch(unknownJob)) as readonly HistoryRow[] | null;
    });
  } catch (error) {
    throw error instanceof ControlError ? new CliError(EXIT.fatal, error.message) : error;
  } finally {
    client.close();
  }
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
    const at = parseInstant(started_at ?? "");
    return at.ok ? [at.value] : [];
  });
  return starts.length === 0 ? null : Math.max(...starts);
}

/** null when no run on record has both a beginning and an end. */
export function meanMs(rows: readonly HistoryRow[]): number | null {
  const lengths = rows.flatMap(({ started_at, ended_at }) => {
    const [start, end] = [parseInstant(started_at ?? ""), parseInstant(ended_at ?? "")];
    return start.ok && end.ok && end.value >= start.value ? [end.value - start.value] : [];
  });
  return lengths.length === 0 ? null : lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
}
