/** How long runs of a job take: the mean of those on record, of the daemon or of what the last one left behind. */
import { parseInstant } from "../../core/time/instant.js";
import { ControlClient, ControlError } from "../../krond/control/client.js";
import { socketPathIn } from "../../krond/state/directory.js";
import { type HistoryRow, readHistory } from "../../krond/state/history.js";
import { readStore } from "../daemon.js";
import { CliError, EXIT } from "../exit.js";

/** Past runs that are looked at. */
const PAST_RUNS = 20;

export type Durations = ReadonlyMap<string, number>;

/** Jobs without a finished run are left out. */
export async function pastDurations(directory: string, identities: readonly string[]): Promise<Durations> {
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

async function collect(identities: readonly string[], ask: AskHistory): Promise<Durations> {
  const durations = new Map<string, number>();
  for (const identity of identities) {
    const rows = await ask({ identity, limit: PAST_RUNS, beforeAt: null });
    const mean = meanMs(rows ?? []);
    if (mean !== null) durations.set(identity, mean);
  }
  return durations;
}

/** null when no run on record has both a beginning and an end. */
export function meanMs(rows: readonly HistoryRow[]): number | null {
  const lengths = rows.flatMap(({ started_at, ended_at }) => {
    const [start, end] = [parseInstant(started_at ?? ""), parseInstant(ended_at ?? "")];
    return start.ok && end.ok && end.value >= start.value ? [end.value - start.value] : [];
  });
  return lengths.length === 0 ? null : lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
}
