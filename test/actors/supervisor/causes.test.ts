/** S13, S20, S24: what was not started says why: in its document, in the ledger, in the log, and to who asks. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import type { WhyAnswer } from "../../../src/core/why/facts.js";
import { readLedgerEntry } from "../../../src/core/why/records.js";
import { rowsOf } from "../../../src/operations/records/history.js";
import { readWhy } from "../../../src/operations/records/why.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";
import { job, World } from "./world.js";

const NOT_FOUND = { code: "command-not-found", message: "no such file" } as const;

async function why(world: World, identity: string, period: string): Promise<WhyAnswer | null> {
  world.kill();
  const term = requireOk(acquireMemoryLock(world.disk));
  const reader = requireOk(openMemoryStore(term, world.disk));
  const request = { identity, periodAt: at(period), now: world.clock.now(), isAlive: false };
  const answer = await readWhy(reader, { ...request, ledger: SETTINGS_DEFAULTS.ledger });
  term.release();
  return answer;
}

function outcome(world: World, identity: string, period: string): Record<string, unknown> | undefined {
  return world.ledger(identity).find((record) => record.kind === "period" && record.at === at(period))?.content;
}

describe("S24: a start that failed", () => {
  for (const deadline of ["0s", "20s"]) {
    test(`deadline ${deadline}: the period is missed for what stood in the way`, async () => {
      const world = new World({ behaviour: () => ({ refusal: NOT_FOUND }) });
      await world.boot([job("a", "5 * * * *", { policy: { deadline } })]);
      await world.pass(6 * MINUTE_MS);
      const reason = "not_started:command-not-found";
      expect(world.document("a")).toMatchObject({ LastOutcome: "missed", LastReason: reason });
      expect(world.document("a").History).toMatchObject([{ Outcome: "missed", Reason: reason }]);
      const told = world.events.find(({ event }) => event === "missed_deadline");
      expect(told).toMatchObject({ identity: "a", fields: { outcome: "missed", reason } });
      const answer = await why(world, "a", "2026-03-01T00:05:00Z");
      expect(answer).toMatchObject({ kind: "missed", reason });
      expect(answer?.text).toContain(
        "missed: it could not be started: the command does not exist (command-not-found) (recorded at",
      );
    });
  }

  test("S13: also where the next period came first", async () => {
    const world = new World({
      behaviour: () => ({ refusal: { code: "user-unknown", message: "nobody of that name" } }),
    });
    await world.boot([job("a", "* * * * *", { policy: { deadline: "5m" } })]);
    await world.pass(2 * MINUTE_MS + 5 * SECOND_MS);
    expect(outcome(world, "a", "2026-03-01T00:01:00Z")).toMatchObject({
      outcome: "missed",
      reason: "not_started:user-unknown",
    });
    const answer = await why(world, "a", "2026-03-01T00:01:00Z");
    expect(answer?.text).toContain("missed: it could not be started: ");
    expect(answer?.text).toContain("(user-unknown)");
  });
});

describe("S24: a period that is tried again", () => {
  const REASON = "not_started:command-not-found";
  const patient = (): JobDefinition => job("a", "5 * * * *", { policy: { deadline: "10m" } });

  async function tried(): Promise<World> {
    const world = new World({ behaviour: () => ({ refusal: NOT_FOUND }) });
    await world.boot([patient()]);
    await world.pass(6 * MINUTE_MS);
    return world;
  }

  const noted = (world: World) => world.events.filter(({ event }) => event === "not_started");

  test("is told while it is tried: once, in the status, to who looks for failures, and in the log", async () => {
    const world = await tried();
    const startFailure = { source: "cron", slot: "2026-03-01T00:05:00Z", reason: REASON };
    expect((await world.supervisor.list())[0]).toMatchObject({ startFailure, lastOutcome: null });
    const filter = { identities: [], standings: [], tags: [], isFailing: true };
    const order = { sort: "name", isReversed: false } as const;
    const found = await world.supervisor.find({ filter, order, from: { offset: 0 }, limit: 5 });
    expect(found.rows.map(({ identity }) => identity)).toEqual(["a"]);
    expect(noted(world)).toMatchObject([{ identity: "a", fields: { source: "cron", reason: REASON } }]);
    expect(world.ledger("a").filter(({ kind }) => kind === "start_failed:cron")).toHaveLength(1);
    const answer = await why(world, "a", "2026-03-01T00:05:00Z");
    expect(answer).toMatchObject({ kind: "waiting", reason: "no_daemon" });
    expect(answer?.text).toContain("cannot be started: since 2026-03-01T00:05:00Z it could not be started");
  });

  test("a restart says nothing anew; once it is missed it is not among the tried ones any more", async () => {
    const world = await tried();
    world.kill();
    await world.boot([patient()]);
    await world.pass(MINUTE_MS);
    expect(noted(world)).toHaveLength(1);
    await world.pass(10 * MINUTE_MS);
    expect((await world.supervisor.list())[0]).toMatchObject({ startFailure: null, lastReason: REASON });
  });

  test("its deadline passes while no daemon runs: it is missed for what stood in its way", async () => {
    const world = await tried();
    world.kill();
    world.clock.advance(20 * MINUTE_MS);
    await world.boot([patient()]);
    await world.settle();
    expect(outcome(world, "a", "2026-03-01T00:05:00Z")).toMatchObject({ outcome: "missed", reason: REASON });
  });

  test("so is one whose successor came meanwhile; those after it were down, from when to when", async () => {
    const world = await tried();
    world.kill();
    world.clock.advance(3 * 60 * MINUTE_MS);
    await world.boot([patient()]);
    await world.settle();
    expect(outcome(world, "a", "2026-03-01T00:05:00Z")).toMatchObject({ outcome: "missed", reason: REASON });
    const gap = world.ledger("a").find(({ kind }) => kind === "gap");
    const span = { reason: "down", from: "2026-03-01T00:06:01Z", to: "2026-03-01T03:06:01Z" };
    expect(gap?.content).toMatchObject({ first: "2026-03-01T01:05:00Z", last: "2026-03-01T02:05:00Z", ...span });
    const told = world.events.find(({ event }) => event === "periods_not_evaluated");
    expect(told?.fields).toMatchObject(span);
    const entry = readLedgerEntry({ at: gap?.at ?? 0, kind: "gap", text: JSON.stringify(gap?.content) });
    expect(rowsOf(entry === null ? [] : [entry])).toMatchObject([
      { reason: `2 periods up to 2026-03-01T02:05:00Z: down from ${span.from} to ${span.to}` },
    ]);
  });
});

test.each([
  ["a reload", false],
  ["a start", true],
])("S46: what was changed beside the rule forgets what stood in the way, by %s", async (_, isRestart) => {
  let refusal: typeof NOT_FOUND | null = NOT_FOUND;
  const world = new World({ behaviour: () => (refusal === null ? {} : { refusal }) });
  const often = (command: readonly string[]) => job("a", "@every 10m", { command });
  await world.boot([often(["/usr/bin/bakcup"])]);
  await world.pass(11 * MINUTE_MS);
  expect(world.document("a").StartFailure).toMatchObject({ Code: "command-not-found" });
  // Nothing is due while it is looked at: only the definition can tell.
  refusal = null;
  await world.supervisor.pause("a", world.clock.now() + 60 * MINUTE_MS, "test");
  const mended = often(["/usr/bin/backup"]);
  if (isRestart) {
    world.kill();
    await world.boot([mended]);
  } else await world.supervisor.reload([mended], SETTINGS_DEFAULTS, []);
  await world.settle();
  expect(world.document("a").StartFailure).toBeUndefined();
});

describe("S13, S20: time in which nobody could look", () => {
  test("downtime: from the last sign of life to the next start, also after it", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *", { policy: { deadline: "30s" } })]);
    await world.pass(3 * MINUTE_MS);
    world.kill();
    world.clock.advance(5 * MINUTE_MS);
    await world.boot([job("a", "5 * * * *", { policy: { deadline: "30s" } })]);
    await world.settle();
    expect(world.document("a")).toMatchObject({ LastOutcome: "missed", LastReason: "down" });
    const span = { from: "2026-03-01T00:03:01Z", to: "2026-03-01T00:08:01Z" };
    expect(outcome(world, "a", "2026-03-01T00:05:00Z")).toMatchObject({ outcome: "missed", reason: "down", ...span });
    const told = world.events.find(({ event }) => event === "missed_deadline");
    expect(told?.fields).toMatchObject({ reason: "down", ...span });
    await world.pass(MINUTE_MS);
    expect(await why(world, "a", "2026-03-01T00:05:00Z")).toMatchObject({
      kind: "missed",
      reason: "down",
      from: span.from,
      until: span.to,
      text: expect.stringContaining("down when its deadline passed, from 2026-03-01T00:03:01Z to 2026-03-01T00:08:01Z"),
    });
  });

  test("a daemon that stood still for less than a minute", async () => {
    const world = new World();
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(55 * SECOND_MS);
    world.clock.freeze(10 * SECOND_MS);
    await world.pass(2 * SECOND_MS);
    expect(outcome(world, "a", "2026-03-01T00:01:00Z")).toMatchObject({
      outcome: "missed",
      reason: "stalled",
      from: "2026-03-01T00:01:00Z",
    });
  });

  test("a daemon that stood still for long: the current period, and those before it", async () => {
    const world = new World();
    await world.boot([job("a", "* * * * *", { policy: { deadline: "2s" } })]);
    await world.pass(90 * SECOND_MS);
    world.clock.freeze(5 * MINUTE_MS);
    await world.pass(5 * SECOND_MS);
    expect(world.document("a")).toMatchObject({ LastOutcome: "missed", LastReason: "stalled" });
    const gap = world.ledger("a").find(({ kind }) => kind === "gap");
    expect(gap?.content).toMatchObject({ first: "2026-03-01T00:02:00Z", reason: "stalled" });
    expect((await why(world, "a", "2026-03-01T00:03:00Z"))?.text).toContain("the daemon was there and stood still");
  });

  test("S6: a clock that was set forward over the deadline", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *", { policy: { deadline: "2s" } })]);
    await world.pass(MINUTE_MS);
    world.clock.jump(4 * MINUTE_MS + 30 * SECOND_MS);
    await world.pass(40 * SECOND_MS);
    expect(outcome(world, "a", "2026-03-01T00:05:00Z")).toMatchObject({ outcome: "missed", reason: "clock_jump" });
  });
});

describe("S17: a pause as it was promised", () => {
  const often = () => job("a", "*/10 * * * *", { policy: { deadline: "9m" } });

  test("what passes in it is not evaluated, the next run is the first after it, and NEXT never lies in the past", async () => {
    const world = new World();
    await world.boot([often()]);
    await world.supervisor.pause("a", at("2026-03-01T00:25:00Z"), "an upgrade");
    const shown = async (): Promise<string | null | undefined> => (await world.supervisor.list())[0]?.nextChosenTime;
    expect(await shown()).toBe("2026-03-01T00:30:00Z");
    await world.pass(22 * MINUTE_MS);
    expect(await shown()).toBe("2026-03-01T00:30:00Z");
    await world.pass(10 * MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:30:00"]);
    const gap = world.ledger("a").find(({ kind }) => kind === "gap");
    expect(gap?.content).toMatchObject({ first: "2026-03-01T00:10:00Z", count: 2, reason: "paused" });
    expect(await why(world, "a", "2026-03-01T00:20:00Z")).toMatchObject({
      kind: "paused",
      reason: "an upgrade",
      from: "2026-03-01T00:00:01Z",
      until: "2026-03-01T00:25:00Z",
    });
  });

  test("one that catches up: what is current when it ends is what it has next, and runs then", async () => {
    const world = new World();
    await world.boot([often()]);
    await world.supervisor.pause("a", at("2026-03-01T00:25:00Z"), "an upgrade", true);
    await world.pass(22 * MINUTE_MS);
    expect((await world.supervisor.list())[0]).toMatchObject({
      nextPeriodId: "2026-03-01T00:20:00Z",
      nextChosenTime: "2026-03-01T00:25:00Z",
    });
    await world.pass(10 * MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:25:00", "2026-03-01T00:30:00"]);
  });

  test("a pause that ended while no daemon ran: what passed in it stays passed, what came after is judged as ever", async () => {
    const world = new World();
    await world.boot([often()]);
    await world.supervisor.pause("a", at("2026-03-01T00:15:00Z"), "an upgrade");
    await world.pass(MINUTE_MS);
    world.kill();
    world.clock.advance(15 * MINUTE_MS);
    await world.boot([often()]);
    await world.pass(10 * MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:20:00"]);
  });

  test("a restart in the middle of it tells nothing of what has passed so far, and a reload carries nothing over", async () => {
    const world = new World();
    await world.boot([often()]);
    await world.supervisor.pause("a", at("2026-03-01T01:00:00Z"), "an upgrade");
    await world.pass(25 * MINUTE_MS);
    world.kill();
    await world.boot([often()]);
    await world.pass(MINUTE_MS);
    expect(world.ledger("a").filter(({ kind }) => kind === "gap")).toEqual([]);
    const edited = job("a", "*/10 * * * *", { policy: { deadline: "9m" }, seed: { salt: "other" } });
    await world.supervisor.reload([edited], SETTINGS_DEFAULTS, []);
    await world.supervisor.resume("a");
    await world.pass(5 * MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:30:00"]);
  });
});
