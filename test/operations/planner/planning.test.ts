/** An endpoint that is planned for, on a virtual clock: what is proposed takes effect, is on record, and stands back. */
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { DELETE_ENDPOINT, GET_ENDPOINT, UPDATE_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { LIMITS_OF_CALLER } from "../../../src/operations/endpoints/health.js";
import { CLEAR_HINTS, HINT_INTERVAL } from "../../../src/operations/endpoints/standing.js";
import { OperationError } from "../../../src/operations/operation.js";
import { GET_SESSION, LIST_SESSIONS, TRY_PLANNER } from "../../../src/operations/planner/operations.js";
import { SESSION_LIMITS } from "../../../src/planner/limits.js";
import type { Proposal, Situation } from "../../../src/planner/model.js";
import type { Planner } from "../../../src/planner/port.js";
import { inputsHashOf, NO_TOKENS, nextAnalysisAt } from "../../../src/planner/session.js";
import { Desk, type DeskOptions } from "../endpoints/desk.js";

/** Fails from `from` on until `until`, in minutes since the start. */
function failing(from: number, until = Number.POSITIVE_INFINITY): NonNullable<DeskOptions["answer"]> {
  return ({ scheduledFor }) => {
    const minute = (Date.parse(scheduledFor) - Date.parse("2026-03-01T00:00:00Z")) / MINUTE_MS;
    return minute >= from && minute < until ? { status: 503 } : {};
  };
}

async function opened(options: DeskOptions = {}, more: Record<string, unknown> = {}) {
  const desk = await Desk.open({ planner: { usual: "rules", chat: null }, ...options });
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, { baselineIntervalMs: MINUTE_MS, ...more });
  const identity = `endpoint:acme/${jobId}/${endpointId}`;
  const get = () => desk.ask(GET_ENDPOINT, { endpointId });
  const sessions = async (tenant?: string) =>
    (await desk.ask(LIST_SESSIONS, { cursor: null, limit: 100, endpointId }, tenant)).rows;
  return { desk, jobId, endpointId, identity, get, sessions };
}

/** A planner that proposes what it is told, and remembers what it was asked about. */
function told(proposals: readonly Proposal[], about: Situation[] = [], before: () => Promise<void> = async () => {}) {
  const planner: Planner = {
    propose: async (situation) => {
      about.push(situation);
      await before();
      return {
        endpoint: situation.endpoint.id,
        startedAt: situation.now,
        inputsHash: inputsHashOf(situation),
        kind: "chat",
        calls: [],
        tokens: NO_TOKENS,
        durationMs: 0,
        proposals,
        outcome: { code: proposals.length === 0 ? "nothing" : "proposed", message: "" },
        nextAnalysisAt: nextAnalysisAt(situation),
      };
    },
  };
  return { planner, model: "some-model" };
}

const SLOWER: Proposal = { type: "interval", intervalMs: 300_000, ttlMinutes: 60, reason: "it is slow" };

