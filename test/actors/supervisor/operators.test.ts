/** What operators and reloads do to jobs in every state: at rest, suspended, being started, while other things take their time. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { Drill } from "./drill.js";
import { job, START, World } from "./world.js";

const EVERY_MINUTE = "* * * * *";

function outcomes(world: World, identity: string): unknown[] {
  const periods = world.ledger(identity).filter(({ kind }) => kind === "period");
  return periods.map(({ content }) => content["outcome"]);
}

/** Whether it is settled although no time passes. */
async function isSettledAtOnce(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const note = (): void => {
    isSettled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < 40 && !isSettled; turn++) await new Promise((resolve) => setImmediate(resolve));
  return isSettled;
}

describe("reload", () => {
  test("S16: another command under the same schedule, changed while nobody was there: the daemon starts with it", async () => {
    const world = new World();
    await world.boot([job("a", EVERY_MINUTE)]);
    world.kill();
    expect(await isSettledAtOnce(world.boot([job("a", EVERY_MINUTE, { command: ["/bin/false"] })]))).toBe(true);
    await world.pass(MINUTE_MS);
    expect(world.requests.at(-1)?.command).toEqual({ kind: "argv", argv: ["/bin/false"] });
  });

  test("S13, S17: a job that is suspended no longer takes up where it is; what passed meanwhile gets no outcome", async () => {
    const world = new World();
    const policy = { deadline: "10s" };
    await world.boot([job("a", EVERY_MINUTE, { policy: { ...policy, suspend: true } })]);
    await world.pass(5 * MINUTE_MS + 30 * SECOND_MS);
    await world.supervisor.reload([job("a", EVERY_MINUTE, { policy })], SETTINGS_DEFAULTS, []);
    expect(outcomes(world, "a")).toEqual(["missed"]);
    expect(world.ledger("a").find(({ kind }) => kind === "gap")?.content).toMatchObject({ count: 4 });
    await world.pass(MINUTE_MS);
    expect(world.starts("a")).toEqual(["2026-03-01T00:06:00"]);
  });

  test("S16: another schedule at the very second at which the old one is due: no period of the old one is judged", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *")]);
    await world.pass(4 * MINUTE_MS + 58 * SECOND_MS);
    // Due, and not looked at yet: the reload comes first.
    world.clock.jump(SECOND_MS);
    await world.supervisor.reload([job("a", "7 * * * *")], SETTINGS_DEFAULTS, []);
    await world.pass(3 * MINUTE_MS);
    expect([world.starts("a"), world.document("a").LastHandledPeriodID]).toEqual([
      ["2026-03-01T00:07:00"],
      "2026-03-01T00:07:00Z",
    ]);
  });

  test("settings that change hold for jobs that do not", async () => {
    const world = new World({ behaviour: () => ({ runMs: 1_000 }) });
    const jobs = [job("a", EVERY_MINUTE)];
    await world.boot(jobs);
    await world.pass(3 * MINUTE_MS);
    expect(world.document("a").History).toHaveLength(3);
    await world.supervisor.reload(jobs, { ...SETTINGS_DEFAULTS, history: { keep: 1 } }, []);
    await world.pass(MINUTE_MS + SECOND_MS);
    expect(world.document("a").History).toHaveLength(1);
  });

  test("S36: with no history kept, the ledger still says when a run began and which attempt it was", async () => {
    const world = new World({ behaviour: () => ({ runMs: 1_000 }) });
    await world.boot([job("a", "1 * * * *")], { history: { keep: 0 } });
    await world.pass(65 * SECOND_MS);
    expect(world.ledger("a").find(({ kind }) => kind === "run")?.content).toMatchObject({
      started_at: "2026-03-01T00:01:00Z",
      ended_at: "2026-03-01T00:01:01Z",
      attempt_id: world.requests[0]?.attemptId,
    });
  });

  test("S16, S36: what was removed while nobody was there and comes back has a version for each", async () => {
    const world = new World();
    const jobs = [job("a", EVERY_MINUTE)];
    await world.boot(jobs);
    world.kill();
    world.clock.advance(SECOND_MS);
    await world.boot([]);
    world.kill();
    world.clock.advance(SECOND_MS);
    await world.boot(jobs);
    const versions = [...(world.disk.definitions.get("a")?.values() ?? [])];
    expect(versions.map(({ text }) => text === null)).toEqual([false, true, false]);
    expect(world.document("a").RemovedAt).toBeUndefined();
  });
});

