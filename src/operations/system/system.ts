/** Of the daemon itself: how it is, what a reload would change, the reload, and its end. */
import { z } from "zod";
import type { DaemonStatus } from "../../actors/supervisor/port.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { daemonOperation } from "../operation.js";
import type { NodeStatus } from "../ports.js";
import { CHRONICLE_ANSWER, PLAN_ANSWER, STATUS_ANSWER } from "../shapes/system.js";

export interface StatusAnswer extends DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly stateDirectory: string;
  readonly node?: string;
  readonly nodes?: readonly NodeStatus[];
}

export const STATUS = daemonOperation({
  name: "status",
  summary: "how the daemon is: its jobs, what runs, what is next",
  http: { method: "GET", path: "/system" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({}),
  output: STATUS_ANSWER,
  run: async (_, { among, supervisor, stateDirectory }): Promise<StatusAnswer> => {
    const nodes = among === null ? {} : { node: among.node, nodes: await among.statuses() };
    return { ...supervisor.status(), pid: process.pid, version: ENGINE_VERSION, stateDirectory, ...nodes };
  },
});

export const CHRONICLE = daemonOperation({
  name: "chronicle",
  summary: "what has become of the daemon itself since it started: reloads, and jumps of its clock",
  http: { method: "GET", path: "/system/chronicle" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({}),
  output: CHRONICLE_ANSWER,
  run: async (_, { chronicle, reader, supervisor, term }) => {
    const { bootedAt } = supervisor.status();
    const { reloads, clockJumps } = chronicle;
    return {
      bootedAt,
      lock: { place: term.place, isHeld: !term.isReleased },
      storeBytes: await reader.size().catch(() => null),
      zoneData: zoneDataVersion(),
      reloads,
      clockJumps,
    };
  },
});

export const PLAN = daemonOperation({
  name: "plan",
  summary: "what a reload would change",
  http: { method: "GET", path: "/system/plan" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ onThisHost: z.boolean().optional() }),
  output: PLAN_ANSWER,
  run: ({ onThisHost }, { plan }) => plan(onThisHost === true),
});

export const RELOAD = daemonOperation({
  name: "reload",
  summary: "reads the configuration again and puts it in force",
  http: { method: "POST", path: "/system/reload" },
  isDestructive: true,
  access: "admin",
  beginsSomething: true,
  input: z.strictObject({}),
  output: PLAN_ANSWER,
  run: (_, { reload }) => reload(),
});

export const STOP = daemonOperation({
  name: "stop",
  summary: "ends the daemon",
  http: { method: "POST", path: "/system/stop" },
  isDestructive: true,
  audited: "before",
  access: "admin",
  beginsSomething: false,
  input: z.strictObject({ graceful: z.boolean() }),
  output: z.null(),
  run: async ({ graceful }, { stop }) => {
    stop(graceful);
    return null;
  },
});