describe("the rules look at what has ended", () => {
  test("failures in a row make it slower, by a hint of theirs, on record with what it was made from", async () => {
    const { desk, endpointId, get, sessions } = await opened({ answer: failing(0) });
    await desk.world.pass(5 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ intervalMs: 120_000, by: "planner:rules" });
    const [session, ...more] = await sessions();
    expect(more).toEqual([]);
    expect(session).toMatchObject({
      by: "planner:rules",
      fates: [{ result: "applied" }],
      session: { endpoint: endpointId, kind: "rules", outcome: { code: "proposed" } },
    });
    const detail = await desk.ask(GET_SESSION, { sessionId: session?.id });
    expect(detail.inputs).toMatchObject({
      endpoint: { id: endpointId, name: "users" },
      health: { streak: { failures: 3 } },
    });
    expect(desk.failures).toEqual([]);
  });

  test("when it is well again the hint goes, and it runs as its owner has set it", async () => {
    const { desk, get, sessions } = await opened({ answer: failing(0, 20) });
    await desk.world.pass(HOUR_MS);
    expect(await get()).toMatchObject({ hints: { interval: null, oneshot: null }, nextSource: "baseline-interval" });
    const proposed = (await sessions()).map(({ session, fates }) => [session.proposals[0]?.type, fates[0]?.result]);
    expect(proposed).toEqual([
      ["clear", "applied"],
      ["interval", "applied"],
      ["interval", "applied"],
    ]);
  });

  test("of one that is well there is no session, nor where nobody is to look", async () => {
    const well = await opened();
    await well.desk.world.pass(HOUR_MS);
    expect(await well.sessions()).toEqual([]);
    for (const [usual, planner] of [
      ["rules", "off"],
      ["off", null],
    ] as const) {
      const { desk, get, sessions } = await opened({ answer: failing(0), planner: { usual, chat: null } }, { planner });
      await desk.world.pass(30 * MINUTE_MS);
      expect(await sessions()).toEqual([]);
      expect((await get()).hints.interval).toBeNull();
    }
  });

  test("who is to look may be changed, and counts from then on", async () => {
    const { desk, endpointId, get } = await opened({ answer: failing(0) }, { planner: "off" });
    await desk.world.pass(10 * MINUTE_MS);
    expect((await get()).hints.interval).toBeNull();
    await desk.ask(UPDATE_ENDPOINT, { endpointId, planner: "rules" });
    await desk.world.pass(2 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ by: "planner:rules" });
  });

  test("fasterOnErrors: the beginning of errors makes it faster, and without it never", async () => {
    const { desk, get } = await opened({ answer: failing(0) }, { fasterOnErrors: true, baselineIntervalMs: 240_000 });
    await desk.world.pass(20 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ intervalMs: 60_000 });
    const other = await opened({ answer: failing(0) }, { baselineIntervalMs: 240_000 });
    await other.desk.world.pass(20 * MINUTE_MS);
    expect((await other.get()).hints.interval).toMatchObject({ intervalMs: 480_000 });
  });

  test("a tenant's bound holds for what is proposed, also where it came later than the endpoint", async () => {
    const { desk, get } = await opened({ answer: failing(0) }, { fasterOnErrors: true, baselineIntervalMs: 240_000 });
    const { limits } = await desk.quotas.use("acme");
    await desk.quotas.setLimits("acme", { ...limits, minIntervalMs: 200_000 });
    await desk.world.pass(20 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ intervalMs: 200_000 });
  });
});

describe("a person's word holds", () => {
  test("what was said before is not touched, and is looked at again when it is over", async () => {
    const { desk, endpointId, get, sessions } = await opened({ answer: failing(0) });
    await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 90_000, ttlMinutes: 30 }, "acme", "k_1");
    await desk.world.pass(25 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ intervalMs: 90_000, by: "k_1" });
    expect(await sessions()).toEqual([]);
    await desk.world.pass(20 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ by: "planner:rules" });
  });

  test("what is said while the planner thinks is not lost: its proposal is refused, and the record says so", async () => {
    let say = async (): Promise<void> => undefined;
    const chat = told([SLOWER], [], () => say());
    const { desk, endpointId, get, sessions } = await opened({
      answer: failing(0),
      planner: { usual: "chat", chat },
    });
    say = async () => {
      await desk.ask(HINT_INTERVAL, { endpointId, intervalMs: 90_000, ttlMinutes: 600 }, "acme", "k_1");
    };
    await desk.world.pass(5 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ intervalMs: 90_000, by: "k_1" });
    expect((await sessions())[0]?.fates).toMatchObject([{ result: "refused", message: /person/ }]);
  });

  test("what it takes back is not put again before it is time to look again", async () => {
    const { desk, endpointId, get, sessions } = await opened({ answer: failing(0) });
    await desk.world.pass(5 * MINUTE_MS);
    await desk.ask(CLEAR_HINTS, { endpointId });
    await desk.world.pass(10 * MINUTE_MS);
    expect((await get()).hints.interval).toBeNull();
    expect(await sessions()).toHaveLength(1);
    await desk.world.pass(10 * MINUTE_MS);
    expect((await get()).hints.interval).toMatchObject({ by: "planner:rules" });
  });
});

