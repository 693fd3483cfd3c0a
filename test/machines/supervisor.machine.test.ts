import { describe, expect, it } from "vitest";
import { initialTransition, transition } from "xstate";
import { supervisorMachine } from "../../src/machines/supervisor.machine.js";
import { exitStatus, type SupervisorEvent } from "../../src/machines/supervisor-logic.js";

const CONFIGURED: SupervisorEvent = { type: "CONFIGURED" };
const LOCKED: SupervisorEvent = { type: "LOCKED" };
const OPENED: SupervisorEvent = { type: "OPENED" };
const RECOVERED: SupervisorEvent = { type: "RECOVERED" };
const RELOAD: SupervisorEvent = { type: "RELOAD" };
const RELOADED: SupervisorEvent = { type: "RELOADED" };
const REJECTED: SupervisorEvent = { type: "REJECTED" };
const DRAIN: SupervisorEvent = { type: "DRAIN", waitsForRuns: false };
const DRAINED: SupervisorEvent = { type: "DRAINED" };
const STOP: SupervisorEvent = { type: "STOP" };
const WRITE_FAILED: SupervisorEvent = { type: "FAILED", code: "state-write-failed" };
const LAUNCHER_DIED: SupervisorEvent = { type: "FAILED", code: "launcher-died" };
const LOCK_HELD: SupervisorEvent = { type: "FAILED", code: "lock-held" };
const BAD_CONFIG: SupervisorEvent = { type: "FAILED", code: "cron-syntax" };
const BAD_STATE: SupervisorEvent = { type: "FAILED", code: "state-incompatible" };
const UP = [CONFIGURED, LOCKED, OPENED, RECOVERED];

function follow(events: readonly SupervisorEvent[]): readonly [state: string, last: string, status: number] {
  let [snapshot, actions] = initialTransition(supervisorMachine);
  for (const event of events) {
    [snapshot, actions] = transition(supervisorMachine, snapshot, event);
  }
  const [state = ""] = typeof snapshot.value === "string" ? [snapshot.value] : Object.keys(snapshot.value);
  return [state, actions.map((action) => action.type).join(" "), exitStatus(snapshot.context)];
}

describe("supervisor", () => {
  it.each<[title: string, events: readonly SupervisorEvent[], state: string, effects: string, status: number]>([
    ["the configuration is read before anything is touched", [], "booting", "readConfiguration", 0],
    ["S33: then the lock", [CONFIGURED], "booting", "takeLock", 0],
    ["then the store", [CONFIGURED, LOCKED], "booting", "openStore", 0],
    ["STATE crash recovery comes before scheduling", [CONFIGURED, LOCKED, OPENED], "recovering", "recoverRuns", 0],
    ["only then anything is scheduled", UP, "running", "startScheduling", 0],
    [
      "S35: invalid configuration refuses the start",
      [BAD_CONFIG],
      "failed",
      "stopScheduling closeGates reportError",
      2,
    ],
    [
      "S33: a held lock refuses the start",
      [CONFIGURED, LOCK_HELD],
      "failed",
      "stopScheduling closeGates reportError",
      4,
    ],
    [
      "S32: unusable state refuses the start",
      [CONFIGURED, LOCKED, BAD_STATE],
      "failed",
      "stopScheduling closeGates reportError",
      3,
    ],
    [
      "ERROR-MODEL: a failed write is fatal",
      [...UP, WRITE_FAILED],
      "failed",
      "stopScheduling closeGates reportError",
      5,
    ],
    [
      "ERROR-MODEL: also while recovering",
      [CONFIGURED, LOCKED, OPENED, WRITE_FAILED],
      "failed",
      "stopScheduling closeGates reportError",
      5,
    ],
    [
      "ERROR-MODEL: also while draining",
      [...UP, DRAIN, WRITE_FAILED],
      "failed",
      "stopScheduling closeGates reportError",
      5,
    ],
    ["ERROR-MODEL: what is not fatal is reported", [...UP, LAUNCHER_DIED], "running", "reportError", 0],
    ["reload", [...UP, RELOAD], "reloading", "reloadConfiguration", 0],
    ["reloaded: scheduling was never interrupted", [...UP, RELOAD, RELOADED], "running", "", 0],
    ["S35: rejected: the old definitions stay in force", [...UP, RELOAD, REJECTED], "running", "reportError", 0],
    ["reload during a reload starts over", [...UP, RELOAD, RELOAD], "reloading", "reloadConfiguration", 0],
    ["drain during a reload", [...UP, RELOAD, DRAIN], "draining", "stopScheduling closeGates", 0],
    ["drain", [...UP, DRAIN], "draining", "stopScheduling closeGates", 0],
    ["drained", [...UP, DRAIN, DRAINED], "stopped", "stopScheduling closeGates closeStore", 0],
    ["a second request stops now", [...UP, DRAIN, STOP], "stopped", "stopScheduling closeGates closeStore", 0],
    ["stopped before it ran", [CONFIGURED, STOP], "stopped", "stopScheduling closeGates closeStore", 0],
    [
      "ERROR-MODEL: nothing is scheduled after a fatal error",
      [...UP, WRITE_FAILED, RECOVERED, RELOAD, DRAIN],
      "failed",
      "",
      5,
    ],
  ])("%s", (_title, events, state, effects, status) => {
    expect(follow(events)).toEqual([state, effects, status]);
  });
});
