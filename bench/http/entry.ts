/** What the benchmark of requests needs of Kron, bundled where it runs: the supervisor, its store and its dispatcher. */
import { type Clock, systemClock } from "../../src/actors/clock.js";
import { createDispatcher } from "../../src/actors/dispatcher/http-dispatcher.js";
import { HealthBook } from "../../src/actors/endpoints/health-book.js";
import { QuotaBook } from "../../src/actors/endpoints/quota-book.js";
import { QuotaRunner } from "../../src/actors/endpoints/quota-runner.js";
import type { Runner, RunnerOf } from "../../src/actors/runner/port.js";
import { createSupervisor } from "../../src/actors/supervisor/supervisor-actor.js";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { endpointIdentity } from "../../src/core/endpoint/endpoint-name.js";
import { definitionOf as definitionOfEndpoint, ENDPOINT_SPEC } from "../../src/core/endpoint/spec.js";
import type { JobDefinition } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import { copiesIn } from "../../src/persist/corrupt-copies.js";
import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import type { ObjectWrite } from "../../src/persist/store.js";

export interface Bench {
  readonly supervisor: ReturnType<typeof createSupervisor>;
  /** Runs that ended so far, as they became durable. */
  readonly ended: { count: number; failed: number };
  /** Endpoints with this interval; their identities. */
  defineEndpoints(count: number, intervalMs: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const SETTINGS = {
  ...SETTINGS_DEFAULTS,
  http: { ...SETTINGS_DEFAULTS.http, allowPrivate: true },
};

/** `raw`: when it runs. */
function definitionOf(raw: object, url: string): JobDefinition {
  const read = readJobDefinition({
    policy: { deadline: "30s", concurrency: "forbid" },
    ...raw,
    http: { url, method: "POST", body: '{"from":"bench"}' },
  });
  if (!read.ok) throw new Error(`invariant broken: ${read.error[0]?.message}`);
  return read.value;
}

const ID_DIGITS = 16;
const TENANT = "bench";
const DEFINED_AT_ONCE = 64;

function endpointAt(index: number, intervalMs: number, url: string): JobDefinition {
  const number = index.toString(36).padStart(ID_DIGITS, "0");
  const identity = endpointIdentity({
    tenant: TENANT,
    jobId: `job_${"0".repeat(ID_DIGITS)}`,
    endpointId: `ep_${number}`,
  });
  const about = { name: `endpoint-${index}`, url, method: "POST", body: '{"from":"bench"}' };
  const spec = ENDPOINT_SPEC.parse({ ...about, baselineIntervalMs: intervalMs });
  const read = definitionOfEndpoint(spec, { identity, isHeld: false });
  if (!read.ok) throw new Error(`invariant broken: ${read.error[0]?.message}`);
  return read.value;
}

/** A clock on which the next minute begins in `inMs`: nobody waits for the real one. */
export function clockBefore(inMs: number): Clock {
  const offsetMs = MINUTE_MS - inMs - (Date.now() % MINUTE_MS);
  return { ...systemClock, now: () => systemClock.now() + offsetMs };
}

export { systemClock };

export async function startBench(
  directory: string,
  clock: Clock,
  { jobs, url }: { readonly jobs: readonly object[]; readonly url: string },
): Promise<Bench> {
  const lock = acquireDirectoryLock(directory);
  if (!lock.ok) throw lock.error;
  const store = await openLmdbStore(lock.value);
  if (!store.ok) throw store.error;
  const ended = { count: 0, failed: 0 };
  let attempts = 0;
  const dispatcher = createDispatcher({ clock, env: {} });
  // What the daemon keeps of endpoints beside their runs: what tenants have used, and how each has been doing.
  const write = async (objects: readonly ObjectWrite[]): Promise<void> => {
    await store.value.commit(lock.value, { objects });
  };
  const onFailure = (error: unknown): void => {
    throw error;
  };
  const books = { clock, reader: store.value, write, onFailure };
  const [health, quotas] = [new HealthBook(books), new QuotaBook(books)];
  const supervisor = createSupervisor({
    clock,
    store: store.value,
    term: lock.value,
    // Nothing here is a process: the dispatcher is asked for everything.
    runner: new QuotaRunner(dispatcher as RunnerOf<never> as Runner, quotas),
    copies: copiesIn(directory),
    bootId: "bench",
    versions: { tzVersion: "bench", engineVersion: "bench" },
    outputDirectory: directory,
    baseEnv: {},
    newId: () => `bench-${String(++attempts).padStart(9, "0")}`,
    onRunEnded: (identity, ending, at) => health.ended(identity, ending, at),
    onEvent: ({ event, fields }) => {
      if (event !== "completed") return;
      ended.count += 1;
      if (fields?.["success"] !== true) ended.failed += 1;
    },
  });
  await supervisor.start(
    jobs.map((raw) => definitionOf(raw, url)),
    SETTINGS,
  );
  const defineEndpoints = async (count: number, intervalMs: number): Promise<readonly string[]> => {
    const identities: string[] = [];
    for (let from = 0; from < count; from += DEFINED_AT_ONCE) {
      const some = Array.from({ length: Math.min(DEFINED_AT_ONCE, count - from) }, (_, at) =>
        endpointAt(from + at, intervalMs, url),
      );
      await Promise.all(some.map((definition) => supervisor.define(definition, [])));
      identities.push(...some.map(({ identity }) => identity));
    }
    return identities;
  };
  const close = async (): Promise<void> => {
    await supervisor.stop({ graceful: false });
    await dispatcher.close();
    await health.close();
    await quotas.close();
    await store.value.close();
    lock.value.release();
  };
  return { supervisor, ended, defineEndpoints, close };
}