describe("a model", () => {
  test("all kinds of proposals take effect, each in the way of a person's, with its name", async () => {
    const about: Situation[] = [];
    const oneshot = Date.parse("2026-03-01T00:30:00Z");
    const proposals: Proposal[] = [SLOWER, { type: "oneshot", nextRunAt: oneshot, ttlMinutes: 60, reason: "once" }];
    const { desk, get, sessions } = await opened(
      {
        answer: failing(0),
        planner: { usual: "off", chat: told(proposals, about) },
      },
      { planner: "chat" },
    );
    await desk.world.pass(2 * MINUTE_MS);
    expect((await get()).hints).toMatchObject({
      interval: { intervalMs: 300_000, by: "planner:some-model" },
      oneshot: { nextRunAt: "2026-03-01T00:30:00Z", by: "planner:some-model" },
    });
    expect((await sessions())[0]).toMatchObject({
      by: "planner:some-model",
      fates: [{ result: "applied" }, { result: "applied" }],
    });
    expect(about).toHaveLength(1);
  });

  test("a pause, and what ends it", async () => {
    const until = Date.parse("2026-03-01T01:00:00Z");
    const { desk, get } = await opened({
      answer: failing(0),
      planner: { usual: "chat", chat: told([{ type: "pause_until", until, reason: "upstream is down" }]) },
    });
    await desk.world.pass(2 * MINUTE_MS);
    expect(await get()).toMatchObject({
      status: "paused",
      pausedBy: "planner:some-model",
      pauseReason: "upstream is down",
    });
  });

  test("is asked again after its cool-down, however often the endpoint runs, and not of one that is well", async () => {
    const about: Situation[] = [];
    const { desk, sessions } = await opened({ answer: failing(0), planner: { usual: "chat", chat: told([], about) } });
    await desk.world.pass(HOUR_MS);
    expect(about.length).toBeGreaterThanOrEqual(4);
    expect(about.length).toBeLessThanOrEqual(5);
    expect((await sessions()).map(({ session }) => session.outcome.code)).toEqual(about.map(() => "nothing"));
    const well = await opened({ planner: { usual: "chat", chat: told([SLOWER], about) } });
    const before = about.length;
    await well.desk.world.pass(HOUR_MS);
    expect(about).toHaveLength(before);
  });

  test("nothing of another tenant, and nothing of the request, is in what it is told", async () => {
    const about: Situation[] = [];
    const { desk, jobId } = await opened(
      { answer: failing(0), planner: { usual: "chat", chat: told([], about) } },
      {
        headers: { "X-Header": "header-value" },
        secretHeaders: { Authorization: "Bearer secret-value" },
      },
    );
    await desk.endpoint(jobId, { name: "sibling", planner: "off" });
    const { id: foreignJob } = await desk.job("sync", "other");
    await desk.endpoint(foreignJob, { name: "foreign-name", planner: "off" }, "other");
    await desk.world.pass(20 * MINUTE_MS);
    const text = JSON.stringify(about);
    expect(about.length).toBeGreaterThan(0);
    expect(about[0]?.siblings).toMatchObject([{ name: "sibling" }]);
    for (const word of ["foreign-name", "header-value", "secret-value", "hooks.test", "other"]) {
      expect(text).not.toContain(word);
    }
  });

  test("what was taken out, or is not to be planned for, while it thought, is left alone", async () => {
    for (const change of ["gone", "off"] as const) {
      let act = async (): Promise<void> => undefined;
      const chat = told([SLOWER], [], () => act());
      const { desk, endpointId, sessions } = await opened({ answer: failing(0), planner: { usual: "chat", chat } });
      act = async () => {
        if (change === "gone") await desk.ask(DELETE_ENDPOINT, { endpointId });
        else await desk.ask(UPDATE_ENDPOINT, { endpointId, planner: "off" });
      };
      await desk.world.pass(3 * MINUTE_MS);
      expect((await sessions())[0]?.fates).toMatchObject([{ result: "refused" }]);
      expect(desk.failures).toEqual([]);
    }
  });
});

