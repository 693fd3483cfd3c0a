import { expect, test } from "vitest";
import { Phase, type PhaseChange } from "../../src/actors/phase.js";
import { KronError } from "../../src/core/base/errors/kron-error.js";

const WRITE_FAILED = new KronError("state-write-failed", "EIO", { component: "persist", operation: "commit" });

function running(): { readonly phase: Phase; readonly changes: readonly PhaseChange[] } {
  const changes: PhaseChange[] = [];
  const phase = new Phase((change) => changes.push(change));
  for (const type of ["CONFIGURED", "LOCKED", "OPENED", "RECOVERED", "READY"] as const) phase.tell({ type });
  return { phase, changes };
}

test("one place says from where to where, and by what; what is no news says nothing", () => {
  const { phase, changes } = running();
  phase.tell({ type: "READY" });
  phase.tell({ type: "STOP", signal: "SIGTERM" });
  phase.tell({ type: "DRAIN", waitsForRuns: true });
  expect(changes.map(({ from, to, on }) => `${from} ${to} ${on}`)).toEqual([
    "booting.configuring booting.locking CONFIGURED",
    "booting.locking booting.opening LOCKED",
    "booting.opening recovering OPENED",
    "recovering introducing RECOVERED",
    "introducing running READY",
    "running draining STOP",
  ]);
});

test("everybody who carries something out does; an event that comes of it waits until the last has", () => {
  const { phase } = running();
  const done: string[] = [];
  phase.carryOut({
    stopScheduling: () => {
      done.push("schedule closed");
      phase.tell({ type: "DRAINED" });
    },
    closeStore: () => done.push("store closed"),
  });
  phase.carryOut({ stopScheduling: () => done.push("sweeper stopped"), drain: () => done.push("draining") });
  phase.tell({ type: "STOP" });
  expect([done, phase.snapshot.value]).toEqual([
    ["schedule closed", "sweeper stopped", "draining", "store closed"],
    "closing",
  ]);
});

test("whoever has left carries nothing out any more", () => {
  const { phase } = running();
  const done: string[] = [];
  phase.carryOut({ drain: () => done.push("one") })();
  phase.carryOut({ drain: () => done.push("two") });
  phase.tell({ type: "STOP" });
  expect(done).toEqual(["two"]);
});

test("ERROR-MODEL: the first failure is the reason, and every later one is none", () => {
  const { phase, changes } = running();
  const reported: unknown[] = [];
  phase.carryOut({ reportError: () => reported.push(phase.failure) });
  phase.fail(WRITE_FAILED);
  phase.fail(new Error("what comes of it"));
  phase.tell({ type: "STOP" });
  expect([reported, phase.failure, phase.trouble, changes.length]).toEqual([
    [WRITE_FAILED],
    WRITE_FAILED,
    WRITE_FAILED,
    6,
  ]);
});

test("what was thrown and is no error of ours ends it as a defect", () => {
  const { phase } = running();
  const thrown = new TypeError("x is not a function");
  phase.fail(thrown);
  expect([phase.snapshot.value, phase.snapshot.context.code, phase.trouble]).toEqual([
    "failed",
    "invariant-broken",
    thrown,
  ]);
  expect(phase.failure).toMatchObject({ code: "invariant-broken", message: "x is not a function" });
});

test("S35: a reload that could not be read is reported, and is no failure", () => {
  const { phase } = running();
  let reported: unknown = null;
  phase.carryOut({ reportError: () => (reported = phase.trouble) });
  const unread = new KronError("worker-died", "again", { component: "planner", operation: "batch" });
  phase.tell({ type: "RELOAD" });
  phase.reject(unread);
  expect([phase.snapshot.value, reported, phase.failure]).toEqual(["running", unread, null]);
});

test("what has a result is carried out when it is asked for, once, and not in a phase that asks for something else", async () => {
  const { phase } = running();
  let count = 0;
  const read = async (): Promise<number> => ++count;
  expect(await phase.request({ type: "RELOAD" }, "reloadConfiguration", read)).toBe(1);
  expect(phase.request({ type: "RELOAD" }, "reloadConfiguration", read)).toBeNull();
  phase.tell({ type: "STOP" });
  expect(phase.request({ type: "READ" }, "changeDefinitions", read)).toBeNull();
  expect(count).toBe(1);
});

test("a life begins with the configuration", async () => {
  const phase = new Phase();
  expect(await phase.request(null, "readConfiguration", async () => phase.snapshot.value)).toEqual({
    booting: "configuring",
  });
});
