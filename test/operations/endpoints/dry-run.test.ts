/** A change that is only asked about: judged and answered as in earnest, and nothing of it is done. Of all operations there are. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { answerAsked } from "../../../src/operations/answer.js";
import { type Operation, OperationError } from "../../../src/operations/operation.js";
import { OPERATIONS } from "../../../src/operations/registry.js";
import { Desk } from "./desk.js";

const ALL = OPERATIONS as unknown as readonly Operation[];
const WRITING = ALL.filter(({ access, http }) => access !== "read" && http.method !== "GET");

/** What changes something and cannot be asked about, and why not. */
const IN_EARNEST_ALONE: Readonly<Record<string, string>> = {
  run: "its answer is the run that it begins",
  cancel: "its answer is how many runs it has ended",
  "endpoints.run": "its answer is the run that it begins",
  reload: "that question is `plan`",
  stop: "whoever asks it cannot be answered afterwards",
  login_link: "it makes a code that opens the page, and nothing else",
  "claims.take": "what is given out is the worker's",
  "claims.complete": "a worker's word on what has happened already",
  "planner.try": "it changes nothing by itself",
};

const HOUR_MS = 3_600_000;
const SOON = "2026-03-01T06:00:00Z";

/** What only that which was done can have. */
const KNOWN_AFTERWARDS: Readonly<Record<string, readonly string[]>> = {
  "keys.create": ["id", "key"],
  "keys.rotate": ["id", "key"],
  "jobs.create": ["id"],
  "endpoints.create": ["id", "nextRunAt", "nextSource"],
  "endpoints.upsert": ["nextRunAt"],
  "endpoints.pause_many": ["changed"],
  "endpoints.resume_many": ["changed"],
  "endpoints.hint_many": ["changed"],
  "endpoints.clear_hints_many": ["changed"],
};

type Fields = Readonly<Record<string, unknown>>;
interface Place {
  readonly jobId: string;
  readonly endpointId: string;
  readonly identity: string;
  readonly id: string;
}

const HINT = { intervalMs: 60_000, ttlMinutes: 5 };

/** By operation: what is asked, and what it refuses. */
const ASKED: Readonly<Record<string, readonly [wish: (of: Place) => Fields, wrong: (of: Place) => Fields]>> = {
  pause: [
    ({ identity }) => ({ identity, untilAt: Date.parse(SOON), reason: "x" }),
    ({ identity }) => ({ identity, untilAt: 1, reason: "x" }),
  ],
  resume: [({ identity }) => ({ identity }), () => ({ identity: "nobody" })],
  hint: [
    ({ identity }) => ({ identity, intervalMs: 60_000, nextRunAt: null, ttlMs: HOUR_MS, reason: "" }),
    ({ identity }) => ({ identity, intervalMs: 0, nextRunAt: null, ttlMs: HOUR_MS, reason: "" }),
  ],
  unhint: [({ identity }) => ({ identity }), () => ({ identity: "nobody" })],
  "keys.create": [() => ({ scope: "read", tenant: "acme", name: "made" }), () => ({ scope: "read", expiresAt: 1 })],
  "keys.rotate": [({ id }) => ({ id }), () => ({ id: "aaaaaaaa" })],
  "keys.revoke": [({ id }) => ({ id }), () => ({ id: "aaaaaaaa" })],
  "jobs.create": [() => ({ name: "another" }), () => ({ name: "sync" })],
  "jobs.update": [
    ({ jobId }) => ({ jobId, name: "changed", notify: [{ url: "https://hooks.test/told" }] }),
    ({ jobId }) => ({ jobId, notify: [{ url: "http://10.0.0.1/" }] }),
  ],
  "jobs.pause": [({ jobId }) => ({ jobId }), () => ({ jobId: `job_${"9".repeat(16)}` })],
  "jobs.resume": [({ jobId }) => ({ jobId }), () => ({ jobId: `job_${"9".repeat(16)}` })],
  "jobs.archive": [({ jobId }) => ({ jobId }), () => ({ jobId: `job_${"9".repeat(16)}` })],
  "jobs.delete": [({ jobId }) => ({ jobId, force: true }), ({ jobId }) => ({ jobId })],
  "endpoints.create": [
    ({ jobId }) => ({ jobId, name: "new", url: "https://hooks.test/new", baselineIntervalMs: 60_000 }),
    ({ jobId }) => ({ jobId, name: "users", url: "https://hooks.test/new", baselineIntervalMs: 60_000 }),
  ],
  "endpoints.upsert": [
    ({ jobId }) => ({ jobId, name: "users", url: "https://hooks.test/new", baselineIntervalMs: 60_000 }),
    ({ jobId }) => ({ jobId, name: "users", url: "https://hooks.test/new", ifMatch: 99, baselineIntervalMs: 60_000 }),
  ],
  "endpoints.update": [
    ({ endpointId }) => ({ endpointId, timeoutMs: 5_000 }),
    ({ endpointId }) => ({ endpointId, baselineCron: "* * * * *" }),
  ],
  "endpoints.delete": [({ endpointId }) => ({ endpointId }), ({ endpointId }) => ({ endpointId, ifMatch: 99 })],
  "endpoints.pause": [
    ({ endpointId }) => ({ endpointId, pausedUntil: SOON, reason: "x" }),
    ({ endpointId }) => ({ endpointId, pausedUntil: "2001-01-01T00:00:00Z" }),
  ],
  "endpoints.resume": [({ endpointId }) => ({ endpointId }), () => ({ endpointId: `ep_${"9".repeat(16)}` })],
  "endpoints.hint_interval": [
    ({ endpointId }) => ({ endpointId, ...HINT }),
    ({ endpointId }) => ({ endpointId, ...HINT, intervalMs: 0 }),
  ],
  "endpoints.hint_oneshot": [
    ({ endpointId }) => ({ endpointId, nextRunAt: SOON }),
    ({ endpointId }) => ({ endpointId, nextRunAt: "2099-01-01T00:00:00Z" }),
  ],
  "endpoints.clear_hints": [({ endpointId }) => ({ endpointId }), () => ({ endpointId: `ep_${"9".repeat(16)}` })],
  "endpoints.pause_many": [
    ({ jobId }) => ({ jobId, pausedUntil: SOON }),
    ({ jobId }) => ({ jobId, pausedUntil: "2001-01-01T00:00:00Z" }),
  ],
  "endpoints.resume_many": [({ jobId }) => ({ jobId }), () => ({})],
  "endpoints.hint_many": [({ jobId }) => ({ jobId, ...HINT }), ({ jobId }) => ({ jobId, ...HINT, intervalMs: 0 })],
  "endpoints.clear_hints_many": [({ jobId }) => ({ jobId }), () => ({})],
  "limits.set": [() => ({ tenant: "acme", endpoints: 10 }), () => ({ tenant: "NOBODY" })],
};

