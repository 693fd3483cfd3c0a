import { describe, expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { supervisorMachine } from "../../src/machines/supervisor.machine.js";
import { exitStatus, type SupervisorEvent } from "../../src/machines/supervisor-logic.js";

const CONFIGURED: SupervisorEvent = { type: "CONFIGURED" };
const LOCKED: SupervisorEvent = { type: "LOCKED" };
const OPENED: SupervisorEvent = { type: "OPENED" };
const RECOVERED: SupervisorEvent = { type: "RECOVERED" };
const RELOAD: SupervisorEvent = { type: "RELOAD" };
const READY: SupervisorEvent = { type: "READY" };
const READ: SupervisorEvent = { type: "READ" };
const RELOADED: SupervisorEvent = { type: "RELOADED" };
const REJECTED: SupervisorEvent = { type: "REJECTED" };
const UNREAD: SupervisorEvent = { type: "REJECTED", code: "worker-died" };
const UNREAD_STATE: SupervisorEvent = { type: "REJECTED", code: "state-unreadable" };
const DRAIN: SupervisorEvent = { type: "DRAIN", waitsForRuns: false };
const CLOSED: SupervisorEvent = { type: "CLOSED" };
const DRAINED: SupervisorEvent = { type: "DRAINED" };
const STOP: SupervisorEvent = { type: "STOP" };
const WRITE_FAILED: SupervisorEvent = { type: "FAILED", code: "state-write-failed" };
const LAUNCHER_DIED: SupervisorEvent = { type: "FAILED", code: "launcher-died" };
const LOCK_HELD: SupervisorEvent = { type: "FAILED", code: "lock-held" };
const BAD_CONFIG: SupervisorEvent = { type: "FAILED", code: "cron-syntax" };
const BAD_STATE: SupervisorEvent = { type: "FAILED", code: "state-incompatible" };
const SCHEDULING = [CONFIGURED, LOCKED, OPENED, RECOVERED];
const UP = [...SCHEDULING, READY];
const GIVEN_UP = "stopScheduling halt closeGates reportError";

function follow(events: readonly SupervisorEvent[]): readonly [state: string, last: string, status: number] {
  let [snapshot, actions] = initialTransition(supervisorMachine);
  for (const event of events) {
    [snapshot, actions] = transition(supervisorMachine, snapshot, event);
  }
  const [state = ""] = typeof snapshot.value === "string" ? [snapshot.value] : Object.keys(snapshot.value);
  return [state, actions.map((action) => action.type).join(" "), exitStatus(snapshot.context)];
}

describe("supervisor", () => {
  test.each<[title: string, events: readonly SupervisorEvent[], state: string, effects: string, status: number]>([
    ["the configuration is read before anything is touched", [], "booting", "readConfiguration", 0],
    ["S33: then the lock", [CONFIGURED], "booting", "takeLock", 0],
    ["then the store", [CONFIGURED, LOCKED], "booting", "openStore", 0],
    ["STATE crash recovery comes before scheduling", [CONFIGURED, LOCKED, OPENED], "recovering", "recoverRuns", 0],
    ["only then anything is scheduled", SCHEDULING, "introducing", "startScheduling", 0],
    ["and when every job knows its definition, it is ready", UP, "running", "", 0],
    ["S35: invalid configuration refuses the start", [BAD_CONFIG], "failed", GIVEN_UP, 2],
    ["S33: a held lock refuses the start", [CONFIGURED, LOCK_HELD], "failed", GIVEN_UP, 4],
    ["S32: unusable state refuses the start", [CONFIGURED, LOCKED, BAD_STATE], "failed", GIVEN_UP, 3],
    ["ERROR-MODEL: a failed write is fatal", [...UP, WRITE_FAILED], "failed", GIVEN_UP, 5],
    ["ERROR-MODEL: also while recovering", [CONFIGURED, LOCKED, OPENED, WRITE_FAILED], "failed", GIVEN_UP, 5],
    ["ERROR-MODEL: also while jobs are told", [...SCHEDULING, WRITE_FAILED], "failed", GIVEN_UP, 5],
    ["ERROR-MODEL: also while reading", [...UP, RELOAD, WRITE_FAILED], "failed", GIVEN_UP, 5],
    ["ERROR-MODEL: also while draining", [...UP, DRAIN, WRITE_FAILED], "failed", GIVEN_UP, 5],
    ["ERROR-MODEL: also while closing", [...UP, DRAIN, DRAINED, WRITE_FAILED], "failed", GIVEN_UP, 5],
    ["what ends it, whatever the registry calls it", [...UP, LAUNCHER_DIED], "failed", GIVEN_UP, 5],
    ["reload", [...UP, RELOAD], "reloading", "reloadConfiguration", 0],
    ["read: now definitions change", [...UP, RELOAD, READ], "reloading", "changeDefinitions", 0],
    ["reloaded: scheduling was never interrupted", [...UP, RELOAD, READ, RELOADED], "running", "", 0],
    ["S35: what is invalid keeps its definition", [...UP, RELOAD, READ, REJECTED], "running", "", 0],
    ["ERROR-MODEL: what is not fatal is reported", [...UP, RELOAD, UNREAD], "running", "reportError", 0],
    ["nothing was read, and that is fatal", [...UP, RELOAD, UNREAD_STATE], "failed", GIVEN_UP, 3],
    ["nobody could say what is in force", [...UP, RELOAD, READ, UNREAD], "failed", GIVEN_UP, 5],
    ["reload during a reload waits for its turn", [...UP, RELOAD, RELOAD], "reloading", "", 0],
    ["no reload before all is known", [...SCHEDULING, RELOAD], "introducing", "", 0],
    ["drain during a reload", [...UP, RELOAD, DRAIN], "draining", "stopScheduling drain", 0],
    ["drain while definitions change", [...UP, RELOAD, READ, DRAIN], "draining", "stopScheduling drain", 0],
    ["S29: a reload is overtaken", [...UP, RELOAD, READ, STOP, UNREAD], "draining", "", 0],
    ["S29: a reload that ends late", [...UP, RELOAD, READ, STOP, RELOADED], "draining", "", 0],
    ["a reload is overtaken, and fatal", [...UP, RELOAD, STOP, UNREAD_STATE], "failed", GIVEN_UP, 3],
    ["drain", [...UP, DRAIN], "draining", "stopScheduling drain", 0],
    ["a request to stop drains", [...UP, STOP], "draining", "stopScheduling drain", 0],
    ["a graceful one does not stop it at once", [...UP, STOP, DRAIN], "draining", "", 0],
    ["drained", [...UP, DRAIN, DRAINED], "closing", "halt closeStore", 0],
    ["closed", [...UP, DRAIN, DRAINED, CLOSED], "stopped", "end", 0],
    ["a second request stops now", [...UP, DRAIN, STOP], "stopped", "end", 0],
    ["also while everything is closed", [...UP, STOP, DRAINED, STOP], "stopped", "end", 0],
    ["stopped before it ran", [CONFIGURED, STOP], "stopped", "end", 0],
    ["stopped while it recovers", [CONFIGURED, LOCKED, OPENED, STOP], "stopped", "end", 0],
    ["stopped before anybody reached it", [...SCHEDULING, STOP], "stopped", "end", 0],
    [
      "ERROR-MODEL: nothing is scheduled after a fatal error",
      [...UP, WRITE_FAILED, RECOVERED, READY, RELOAD, DRAIN, STOP],
      "failed",
      "",
      5,
    ],
  ])("%s", (_title, events, state, effects, status) => {
    expect(follow(events)).toEqual([state, effects, status]);
  });
});
