/** What a server takes for the two things that a daemon asks of it. Nothing that is there is changed. */
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
import { Connection } from "./connection.js";
import type { PostgresPlace, ServerSample } from "./place.js";
import { checkForWriting, lookAtServer, schemaVersion } from "./server.js";
import { storeRefusal } from "./trouble.js";

const ROUNDS = 100;
const ANSWER_WITHIN_MS = 15_000;
/** A line in the server's journal that means nothing to anybody: its disk has to confirm it all the same. */
const COMMIT = "select pg_logical_emit_message(true, 'krond doctor', '')";

async function timed(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const fromMs = performance.now();
    await work();
    times.push(performance.now() - fromMs);
  }
  return times;
}

/** What its clock says. */
export async function serverTime(place: PostgresPlace): Promise<Result<EpochMs, KronError>> {
  const connection = new Connection(place, ANSWER_WITHIN_MS);
  try {
    const text = "select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms";
    const [row] = await connection.rows<{ now_ms: number }>(text);
    if (row === undefined) throw new Error("the server does not say what time it is");
    return ok(Math.floor(row.now_ms));
  } catch (error) {
    return err(storeRefusal(error, place.address, "probe"));
  } finally {
    await connection.close();
  }
}

/** What a start would be refused for is an error here too. */
export async function probeServer(place: PostgresPlace): Promise<Result<ServerSample, KronError>> {
  const connection = new Connection(place, ANSWER_WITHIN_MS);
  try {
    const facts = await lookAtServer(connection);
    const suitable = checkForWriting(facts);
    if (!suitable.ok) return suitable;
    const version = await schemaVersion(connection);
    if (!version.ok) return version;
    const answersMs = await timed(() => connection.rows("select 1"));
    const commitsMs = await timed(() => connection.rows(COMMIT));
    const [major, minor] = [Math.floor(facts.version / 10_000), facts.version % 10_000];
    return ok({ version: `${major}.${minor}`, isSynced: facts.fsync === "on", answersMs, commitsMs });
  } catch (error) {
    return err(storeRefusal(error, place.address, "probe"));
  } finally {
    await connection.close();
  }
}
