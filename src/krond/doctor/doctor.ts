/** Everything that the doctor looks at, one after the other, so that no measurement disturbs another. */
import { KronError } from "../../core/base/errors/kron-error.js";
import { messageOf } from "../../core/base/errors/message.js";
import { unwrap } from "../../core/base/result.js";
import type { StorePlace } from "../../persist/backends.js";
import { judgeClock, judgeHost, judgePlace, judgeServer, judgeSpawn, judgeSync, judgeTimers } from "./judge.js";
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

interface DoctorOptions {
  readonly stateDirectory: string;
  readonly store: StorePlace;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function* examine({ stateDirectory, store, env }: DoctorOptions): AsyncGenerator<Finding> {
  const directory = existing(stateDirectory);
  yield await attempt("host", () => judgeHost(lookAtHost(env)));
  yield await attempt("state", () => judgePlace({ ...lookAtPlace(directory), directory: stateDirectory }));
  yield await attempt("fsync", () => judgeSync(measureSync(directory)));
  const { probe } = store.backend;
  if (probe !== null) yield await attempt("store", async () => judgeServer(unwrap(await probe())));
  yield await attempt("clock", async () => judgeClock(await measureClock()));
  yield await attempt("timer", async () => judgeTimers(await measureTimers()));
  yield await attempt("spawn", async () => judgeSpawn(await measureSpawn()));
}

/** What cannot be measured is a finding too: the daemon would meet it as well. */
async function attempt(check: string, look: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    const message = messageOf(error);
    const usual = "the daemon would meet this too: run the doctor as the daemon's user, on its state directory";
    const advice = (error instanceof KronError ? error.hint : undefined) ?? usual;
    return { check, verdict: "bad", message: `cannot be measured: ${message}`, advice, figures: {} };
  }
}
