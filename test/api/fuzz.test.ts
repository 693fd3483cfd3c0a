/** R12: whatever is sent to whatever route, it is answered, refused in words, or cut off: nothing goes wrong in here. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoreForecast } from "../../src/actors/pool/types.js";
import { routeOf } from "../../src/api/http/routes.js";
import { MINUTE_MS } from "../../src/core/time/instant.js";
import { Forecasts } from "../../src/operations/forecast/forecasts.js";
import type { Operation } from "../../src/operations/operation.js";
import { OPERATIONS } from "../../src/operations/registry.js";
import { job } from "../actors/supervisor/world.js";
import type { Desk } from "../operations/endpoints/desk.js";
import { FUZZ, IS_LONG } from "../support/fuzz.js";
import { apiOf, deskApi } from "./support/desk-api.js";
import { type Sample, samples } from "./support/routes.js";

const IDENTITY = "t/good";
const PER_ROUTE = IS_LONG ? 2_000 : 60;
const PLAN = { plan: { added: [], removed: [], changed: [], unchanged: 0 }, kept: [], problems: [] };

const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    ...[0, -1, -0, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 31, 8.64e15 + 1, 5e-324],
    ...["", " ", "\u0000", "\ud800", "é", "💥", "null", "*", "../..", "%00", "__proto__", "constructor", "toString"],
    ...["9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-03-01T00:00:00+99:99", "1e3"],
    ...["* * * * *", "L * * * *", "http://[", "http://a@b", "javascript:alert(1)", "x".repeat(10_000)],
    ...[null, true, [], {}, [[]], { constructor: { prototype: 1 } }, Array(300).fill("x")],
  ),
);

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  nasty.map((value) => (typeof value === "string" ? value : JSON.stringify(value))),
);

/** It, and what is in it: rules of who is told, such as they are, have fields of their own. */
function objectsIn(value: object): readonly object[] {
  const inner = Object.values(value).filter((field): field is object => typeof field === "object" && field !== null);
  return [value, ...inner.flatMap(objectsIn)];
}

/** What a job file may say of when a job is due, in the words of an endpoint. */
const SCHEDULES = [
  ...["@every 5s", "@every 1ms", "@every", "@at 2026-12-01T03:00", "@at 2020-01-01T03:00Z", "@reboot", "@REBOOT"],
  ...["@hourly", "@yearly", "@midnight", "0 0 30 2 *", "* * * * * *", "0 3 * * 1-5", "H * * * *", "90s"],
];
/** Mostly what goes with any of them: who is refused for something else says nothing about it. */
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const paced = fc.record({
  baselineCron: fc.constantFrom(...SCHEDULES),
  baselineIntervalMs: fc.constant(null),
  minIntervalMs: fc.constantFrom(null, 60_000),
  timezone: mostly("UTC", "Europe/Berlin", "Nowhere/Land", "local"),
  windowMs: mostly(0, 1_000, 86_400_000),
  retry: mostly<object | null>(null, { limit: 2, backoffMs: 1_000 }),
});

/** What is sent instead of a body that would do. */
function bodies(good: object): fc.Arbitrary<unknown> {
  const names = (of: object) => fc.oneof(fc.constantFrom("x", ...Object.keys(of)), text);
  const change = fc.nat(objectsIn(good).length - 1).chain((at) => {
    return fc.tuple(fc.constant(at), names(objectsIn(good)[at] ?? good), nasty);
  });
  // What lies within what was replaced is changed in vain.
  const changed = fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const copy = JSON.parse(JSON.stringify(good)) as object;
    const places = objectsIn(copy);
    for (const [at, name, value] of changes) Object.assign(places[at] ?? copy, Object.fromEntries([[name, value]]));
    return copy;
  });
  const bytes = fc.uint8Array({ maxLength: 200 }).map((list) => Buffer.from(list));
  const cut = fc.nat(200).map((at) => Buffer.from(JSON.stringify(good).slice(0, at)));
  const isEndpoint = "url" in good || "description" in good;
  // A name that is taken would be all that is wrong with it.
  const named = fc.uuid().map((name) => ("url" in good && "name" in good ? { name } : {}));
  const scheduled = fc.tuple(fc.constant(good), paced, named).map((parts) => Object.assign({}, ...parts));
  return fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: isEndpoint ? 6 : 0, arbitrary: scheduled },
    ...[nasty, bytes, cut].map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