function named(name: string): Operation {
  const found = ALL.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

async function opened() {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId);
  const ask = async (name: string, fields: Fields): Promise<Fields | null> => {
    const operation = named(name);
    const read = operation.input.safeParse(fields);
    if (!read.success) throw new OperationError("bad-request", read.error.message);
    const caller = { tenant: "acme", keyId: null, scope: "admin" } as const;
    return (await answerAsked({ operation, input: read.data }, desk.ports, caller)) as Fields | null;
  };
  const { id } = (await ask("keys.create", { scope: "read", tenant: "acme" })) as { readonly id: string };
  const place = { jobId, endpointId, identity: `endpoint:acme/${jobId}/${endpointId}`, id };
  await desk.world.settle();
  const { disk } = desk.world;
  const onRecord = (): unknown => [[...disk.documents], [...disk.objects], [...disk.notes]];
  return { ask, place, onRecord, desk };
}

async function refusalOf(asking: Promise<unknown>): Promise<unknown> {
  const error: unknown = await asking.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OperationError)) throw new Error(`it was not refused: ${String(error)}`);
  return [error.kind, error.message, error.problems];
}

test("every operation that changes something can be asked about, or there is a reason why not", () => {
  const takes = (operation: Operation): boolean =>
    operation.input.safeParse({ dryRun: 7 }).error?.issues.some(({ path }) => path[0] === "dryRun") === true;
  const without = WRITING.filter((operation) => !takes(operation)).map(({ name }) => name);
  expect(without.sort()).toEqual(Object.keys(IN_EARNEST_ALONE).sort());
  const asked = WRITING.filter(takes).map(({ name }) => name);
  expect(Object.keys(ASKED).sort()).toEqual(asked.sort());
});

describe.each(Object.entries(ASKED))("%s", (name, [wish, wrong]) => {
  test("as a question changes nothing, and is answered as in earnest", async () => {
    const { ask, place, onRecord, desk } = await opened();
    const before = onRecord();
    const question = await ask(name, { ...wish(place), dryRun: true });
    await desk.world.settle();
    expect(onRecord()).toEqual(before);
    expect(question).toHaveProperty("dryRun", true);
    const answer = await ask(name, wish(place));
    expect(answer ?? {}).not.toHaveProperty("dryRun");
    expect(Object.keys(question ?? {}).sort()).toEqual([...Object.keys(answer ?? {}), "dryRun"].sort());
    const other = Object.entries(answer ?? {}).filter(([field, value]) => !isDeepStrictEqual(value, question?.[field]));
    expect(other.map(([field]) => field).sort()).toEqual(KNOWN_AFTERWARDS[name] ?? []);
    expect(named(name).output.safeParse(question).error?.issues ?? []).toEqual([]);
  });

  test("as a question is refused as in earnest", async () => {
    const { ask, place } = await opened();
    const question = await refusalOf(ask(name, { ...wrong(place), dryRun: true }));
    expect(question).toEqual(await refusalOf(ask(name, wrong(place))));
  });
});
