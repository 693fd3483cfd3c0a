/** What a hostile reading of the supervisor came upon. */
import { expect, test } from "vitest";
import type { SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import type { StateStore } from "../../../src/persist/store.js";
import { job, World, type WorldOptions } from "./world.js";

const EVERY_MINUTE = "* * * * *";
const PATIENT = { deadline: "50s" };

/** Reads of one job can be held back or damaged; everything else of the store is as it is. */
class Reads {
  #gate: Promise<void> | null = null;
  #open = (): void => undefined;
  #passing = 0;
  isHolding = false;
  isDamaged = false;
  readonly #identity: string;
  readonly #held: "get" | "newestVersion";

  constructor(identity: string, held: "get" | "newestVersion") {
    this.#identity = identity;
    this.#held = held;
  }

  /** Only the one after so many others. */
  hold(after = 0): void {
    this.#passing = after;
    this.#gate = new Promise((resolve) => (this.#open = resolve));
  }

  release(): void {
    this.#gate = null;
    this.#open();
  }

  readonly between = (ports: SupervisorPorts): SupervisorPorts => {
    const { store } = ports;
    const wait = async (name: string, identity: string): Promise<void> => {
      if (name !== this.#held || identity !== this.#identity || this.#gate === null || this.#passing-- !== 0) return;
      this.isHolding = true;
      await this.#gate;
    };
    const get: StateStore["get"] = async (identity) => {
      const found = await store.get(identity);
      await wait("get", identity);
      return found;
    };
    const newestVersion: StateStore["newestVersion"] = async (identity) => {
      const found = await store.newestVersion(identity);
      await wait("newestVersion", identity);
      const isDamaged = this.isDamaged && identity === this.#identity;
      return isDamaged && found !== undefined ? { ...found, isIntact: false } : found;
    };
    const proxy = new Proxy(store, {
      get: (target, name) => {
        if (name === "get") return get;
        if (name === "newestVersion") return newestVersion;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    return { ...ports, store: proxy };
  };
}

async function turns(count = 40): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const forever: WorldOptions["behaviour"] = () => ({ runMs: null });

test("S29: a run is adopted although the record of its job's definition is damaged: the configuration has another", async () => {
  const reads = new Reads("a", "get");
  const world = new World({ behaviour: forever, between: reads.between });
  await world.boot([job("a", "1 * * * *")]);
  await world.pass(90 * SECOND_MS);
  expect(world.host.running).toHaveLength(1);
  world.kill();
  reads.isDamaged = true;
  await world.boot([job("a", "1 * * * *")]);
  await world.settle();
  expect(world.told("a")).toContain("adopted");
});

test("S32: a start without a configuration refuses a damaged definition of a job that runs, and says which", async () => {
  const reads = new Reads("a", "get");
  const world = new World({ behaviour: forever, between: reads.between });
  await world.boot([job("a", "1 * * * *")]);
  await world.pass(90 * SECOND_MS);
  world.kill();
  reads.isDamaged = true;
  await expect(world.boot("as-stored")).rejects.toMatchObject({ code: "definition-unreadable" });
});

test("S32: a start without a configuration leaves out no job whose document and definition are damaged", async () => {
  const reads = new Reads("a", "get");
  const world = new World({ between: reads.between });
  await world.boot([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE)]);
  world.kill();
  reads.isDamaged = true;
  world.disk.damage(documentKey("a"), "{");
  await expect(world.boot("as-stored")).rejects.toMatchObject({ code: "definition-unreadable" });
});

test("S16: a damaged record of a job that is gone already refuses no start", async () => {
  const reads = new Reads("gone", "get");
  const world = new World({ between: reads.between });
  await world.boot([job("a", EVERY_MINUTE), job("gone", EVERY_MINUTE)]);
  await world.supervisor.reload([job("a", EVERY_MINUTE)], SETTINGS_DEFAULTS, []);
  world.kill();
  reads.isDamaged = true;
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(MINUTE_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
});

test("S16: a damaged record of a job that was taken out of the configuration refuses no start", async () => {
  const reads = new Reads("gone", "get");
  const world = new World({ between: reads.between });
  await world.boot([job("a", EVERY_MINUTE), job("gone", EVERY_MINUTE)]);
  world.kill();
  reads.isDamaged = true;
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(MINUTE_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
  expect(world.document("gone").RemovedAt).toBeDefined();
});

test("S17: a suspension that was lifted while nobody was there is lifted although a manual run of the job goes on", async () => {
  const world = new World({ behaviour: forever });
  const policy = { concurrency: "allow" };
  await world.boot([job("a", EVERY_MINUTE, { policy: { ...policy, suspend: true } })]);
  expect((await world.supervisor.runNow("a")).ok).toBe(true);
  world.kill();
  await world.boot([job("a", EVERY_MINUTE, { policy })]);
  await world.pass(3 * MINUTE_MS);
  expect(world.starts("a").slice(1)).toEqual(["2026-03-01T00:01:00", "2026-03-01T00:02:00", "2026-03-01T00:03:00"]);
});

test("S17: a suspension that was set while nobody was there holds although a run of the job goes on", async () => {
  const world = new World({ behaviour: forever });
  const policy = { concurrency: "allow" };
  await world.boot([job("a", EVERY_MINUTE, { policy })]);
  await world.pass(70 * SECOND_MS);
  world.kill();
  await world.boot([job("a", EVERY_MINUTE, { policy: { ...policy, suspend: true } })]);
  await world.pass(3 * MINUTE_MS);
  expect(world.starts("a")).toEqual(["2026-03-01T00:01:00"]);
  expect(await world.supervisor.list()).toMatchObject([{ standing: "suspended" }]);
});

test("S16: at a start nothing of a job is triggered before it was told its new definition: a run's timeout", async () => {
  const reads = new Reads("a", "newestVersion");
  const world = new World({ behaviour: forever, between: reads.between });
  const policy = { ...PATIENT, concurrency: "allow" };
  await world.boot([job("a", EVERY_MINUTE, { policy, timeout: "30s" })]);
  await world.pass(61 * SECOND_MS);
  world.kill();
  await world.pass(60 * SECOND_MS);
  const before = world.requests.length;
  let isOpen = false;
  const changed = job("a", EVERY_MINUTE, { policy, command: ["/bin/false"] });
  const booting = world.boot([changed]).then(() => (isOpen = true));
  // Until the runs were recovered; then the reading of this job takes its time.
  while (!world.told("a").includes("adopted")) await turns(1);
  reads.hold();
  await turns();
  expect(isOpen).toBe(false);
  world.clock.advance(SECOND_MS);
  await turns();
  reads.release();
  await booting;
  await world.settle();
  expect(world.requests.slice(before).map(({ command }) => command)).toEqual([{ kind: "argv", argv: ["/bin/false"] }]);
});

test("S14: at a start nothing of a job is triggered by a rule that it was not told: its change never fires the past", async () => {
  const reads = new Reads("a", "newestVersion");
  const world = new World({ behaviour: forever, between: reads.between });
  const policy = { deadline: "10m", concurrency: "allow" };
  await world.boot([job("a", "1 * * * *", { policy, timeout: "30s" })]);
  await world.pass(61 * SECOND_MS);
  world.kill();
  await world.pass(3 * MINUTE_MS);
  const before = world.requests.length;
  // 00:02 lies behind: it is no period of the rule that was in force then.
  const booting = world.boot([job("a", "2 * * * *", { policy, timeout: "30s" })]);
  while (!world.told("a").includes("adopted")) await turns(1);
  reads.hold();
  await turns();
  world.clock.advance(SECOND_MS);
  await turns();
  reads.release();
  await booting;
  await world.settle();
  expect(world.requests.slice(before)).toEqual([]);
});

test("S6, S16: a clock that is moved during a start triggers nothing by an old definition", async () => {
  const reads = new Reads("a", "newestVersion");
  const world = new World({ between: reads.between });
  await world.boot([job("a", EVERY_MINUTE, { policy: PATIENT }), job("b", EVERY_MINUTE)]);
  world.kill();
  await world.pass(30 * SECOND_MS);
  const changed = job("a", EVERY_MINUTE, { policy: PATIENT, command: ["/bin/false"] });
  // The survey reads it with all others, the introduction by its name.
  reads.hold();
  const booting = world.boot([changed, job("b", EVERY_MINUTE)]);
  while (!reads.isHolding) await turns(1);
  world.clock.jump(60 * SECOND_MS);
  world.clock.advance(SECOND_MS);
  await turns();
  reads.release();
  await booting;
  await world.settle();
  const commands = world.requests.filter(({ env }) => env["KRON_IDENTITY"] === "a").map(({ command }) => command);
  expect(commands).toEqual([{ kind: "argv", argv: ["/bin/false"] }]);
});

test("S40: a job that is being added runs its own command by hand, never another", async () => {
  const reads = new Reads("new", "get");
  const world = new World({ behaviour: forever, between: reads.between });
  await world.boot([]);
  reads.hold();
  const reloading = world.supervisor.reload(
    [job("new", EVERY_MINUTE, { command: ["/bin/false"] })],
    SETTINGS_DEFAULTS,
    [],
  );
  await turns(5);
  const asked = world.supervisor.runNow("new");
  await turns(5);
  reads.release();
  await Promise.all([reloading, asked]);
  await world.settle();
  for (const { command } of world.requests) expect(command).toEqual({ kind: "argv", argv: ["/bin/false"] });
  expect(world.document("new").DefinitionHash).toBeDefined();
});

test("S17: a pause of a job that is being added is not lost", async () => {
  const reads = new Reads("new", "get");
  const world = new World({ between: reads.between });
  await world.boot([]);
  reads.hold();
  const reloading = world.supervisor.reload([job("new", EVERY_MINUTE)], SETTINGS_DEFAULTS, []);
  await turns(5);
  const asked = world.supervisor.pause("new", world.clock.now() + 10 * MINUTE_MS, "test").catch(() => false);
  await turns(5);
  reads.release();
  await reloading;
  const isPaused = await asked;
  await world.pass(2 * MINUTE_MS);
  expect({ isPaused, starts: world.starts("new").length }).toEqual({ isPaused, starts: isPaused ? 0 : 2 });
});

test("S32: a reload that meets a damaged document does not pass the job over for good", async () => {
  const world = new World();
  await world.boot([job("a", EVERY_MINUTE)]);
  world.disk.damage(documentKey("new"), "{");
  const jobs = [job("a", EVERY_MINUTE), job("new", EVERY_MINUTE)];
  const first = await world.supervisor.reload(jobs, SETTINGS_DEFAULTS, []).then(
    () => "taken",
    () => "refused",
  );
  const second = await world.supervisor.reload(jobs, SETTINGS_DEFAULTS, []).then(
    ({ unchanged }) => (unchanged === 2 ? "taken for granted" : "taken"),
    () => "refused",
  );
  await world.pass(2 * MINUTE_MS);
  const starts = world.starts("new").length;
  expect({ first, second, starts }).not.toEqual({ first: "refused", second: "taken for granted", starts: 0 });
});

test("S16: a job that is taken out at a start is told so although its run ends at that very moment", async () => {
  const reads = new Reads("gone", "newestVersion");
  const world = new World({ behaviour: forever, between: reads.between });
  await world.boot([job("gone", "1 * * * *")]);
  await world.pass(61 * SECOND_MS);
  world.kill();
  const booting = world.boot([]);
  while (!world.told("gone").includes("adopted")) await turns(1);
  reads.hold();
  await turns();
  const [running] = world.host.running;
  const run = world.host.byAttempt(running?.attemptId ?? "");
  if (run !== null) world.host.kill(run, "SIGKILL");
  await turns();
  reads.release();
  await booting;
  await world.settle();
  expect(world.document("gone").RemovedAt).toBeDefined();
  expect([...(world.disk.definitions.get("gone")?.values() ?? [])].at(-1)?.text).toBeNull();
});

test("a start has begun although a process takes its time to be made", async () => {
  const world = new World({ behaviour: () => ({ armMs: MINUTE_MS }) });
  const jobs = [job("a", EVERY_MINUTE, { policy: { deadline: "50s" } }), job("b", "5 * * * *")];
  await world.boot(jobs);
  world.kill();
  world.clock.advance(61 * SECOND_MS);
  let hasBegun = false;
  const booting = world.boot(jobs).then(() => (hasBegun = true));
  await turns(100);
  const hadBegun = hasBegun;
  void booting;
  expect({ hadBegun, asked: world.requests.length > 0 }).toEqual({ hadBegun: true, asked: true });
});

test("what a reload would change is computed in turns: the loop is not held up", async () => {
  const world = new World();
  const jobs = (command: string) =>
    Array.from({ length: 500 }, (_, n) => job(`job-${n}`, `${n % 60} * * * *`, { command: [command] }));
  await world.boot(jobs("/bin/true"));
  let turn = 0;
  let isDone = false;
  const count = (): void => {
    turn += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await world.supervisor.plan(jobs("/bin/false"), () => false);
  isDone = true;
  expect(turn).toBeGreaterThan(5);
});

test("all jobs are listed in turns: the loop is not held up", async () => {
  const world = new World();
  await world.boot(Array.from({ length: 500 }, (_, n) => job(`job-${n}`, `${n % 60} * * * *`)));
  await world.supervisor.list({ limit: 1 });
  let turn = 0;
  let isDone = false;
  const count = (): void => {
    turn += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await world.supervisor.list();
  isDone = true;
  expect(turn).toBeGreaterThan(5);
});

test("a list that is being made while jobs go away names no job that does not exist", async () => {
  const reads = new Reads("b", "get");
  const world = new World({ between: reads.between });
  await world.boot([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE), job("c", EVERY_MINUTE)]);
  reads.hold();
  const listing = world.supervisor.list();
  await turns(3);
  await world.supervisor.reload([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE)], SETTINGS_DEFAULTS, []);
  reads.release();
  expect((await listing).map(({ identity }) => identity)).toEqual(["a", "b"]);
});

test("a stop during a start leaves no timer behind", async () => {
  const reads = new Reads("a", "get");
  const world = new World({ between: reads.between });
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.supervisor.stop({ graceful: false });
  world.kill();
  expect(world.clock.pendingTimers).toBe(0);
  const booting = world.boot([job("a", EVERY_MINUTE)]).catch(() => undefined);
  const stopping = world.supervisor.stop({ graceful: false });
  await Promise.all([booting, stopping]);
  await world.pass(2 * MINUTE_MS);
  expect(world.starts("a")).toEqual([]);
  expect(world.clock.pendingTimers).toBe(0);
});
