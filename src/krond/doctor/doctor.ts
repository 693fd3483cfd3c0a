/** Everything that the doctor looks at, one after the other, so that no measurement disturbs another. */
import { judgeClock, judgeHost, judgePlace, judgeSpawn, judgeSync, judgeTimers } from "./judge.js";
import {
  existing,
  lookAtHost,
  lookAtPlace,
  measureClock,
  measureSpawn,
  measureSync,
  measureTimers,
} from "./measure.js";
import type { Finding } from "./model.js";

export interface DoctorOptions {
  readonly stateDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function* examine({ stateDirectory, env }: DoctorOptions): AsyncGenerator<Finding> {
  const directory = existing(stateDirectory);
  yield await attempt("host", () => judgeHost(lookAtHost(env)));
  yield await attempt("state", () => judgePlace({ ...lookAtPlace(directory), directory: stateDirectory }));
  yield await attempt("fsync", () => judgeSync(measureSync(directory)));
  yield await attempt("clock", async () => judgeClock(await measureClock()));
  yield await attempt("timer", async () => judgeTimers(await measureTimers()));
  yield await attempt("spawn", async () => judgeSpawn(await measureSpawn()));
}

/** What cannot be measured is a finding too: the daemon would meet it as well. */
async function attempt(check: string, look: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const advice = "the daemon would meet this too: run the doctor as the daemon's user, on its state directory";
    return { check, verdict: "bad", message: `cannot be measured: ${message}`, advice, figures: {} };
  }
}