/** What a pool would have worked out, of no jobs. */
function noStarts(buckets: number): StoreForecast {
  const none = { counts: new Array(buckets).fill(0), total: 0, who: [] };
  return { jobs: 0, suspended: 0, unschedulable: 0, chosen: none, nominal: none } as unknown as StoreForecast;
}

/** Some requests wait for what becomes due. */
async function whileTimePasses<T>(desk: Desk, pending: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  pending.then(over, over);
  for (let turns = 1; !isOver; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turns % 300 === 0) await desk.world.pass(MINUTE_MS, MINUTE_MS);
  }
  return pending;
}

interface Shot {
  readonly path: string;
  readonly body: unknown;
}

function shots(operation: Operation, path: string, good: object): fc.Arbitrary<Shot> {
  const { inQuery, inBody } = routeOf(operation);
  const [place = "", query = ""] = path.split("?");
  const names = fc.oneof(fc.constantFrom("cursor", "limit", ...inQuery), text);
  const encoded = (value: string): string => encodeURIComponent(value.replaceAll(/\p{Cs}/gu, "�"));
  const parameter = fc.tuple(names, text).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  const queries = fc.oneof(
    fc.constant(query),
    fc.array(parameter, { minLength: 1, maxLength: 3 }).map((all) => all.join("&")),
  );
  const steps = place.split("/").slice(1);
  const paths = fc.oneof(
    { weight: 4, arbitrary: fc.constant(place) },
    fc.tuple(fc.nat(steps.length - 1), text).map(([at, step]) => `/${steps.with(at, encoded(step)).join("/")}`),
  );
  const sent = inBody.size === 0 ? fc.constant(undefined) : bodies(good);
  return fc.record({
    path: fc.tuple(paths, queries).map(([one, other]) => (other === "" ? one : `${one}?${other}`)),
    body: sent,
  });
}

/** The address of the samples is a private one, where nobody may send to here: with it everything would be refused for that. */
function goodOf({ body }: Sample): object {
  const good = (body ?? {}) as object;
  return "url" in good ? { ...good, url: "https://hooks.test/users" } : good;
}

test("no request to any route goes wrong in here", { timeout: 3_600_000 }, async () => {
  const { desk } = await deskApi({ configured: [job(IDENTITY, "* * * * *")] });
  const rate = { perSecond: 1e9, burst: 1e9 };
  const forecasts = new Forecasts({ forecast: async (_, { buckets }) => noStarts(buckets) }, desk.ports.reader);
  const instead = { reload: async () => PLAN, plan: async () => PLAN, forecasts };
  const api = await apiOf(desk, rate, instead);
  const host = (await api.key({ tenant: null, scope: "admin" })).key;
  const tenant = (await api.key({ scope: "admin" })).key;
  const other = await desk.job("theirs", "other");
  const statuses = new Map<number, number>();
  const job_ = await desk.job();
  const endpoint = await desk.endpoint(job_.id);
  const runId = `run_${job_.id.slice(4)}_${endpoint.id.slice(3)}_0_cron`;
  const keyId = (await api.key({})).id;
  // What takes things out comes last of its kind, and only what is not there is stopped.
  for (const row of samples({ jobId: job_.id, endpointId: endpoint.id, runId, keyId }, IDENTITY)) {
    const operation = OPERATIONS.find(({ name }) => name === row.op) as unknown as Operation;
    const key = operation.of === "host" ? host : tenant;
    await fc.assert(
      fc.asyncProperty(shots(operation, row.path, goodOf(row)), async ({ path, body }) => {
        const reply = await whileTimePasses(desk, api.send(row.method, `/api/v1${path}`, { key, body }));
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        expect([row.op, reply.status < 500, api.reported.splice(0)]).toEqual([row.op, true, []]);
        if (reply.status < 400) return;
        expect(reply.headers["content-type"]).toBe("application/problem+json");
        expect([reply.body.status, typeof reply.body.code]).toEqual([reply.status, "string"]);
      }),
      { ...FUZZ, numRuns: PER_ROUTE },
    );
    await desk.world.settle();
  }
  expect([desk.world.fatal, desk.failures]).toEqual([null, []]);
  const left = await api.send("GET", "/api/v1/jobs", { key: (await api.key({ tenant: "other" })).key });
  expect(left.body.rows).toEqual([other]);
  // Both ends of it were met: what is refused, and what is done.
  const done = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0);
  const refused = statuses.get(400) ?? 0;
  expect([done > PER_ROUTE, refused > PER_ROUTE]).toEqual([true, true]);
});
