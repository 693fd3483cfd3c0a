/** One request to every operation, in an order in which each of them has something to do. */
import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import type { ApiDaemon } from "./daemon.js";

/** Somebody to whom endpoints are sent. */
export interface Receiver {
  readonly url: string;
  close(): void;
}

export async function receiverOf(): Promise<Receiver> {
  const server = http.createServer((_, response) => response.end("thank you"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

export interface Sample {
  readonly op: string;
  readonly method: string;
  /** Below the version. */
  readonly path: string;
  readonly body?: unknown;
  /** Of whoever may. */
  readonly status: number;
}

export interface Things {
  readonly jobId: string;
  readonly endpointId: string;
  readonly runId: string;
  /** Of a key that nobody uses. */
  readonly keyId: string;
}

/** A job, an endpoint and a run of it, of a tenant; `url` is where it is sent. */
export async function thingsOf(daemon: ApiDaemon, tenant: string, url: string): Promise<Things> {
  const { id: jobId } = await daemon.ask<{ id: string }>({ op: "jobs.create", name: `of ${tenant}` }, tenant);
  const wish = { name: "users", url, baselineIntervalMs: 3_600_000 };
  const made = await daemon.ask<{ id: string }>({ op: "endpoints.create", jobId, ...wish }, tenant);
  const from = daemon.krond.lines.length;
  const { runId } = await daemon.ask<{ runId: string }>({ op: "endpoints.run", endpointId: made.id }, tenant);
  await daemon.krond.event("completed", {}, from);
  const { id: keyId } = await daemon.key(tenant, "read");
  return { jobId, endpointId: made.id, runId, keyId };
}

const NO_CLAIM = "aaaaaaaa";
const NO_SESSION = "ps_00000000000_00000000";

/** `identity` is a configured job. */
export function samples(things: Things, identity: string): readonly Sample[] {
  const { jobId, endpointId, runId, keyId } = things;
  const schedule = `/schedules/${encodeURIComponent(identity)}`;
  const rule = { url: "https://hooks.test/told", afterFailures: 2, lateMs: 3_600_000, on: ["failure", "recovered"] };
  const notify = [{ ...rule, headers: { a: "b" }, secretHeaders: { Authorization: "hush" }, signingSecret: "hush" }];
  const [job, endpoint] = [`/jobs/${jobId}`, `/endpoints/${endpointId}`];
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const url = "http://127.0.0.1:1/";
  return [
    { op: "status", method: "GET", path: "/system", status: 200 },
    { op: "plan", method: "GET", path: "/system/plan", status: 200 },
    { op: "list", method: "GET", path: "/schedules", status: 200 },
    { op: "job", method: "GET", path: schedule, status: 200 },
    { op: "run", method: "POST", path: `${schedule}/run`, body: {}, status: 200 },
    { op: "cancel", method: "POST", path: `${schedule}/cancel`, body: {}, status: 200 },
    { op: "pause", method: "POST", path: `${schedule}/pause`, body: { untilAt: later, reason: "test" }, status: 204 },
    { op: "resume", method: "POST", path: `${schedule}/resume`, status: 204 },
    {
      op: "hint",
      method: "POST",
      path: `${schedule}/hints`,
      body: { nextRunAt: later, ttlMs: 7_200_000, reason: "" },
      status: 200,
    },
    { op: "hints", method: "GET", path: `${schedule}/hints`, status: 200 },
    { op: "unhint", method: "DELETE", path: `${schedule}/hints`, status: 200 },
    { op: "history", method: "GET", path: `${schedule}/history`, status: 200 },
    { op: "history_of_all", method: "GET", path: "/history", status: 200 },
    { op: "why", method: "GET", path: `${schedule}/why`, status: 200 },
    { op: "now", method: "GET", path: "/now", status: 200 },
    { op: "forecast", method: "GET", path: "/system/forecast", status: 200 },
    { op: "forecast_who", method: "GET", path: `/system/forecast/who?at=${new Date().toISOString()}`, status: 200 },
    { op: "definition", method: "GET", path: `${schedule}/definition`, status: 200 },
    { op: "upcoming", method: "GET", path: `${schedule}/upcoming`, status: 200 },
    { op: "explain", method: "GET", path: `${schedule}/explain`, status: 200 },
    { op: "log", method: "GET", path: `${schedule}/log`, status: 200 },
    // No page is served by a daemon of these tests.
    { op: "login_link", method: "POST", path: "/system/login-links", body: {}, status: 409 },
    { op: "reload", method: "POST", path: "/system/reload", status: 200 },
    { op: "chronicle", method: "GET", path: "/system/chronicle", status: 200 },
    { op: "keys.create", method: "POST", path: "/keys", body: { scope: "read" }, status: 201 },
    { op: "keys.list", method: "GET", path: "/keys", status: 200 },
    { op: "keys.rotate", method: "POST", path: `/keys/${keyId}/rotate`, status: 201 },
    { op: "keys.revoke", method: "DELETE", path: `/keys/${keyId}`, status: 200 },
    { op: "audit.host", method: "GET", path: "/system/audit", status: 200 },
    { op: "limits.set", method: "PUT", path: "/tenants/another/limits", body: { endpoints: 10 }, status: 200 },
    { op: "tenants.list", method: "GET", path: "/tenants", status: 200 },
    { op: "jobs.create", method: "POST", path: "/jobs", body: { name: "one more", notify }, status: 201 },
    { op: "jobs.list", method: "GET", path: "/jobs", status: 200 },
    { op: "jobs.get", method: "GET", path: job, status: 200 },
    { op: "jobs.update", method: "PATCH", path: job, body: { description: "changed", notify }, status: 200 },
    { op: "jobs.pause", method: "POST", path: `${job}/pause`, status: 200 },
    { op: "jobs.archive", method: "POST", path: `${job}/archive`, status: 200 },
    { op: "jobs.resume", method: "POST", path: `${job}/resume`, status: 200 },
    {
      op: "endpoints.create",
      method: "POST",
      path: `${job}/endpoints`,
      body: { name: "third", url, baselineCron: "0 3 * * *", notify },
      status: 201,
    },
    {
      op: "endpoints.upsert",
      method: "PUT",
      path: `${job}/endpoints/by-name/users`,
      body: { url, baselineIntervalMs: 7_200_000 },
      status: 200,
    },
    { op: "endpoints.list", method: "GET", path: `/endpoints?jobId=${jobId}`, status: 200 },
    { op: "endpoints.get", method: "GET", path: endpoint, status: 200 },
    { op: "endpoints.update", method: "PATCH", path: endpoint, body: { description: "changed", notify }, status: 200 },
    { op: "endpoints.pause", method: "POST", path: `${endpoint}/pause`, body: { pausedUntil: later }, status: 200 },
    { op: "endpoints.resume", method: "POST", path: `${endpoint}/resume`, status: 200 },
    {
      op: "endpoints.hint_interval",
      method: "PUT",
      path: `${endpoint}/hints/interval`,
      body: { intervalMs: 1_800_000, ttlMinutes: 60 },
      status: 200,
    },
    {
      op: "endpoints.hint_oneshot",
      method: "PUT",
      path: `${endpoint}/hints/oneshot`,
      body: { nextRunAt: later, ttlMinutes: 120 },
      status: 200,
    },
    { op: "endpoints.clear_hints", method: "DELETE", path: `${endpoint}/hints`, status: 200 },
    { op: "planner.try", method: "POST", path: `${endpoint}/planner/try`, body: {}, status: 200 },
    { op: "planner.sessions", method: "GET", path: `/planner/sessions?endpointId=${endpointId}`, status: 200 },
    // Nothing was planned.
    { op: "planner.session", method: "GET", path: `/planner/sessions/${NO_SESSION}`, status: 404 },
    { op: "endpoints.run", method: "POST", path: `${endpoint}/run`, status: 201 },
    {
      op: "endpoints.preview",
      method: "POST",
      path: "/endpoints/preview",
      body: { name: "x", url, baselineCron: "0 3 * * *", count: 3 },
      status: 200,
    },
    {
      op: "endpoints.pause_many",
      method: "POST",
      path: "/endpoints/pause",
      body: { jobId, pausedUntil: later },
      status: 200,
    },
    { op: "endpoints.resume_many", method: "POST", path: "/endpoints/resume", body: { jobId }, status: 200 },
    {
      op: "endpoints.hint_many",
      method: "POST",
      path: "/endpoints/hints",
      body: { jobId, intervalMs: 3_600_000, ttlMinutes: 5 },
      status: 200,
    },
    {
      op: "endpoints.clear_hints_many",
      method: "POST",
      path: "/endpoints/hints/clear",
      body: { jobId },
      status: 200,
    },
    { op: "endpoints.runs", method: "GET", path: `${endpoint}/runs`, status: 200 },
    { op: "endpoints.health", method: "GET", path: `${endpoint}/health`, status: 200 },
    { op: "runs.list", method: "GET", path: "/runs", status: 200 },
    { op: "runs.get", method: "GET", path: `/runs/${runId}`, status: 200 },
    { op: "audit.list", method: "GET", path: "/audit", status: 200 },
    { op: "claims.take", method: "POST", path: "/claims", body: { withinMs: 0 }, status: 200 },
    // Nobody has taken it.
    {
      op: "claims.complete",
      method: "POST",
      path: `/claims/${NO_CLAIM}/complete`,
      body: { httpStatus: 200 },
      status: 404,
    },
    { op: "limits.get", method: "GET", path: "/limits", status: 200 },
    { op: "endpoints.delete", method: "DELETE", path: endpoint, status: 204 },
    { op: "jobs.delete", method: "DELETE", path: `${job}?force=true`, status: 204 },
    { op: "stop", method: "POST", path: "/system/stop", body: { graceful: true }, status: 204 },
  ];
}