describe("while something else takes its time", () => {
  test("a run that will not end keeps no operator waiting", async () => {
    const world = new World({
      behaviour: ({ env }) => ({ runMs: null, ignoresTerm: env["KRON_IDENTITY"] === "stubborn" }),
    });
    const stubborn = job("stubborn", "1 * * * *");
    await world.boot([stubborn, job("a", EVERY_MINUTE)]);
    await world.pass(61 * SECOND_MS);
    await world.supervisor.cancel("stubborn");
    const { supervisor } = world;
    expect(await isSettledAtOnce(supervisor.pause("a", START + 10 * MINUTE_MS, "test"))).toBe(true);
    expect(await isSettledAtOnce(supervisor.resume("a"))).toBe(true);
    expect(await isSettledAtOnce(supervisor.reload([stubborn], SETTINGS_DEFAULTS, []))).toBe(true);
  });

  test("SPEC: never more processes wait than max_armed says, and every job runs all the same", async () => {
    const jobs = Array.from({ length: 12 }, (_, i) => job(`job-${i}`, "1 * * * *", { policy: { deadline: "30s" } }));
    const drill = new Drill({ jobs, seconds: 0 });
    let most = 0;
    drill.faults.plan = () => {
      most = Math.max(most, drill.faults.gates.size);
      return null;
    };
    await drill.world.boot(jobs, { maxArmed: 3 });
    for (let second = 0; second < 70; second++) await drill.second();
    expect([most, drill.executed().length, await drill.verdict()]).toEqual([3, 12, []]);
  });
});

/** Asked before the first is answered, and for a slot of its own. */
async function runLater(world: World): ReturnType<World["supervisor"]["runNow"]> {
  world.clock.advance(1);
  return world.supervisor.runNow("a", true);
}

describe("S40: a run by hand is answered, whatever becomes of it", () => {
  const refusal = { code: "command-not-found" as const, message: "no such file: /bin/true" };
  test.each([
    ["a job that can be started", {}, { ok: true, slot: "2026-03-01T00:00:01Z", pid: 1000 }],
    ["a command that does not exist", { refusal }, { ok: false, message: `${refusal.message}: /bin/true` }],
  ])("%s", async (_name, behaviour, answer) => {
    const world = new World({ behaviour: () => behaviour });
    await world.boot([job("a", "5 * * * *")]);
    expect(await world.supervisor.runNow("a")).toMatchObject(answer);
  });

  test("a suspended and a paused job", async () => {
    const world = new World();
    await world.boot([job("asleep", EVERY_MINUTE, { policy: { suspend: true } }), job("paused", EVERY_MINUTE)]);
    await world.supervisor.pause("paused", START + 3 * MINUTE_MS, "test");
    expect(await world.supervisor.runNow("asleep")).toMatchObject({ ok: true });
    expect(await world.supervisor.runNow("paused")).toMatchObject({ ok: true });
    await world.pass(4 * MINUTE_MS);
    expect(world.starts("asleep")).toEqual(["2026-03-01T00:00:01"]);
    expect(world.starts("paused")).toEqual(["2026-03-01T00:00:01", "2026-03-01T00:04:00"]);
    expect(world.document("asleep").LastHandledPeriodID).toBe("");
  });

  test("twice within a millisecond, and a job that nobody knows", async () => {
    const world = new World();
    await world.boot([job("a", "5 * * * *")]);
    const [first, second] = [await world.supervisor.runNow("a"), await world.supervisor.runNow("a")];
    expect([first, second]).toMatchObject([{ ok: true }, { ok: true }]);
    // S40: two wishes, two slots; and the second does not begin in the future for that.
    if (first.ok && second.ok) expect(Date.parse(second.slot)).toBe(Date.parse(first.slot) + 1);
    expect(await world.supervisor.runNow("b")).toEqual({ ok: false, message: 'no job "b"' });
  });

  test.each([40, 300])(
    "the clock is set back by %d minutes: it runs, named after the last one that was asked for",
    async (minutes) => {
      const world = new World();
      await world.boot([job("a", "5 * * * *")]);
      const first = await world.supervisor.runNow("a");
      await world.pass(2 * SECOND_MS, SECOND_MS);
      world.clock.jump(-minutes * 60 * SECOND_MS);
      await world.pass(2 * SECOND_MS, SECOND_MS);
      const second = await world.supervisor.runNow("a");
      expect([first, second]).toMatchObject([{ ok: true }, { ok: true }]);
      if (first.ok && second.ok) expect(Date.parse(second.slot)).toBe(Date.parse(first.slot) + 1);
    },
  );

  test("only while nothing of the job runs: of two that ask at once one runs, and later ones once it is over", async () => {
    const world = new World({ behaviour: () => ({ runMs: 20 * SECOND_MS }) });
    await world.boot([job("a", "5 * * * *")]);
    // Little by little: an answer may wait for the clock, and whoever waits for idleness would stop it.
    const answered = async <T>(asked: Promise<T>): Promise<T> => {
      for (let turn = 0; turn < 100 && !(await isSettledAtOnce(asked)); turn++) world.clock.advance(10);
      return asked;
    };
    const answers = await answered(Promise.all([world.supervisor.runNow("a", true), runLater(world)]));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.find(({ ok }) => !ok)).toMatchObject({ ok: false, isBusy: true });
    expect(await answered(world.supervisor.runNow("a", true))).toMatchObject({ ok: false, isBusy: true });
    expect(await answered(world.supervisor.runNow("a"))).toMatchObject({ ok: true });
    await world.pass(30 * SECOND_MS);
    expect(await answered(world.supervisor.runNow("a", true))).toMatchObject({ ok: true });
    expect(world.starts("a")).toHaveLength(3);
  });

  test("its gate is lost; the write fails; the daemon stops", async () => {
    const lost = new Drill({ jobs: [job("a", "5 * * * *")], seconds: 0 });
    await lost.boot();
    lost.faults.plan = ({ name, phase }) => {
      if (name === "arm" && phase === "after") lost.world.loseLauncher();
      return null;
    };
    expect(await lost.world.supervisor.runNow("a")).toMatchObject({ ok: false });

    const broken = new Drill({ jobs: [job("a", "5 * * * *")], seconds: 0 });
    await broken.boot();
    broken.world.disk.faults = () => ({ kind: "fail", errno: "EIO", isDurable: false });
    expect(await broken.world.supervisor.runNow("a")).toMatchObject({ ok: false });

    const world = new World();
    await world.boot([job("a", "5 * * * *")]);
    const stopped = world.supervisor.stop({ graceful: false });
    expect(await world.supervisor.runNow("a")).toMatchObject({ ok: false });
    await stopped;
  });
});

