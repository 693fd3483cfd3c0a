/**
 * Every tool with an input that it carries out, in an order in which each has something to do. What only reads may be left out
 * here: its input is made of what it cannot do without.
 */
import type { Client, Tool } from "@modelcontextprotocol/client";
import { call, refusalIn, textOf } from "./mcp-daemon.js";

/** Answers by tool, of the last call of each. */
type Seen = ReadonlyMap<string, Readonly<Record<string, unknown>>>;
type Step = readonly [tool: string, fields: (seen: Seen) => object, refusedAs?: string];

const HOUR_MS = 3_600_000;
/** Nothing listens there, and nothing is ever due. */
const ENDPOINT = { name: "ping", url: "http://127.0.0.1:9/", baselineCron: "0 0 1 1 *" };

function id(seen: Seen, tool: string): string {
  return String(seen.get(tool)?.["id"]);
}

function later(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

export const HOST_STEPS: readonly Step[] = [
  ["status", () => ({})],
  ["list", () => ({ search: "good", limit: 5 })],
  ["job", () => ({ identity: "t/good" })],
  ["plan", () => ({})],
  ["reload", () => ({})],
  ["run", () => ({ identity: "t/long" })],
  ["cancel", () => ({ identity: "t/long" })],
  ["pause", () => ({ identity: "t/good", untilAt: later(HOUR_MS), reason: "a test" })],
  ["resume", () => ({ identity: "t/good" })],
  ["hint", () => ({ identity: "t/good", intervalMs: 2 * HOUR_MS, ttlMs: HOUR_MS, reason: "a test" })],
  ["hints", () => ({ identity: "t/good" })],
  ["unhint", () => ({ identity: "t/good" })],
  ["history", () => ({ identity: "t/good" })],
  ["history_of_all", () => ({})],
  ["why", () => ({ identity: "t/good" })],
  ["limits_set", () => ({ tenant: "other", endpoints: 10 })],
  ["tenants_list", () => ({})],
  ["keys_list", () => ({})],
  ["keys_revoke", (seen) => ({ id: keyNamed(seen, "to be revoked") })],
];

export const TENANT_STEPS: readonly Step[] = [
  ["jobs_create", () => ({ name: "watch" })],
  ["jobs_get", (seen) => ({ jobId: id(seen, "jobs_create") })],
  ["jobs_list", () => ({})],
  ["jobs_update", (seen) => ({ jobId: id(seen, "jobs_create"), description: "changed" })],
  ["endpoints_create", (seen) => ({ jobId: id(seen, "jobs_create"), ...ENDPOINT })],
  ["endpoints_upsert", (seen) => ({ jobId: id(seen, "jobs_create"), ...ENDPOINT, description: "again" })],
  ["endpoints_get", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  ["endpoints_list", () => ({})],
  ["endpoints_update", (seen) => ({ endpointId: id(seen, "endpoints_create"), description: "changed" })],
  ["endpoints_pause", (seen) => ({ endpointId: id(seen, "endpoints_create"), pausedUntil: later(HOUR_MS) })],
  ["endpoints_resume", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  [
    "endpoints_hint_interval",
    (seen) => ({ endpointId: id(seen, "endpoints_create"), intervalMs: HOUR_MS, ttlMinutes: 60 }),
  ],
  ["endpoints_hint_oneshot", (seen) => ({ endpointId: id(seen, "endpoints_create"), nextRunAt: later(24 * HOUR_MS) })],
  ["endpoints_clear_hints", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  ["endpoints_preview", () => ENDPOINT],
  ["endpoints_pause_many", (seen) => ({ jobId: id(seen, "jobs_create"), pausedUntil: later(HOUR_MS) })],
  ["endpoints_resume_many", (seen) => ({ jobId: id(seen, "jobs_create") })],
  ["endpoints_hint_many", (seen) => ({ jobId: id(seen, "jobs_create"), intervalMs: HOUR_MS, ttlMinutes: 5 })],
  ["endpoints_clear_hints_many", (seen) => ({ jobId: id(seen, "jobs_create"), hintKind: "all" })],
  ["endpoints_run", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  ["endpoints_runs", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  ["runs_list", () => ({})],
  ["runs_get", (seen) => ({ runId: seen.get("endpoints_run")?.["runId"] ?? seen.get("endpoints_run")?.["id"] })],
  ["endpoints_health", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  ["limits_get", () => ({})],
  ["planner_try", (seen) => ({ endpointId: id(seen, "endpoints_create"), planner: "rules" })],
  // Nobody has planned anything yet.
  ["planner_session", () => ({ sessionId: `ps_${"0".repeat(11)}_${"0".repeat(8)}` }), "not-found"],
  ["jobs_pause", (seen) => ({ jobId: id(seen, "jobs_create") })],
  ["jobs_resume", (seen) => ({ jobId: id(seen, "jobs_create") })],
  ["jobs_archive", (seen) => ({ jobId: id(seen, "jobs_create") })],
  ["endpoints_delete", (seen) => ({ endpointId: id(seen, "endpoints_create") })],
  ["jobs_delete", (seen) => ({ jobId: id(seen, "jobs_create"), force: true })],
];

/** Fields that tools which only read cannot do without. */
const NEEDED: Readonly<Record<string, () => unknown>> = { identity: () => "t/good", at: () => later(0) };

/** With those that are listed besides, and only read. */
export function withReaders(steps: readonly Step[], tools: readonly Tool[]): readonly Step[] {
  const known = new Set(steps.map(([tool]) => tool));
  const readers = tools.filter(({ name, annotations }) => !known.has(name) && annotations?.readOnlyHint === true);
  const more = readers.map(({ name, inputSchema }): Step => {
    const needed = (inputSchema as { readonly required?: readonly string[] }).required ?? [];
    return [name, () => Object.fromEntries(needed.map((field) => [field, NEEDED[field]?.()]))];
  });
  return [...steps, ...more];
}

/** The end of the daemon, and of everything else that is asked of it. */
export const LAST_STEP: Step = ["stop", () => ({ graceful: true })];

function keyNamed(seen: Seen, name: string): unknown {
  const rows = seen.get("keys_list")?.["rows"] as readonly { readonly id: string; readonly name: string }[];
  return rows.find((row) => row.name === name)?.id;
}

/** What went wrong where, and nothing else. The client itself holds each answer against the schema of its tool. */
export async function walk(client: Client, steps: readonly Step[]): Promise<readonly unknown[]> {
  const seen = new Map<string, Readonly<Record<string, unknown>>>();
  const trouble: unknown[] = [];
  for (const [tool, fieldsOf, refusedAs] of steps) {
    const result = await call(client, tool, fieldsOf(seen));
    const refused = refusalIn(result);
    if (refused?.code !== refusedAs) trouble.push({ tool, refused, refusedAs });
    if (refused !== null) continue;
    if (result.structuredContent === undefined) {
      if (textOf(result) !== "done") trouble.push({ tool, text: textOf(result) });
    } else {
      seen.set(tool, result.structuredContent as Readonly<Record<string, unknown>>);
      if (textOf(result) !== JSON.stringify(result.structuredContent)) trouble.push({ tool, told: "two things" });
    }
  }
  return trouble;
}

export interface Mistake {
  readonly tool: string;
  readonly fields: object;
  /** What has to be named. */
  readonly pointer: string;
}

/** From the schema that a tool is listed with: each field of a kind that it is not, each that is missing, one that is not there. */
export function mistakesOf({ name, inputSchema }: Tool): readonly Mistake[] {
  const { properties = {}, required = [] } = inputSchema as {
    readonly properties?: object;
    readonly required?: readonly string[];
  };
  const fields = Object.keys(properties);
  const wrong = fields.map((field) => ({ tool: name, fields: { [field]: [{ wrong: true }] }, pointer: `/${field}` }));
  const missing = required.map((field) => ({ tool: name, fields: {}, pointer: `/${field}` }));
  return [...wrong, ...missing, { tool: name, fields: { noSuchField: 1 }, pointer: "/noSuchField" }];
}