describe("on record", () => {
  test("a daemon that ended between a proposal and its commit: nothing is changed twice, and the record says what is known", async () => {
    const about: Situation[] = [];
    const { desk, get, sessions, identity } = await opened({
      answer: failing(0),
      planner: { usual: "chat", chat: told([SLOWER], about) },
    });
    // The last moment in which it is proposed, on record, and not in force.
    desk.world.supervisor.hint = () => {
      desk.ending.abort();
      desk.world.kill();
      return new Promise(() => undefined);
    };
    await desk.world.pass(3 * MINUTE_MS);
    expect(about).toHaveLength(1);
    await desk.boot();
    expect(desk.world.document(identity).Hints).toBeUndefined();
    expect((await sessions())[0]?.fates).toMatchObject([{ result: "unknown" }]);
    await desk.world.pass(10 * MINUTE_MS);
    expect(about).toHaveLength(1);
    expect((await get()).hints.interval).toBeNull();
    expect(await sessions()).toHaveLength(1);
  });

  test("a restart keeps them, and the time until the next one", async () => {
    const about: Situation[] = [];
    const { desk, sessions } = await opened({
      answer: failing(0),
      planner: { usual: "chat", chat: told([SLOWER], about) },
    });
    await desk.world.pass(3 * MINUTE_MS);
    const before = await sessions();
    desk.world.kill();
    await desk.boot();
    expect(await sessions()).toEqual(before);
    await desk.world.pass(8 * MINUTE_MS);
    expect(about).toHaveLength(1);
  });

  test("bounded in number and age, each endpoint for itself", async () => {
    const { desk, sessions } = await opened({ answer: failing(0), planner: { usual: "chat", chat: told([]) } });
    await desk.world.pass(8 * HOUR_MS);
    const kept = await sessions();
    expect(kept).toHaveLength(SESSION_LIMITS.ofEndpoint);
    const times = kept.map(({ session }) => session.startedAt);
    expect([...times].sort().reverse()).toEqual(times);
    const names = [...desk.world.disk.objects.keys()].filter((key) => key.startsWith("planner/"));
    expect(names).toHaveLength(2 * SESSION_LIMITS.ofEndpoint);
  });

  test("page by page, and none of another tenant's", async () => {
    const { desk, endpointId, sessions } = await opened({
      answer: failing(0),
      planner: { usual: "chat", chat: told([]) },
    });
    await desk.world.pass(2 * HOUR_MS);
    const all = await sessions();
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { rows: readonly { id: string }[]; next: string | null } = await desk.ask(LIST_SESSIONS, {
        cursor,
        limit: 3,
      });
      paged.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== null);
    expect(paged).toEqual(all.map(({ id }) => id));
    await expect(sessions("other")).rejects.toThrow(/no endpoint/);
    expect((await desk.ask(LIST_SESSIONS, { cursor: null, limit: 100 }, "other")).rows).toEqual([]);
    const foreign = desk.ask(GET_SESSION, { sessionId: all[0]?.id }, "other");
    await expect(foreign).rejects.toThrow(OperationError);
    await expect(desk.ask(TRY_PLANNER, { endpointId }, "other")).rejects.toThrow(/no endpoint/);
  });

  test("what is older than a month goes with the next one", async () => {
    const { desk, sessions } = await opened({ answer: failing(0), planner: { usual: "chat", chat: told([]) } });
    await desk.world.pass(HOUR_MS);
    const before = (await sessions()).map(({ id }) => id);
    expect(before.length).toBeGreaterThan(2);
    desk.world.clock.jump(SESSION_LIMITS.ageMs + DAY_MS);
    await desk.world.pass(5 * MINUTE_MS);
    const after = (await sessions()).map(({ id }) => id);
    expect(after).toHaveLength(1);
    expect(before).not.toContain(after[0]);
    const names = [...desk.world.disk.objects.keys()].filter((key) => key.startsWith("planner/"));
    expect(names).toHaveLength(2);
  });
});

describe("planner.try", () => {
  test("says what would be proposed, and changes nothing", async () => {
    const { desk, endpointId, get, sessions } = await opened({ answer: failing(0) }, { planner: "off" });
    await desk.world.pass(10 * MINUTE_MS);
    const before = [await get(), [...desk.world.disk.objects]];
    const tried = await desk.ask(TRY_PLANNER, { endpointId });
    expect(tried).toMatchObject({
      by: "planner:rules",
      session: { proposals: [{ type: "interval", intervalMs: 240_000 }] },
    });
    expect([await get(), [...desk.world.disk.objects]]).toEqual(before);
    expect(await sessions()).toEqual([]);
    await expect(desk.ask(TRY_PLANNER, { endpointId, planner: "chat" })).rejects.toThrow(/no model/);
  });

  test("with a model it is the tenant's quota that is used", async () => {
    const { desk, endpointId } = await opened({ planner: { usual: "off", chat: told([SLOWER]) } });
    await desk.world.pass(2 * MINUTE_MS);
    expect(await desk.ask(TRY_PLANNER, { endpointId, planner: "chat" })).toMatchObject({ by: "planner:some-model" });
    expect((await desk.ask(LIMITS_OF_CALLER, {})).used.plannerCallsToday).toBe(0);
  });
});