describe("cancel", () => {
  test("of one period ends that run and no other", async () => {
    const world = new World({ behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", EVERY_MINUTE)]);
    await world.pass(125 * SECOND_MS);
    expect(await world.supervisor.cancel("a", "2026-03-01T00:01:00Z")).toBe(1);
    await world.settle();
    expect(world.document("a")).toMatchObject({
      ActiveExecution: { PeriodID: "2026-03-01T00:02:00Z" },
      History: [{ PeriodID: "2026-03-01T00:01:00Z", Reason: "cancelled" }],
    });
    expect([await world.supervisor.cancel("a", "2026-03-01T00:01:00Z"), await world.supervisor.cancel("a")]).toEqual([
      0, 1,
    ]);
  });
});

describe("stop", () => {
  test("S29: graceful: what runs is waited for, and nothing new begins, not even in its place", async () => {
    const world = new World({ behaviour: () => ({ runMs: 90_000, ignoresTerm: true }) });
    await world.boot([
      job("a", EVERY_MINUTE, { policy: { concurrency: "replace", deadline: "50s" } }),
      job("b", EVERY_MINUTE),
    ]);
    await world.pass(61 * SECOND_MS);
    const stopped = world.supervisor.stop({ graceful: true });
    const before = world.host.executions.length;
    for (let second = 0; second < 95; second++) {
      world.clock.advance(SECOND_MS);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await isSettledAtOnce(stopped)).toBe(true);
    expect([before, world.host.executions.length, world.host.running]).toEqual([2, 2, []]);
    expect(world.document("a").History).toMatchObject([{ ExitCode: 0 }]);
  });

  test("after a long life with lost gates and refusals nothing is left that would be waited for", async () => {
    let count = 0;
    const refusal = { code: "fork-failed" as const, message: "EAGAIN" };
    const world = new World({ behaviour: () => (++count % 3 === 0 ? { refusal } : { runMs: 500 }) });
    await world.boot([job("a", EVERY_MINUTE, { policy: { deadline: "40s" } })]);
    for (let minute = 0; minute < 10; minute++) {
      await world.pass(58 * SECOND_MS);
      world.loseLauncher();
      await world.pass(2 * SECOND_MS);
    }
    await world.pass(30 * SECOND_MS);
    expect(await isSettledAtOnce(world.supervisor.stop({ graceful: true }))).toBe(true);
    expect(world.starts("a").length).toBeGreaterThan(5);
  });
});

describe("gates that are made ahead", () => {
  test("S23: one is used for its period and for no other, also when the wake comes so late that another is current", async () => {
    const world = new World();
    await world.boot([job("a", EVERY_MINUTE, { policy: { deadline: "5m" } })]);
    await world.pass(57 * SECOND_MS);
    expect(world.requests).toHaveLength(1);
    world.clock.freeze(10 * MINUTE_MS);
    await world.settle();
    await world.pass(5 * SECOND_MS);
    const executed = world.host.executions.map(({ attemptId }) => attemptId);
    const request = world.requests.find(({ attemptId }) => attemptId === executed[0]);
    expect(request?.env["KRON_PERIOD_ID"]).toBe("2026-03-01T00:10:00Z");
    expect(new Set(world.requests.map(({ attemptId }) => attemptId)).size).toBe(world.requests.length);
    expect(world.supervisor.status().armed).toBe(0);
  });

  test.each(["pause", "remove", "jump"])("S23: closed on %s", async (what) => {
    const world = new World();
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(57 * SECOND_MS);
    expect(world.supervisor.status().armed).toBe(1);
    const acts: Record<string, () => unknown> = {
      pause: () => world.supervisor.pause("a", START + 10 * MINUTE_MS, "test"),
      remove: () => world.supervisor.reload([], SETTINGS_DEFAULTS, []),
      jump: () => world.clock.jump(-10 * SECOND_MS),
    };
    await acts[what]?.();
    await world.pass(SECOND_MS);
    expect([world.supervisor.status().armed, world.host.executions]).toEqual([0, []]);
  });
});
