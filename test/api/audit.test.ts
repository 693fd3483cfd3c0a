/** Who has changed what, and when: kept for each tenant by itself, whichever way it was asked for, and bounded. */
import { beforeAll, describe, expect, test } from "vitest";
import { AuditTrail } from "../../src/operations/audit/trail.js";
import { OPERATION_LIMITS } from "../../src/operations/limits.js";
import type { Operation } from "../../src/operations/operation.js";
import { operationNamed } from "../../src/operations/registry.js";
import { job } from "../support/place.js";
import { apiDaemon } from "./support/daemon.js";
import { deskApi } from "./support/desk-api.js";

const DAY_MS = 24 * 3_600_000;
const ENDPOINT = {
  name: "users",
  url: "https://hooks.test/users",
  baselineIntervalMs: 300_000,
  secretHeaders: { Authorization: "Bearer s3cr3t" },
};

interface Row {
  readonly at: string;
  readonly operation: string;
  readonly keyId: string | null;
  readonly about: Readonly<Record<string, string>>;
  readonly fields: readonly string[];
  readonly version: number | null;
}

describe("the record of changes", () => {
  test("says of each who made it, when, of what and which fields; of nothing else, and no secret", async () => {
    const api = await deskApi();
    const [writer, admin] = [await api.key({ scope: "write" }), await api.key({ scope: "admin" })];
    const ask = (method: string, path: string, body?: object) =>
      api.send(method, `/api/v1${path}`, { key: writer.key, ...(body && { body }) });
    const { id: jobId } = (await ask("POST", "/jobs", { name: "sync" })).body;
    const { id } = (await ask("POST", `/jobs/${jobId}/endpoints`, ENDPOINT)).body;
    await api.desk.world.pass(60_000, 60_000);
    // What is refused, rehearsed or only looked at has changed nothing.
    expect((await ask("POST", "/jobs", { name: "sync" })).status).toBe(409);
    expect((await ask("PATCH", `/endpoints/${id}?dryRun=true`, { timeoutMs: 1 })).status).toBe(200);
    expect((await ask("GET", `/endpoints/${id}`)).status).toBe(200);
    expect((await ask("PATCH", `/endpoints/${id}`, { timeoutMs: 5_000, description: "x" })).status).toBe(200);
    expect((await ask("DELETE", `/endpoints/${id}`)).status).toBe(204);
    const { status, body, text } = await api.send("GET", "/api/v1/audit", { key: admin.key });
    expect(status).toBe(200);
    const rows: readonly Row[] = body.rows;
    const about = { endpointId: id };
    expect(rows.map(({ fields: _, ...row }) => row)).toMatchObject([
      { operation: "endpoints.delete", about, version: null, at: "2026-03-01T00:01:01Z" },
      { operation: "endpoints.update", about, version: 2, at: "2026-03-01T00:01:01Z" },
      { operation: "endpoints.create", about: { jobId, id, name: "users" }, version: 1, at: "2026-03-01T00:00:01Z" },
      { operation: "jobs.create", about: { id: jobId, name: "sync" }, version: 1 },
    ]);
    expect(new Set(rows.map(({ keyId }) => keyId))).toEqual(new Set([writer.id]));
    expect([...(rows[1]?.fields ?? [])].sort()).toEqual(["description", "timeoutMs"]);
    expect(rows[2]?.fields).toContain("secretHeaders");
    for (const secret of ["s3cr3t", "hooks.test", "kron_"]) expect(text).not.toContain(secret);
    // It is for admins, and each tenant has its own.
    expect((await api.send("GET", "/api/v1/audit", { key: writer.key })).status).toBe(403);
    const other = await api.key({ tenant: "other", scope: "admin" });
    expect((await api.send("GET", "/api/v1/audit", { key: other.key })).body.rows).toEqual([]);
  });

  test("comes page by page, and up to an instant", async () => {
    const api = await deskApi();
    const { key } = await api.key({ scope: "admin" });
    for (let at = 0; at < 5; at++) {
      await api.send("POST", "/api/v1/jobs", { key, body: { name: `job ${at}` } });
      await api.desk.world.pass(1_000);
    }
    const get = async (query: string) => (await api.send("GET", `/api/v1/audit?${query}`, { key })).body;
    const first = await get("limit=3");
    const second = await get(`limit=3&cursor=${first.next}`);
    const names = (page: { rows: readonly Row[] }) => page.rows.map(({ about }) => about["name"]);
    expect([...names(first), ...names(second), second.next]).toEqual([
      "job 4",
      "job 3",
      "job 2",
      "job 1",
      "job 0",
      null,
    ]);
    expect(names(await get("until=2026-03-01T00:00:02Z"))).toEqual(["job 1", "job 0"]);
    expect((await api.send("GET", "/api/v1/audit?cursor=x", { key })).status).toBe(400);
  });

  test("is bounded by age and by count", async () => {
    const { desk } = await deskApi();
    const { clock } = desk.world;
    const trail = new AuditTrail({ ...desk.ports });
    const operation = operationNamed("jobs.update") as Operation;
    const caller = { tenant: "acme", keyId: null, scope: "admin" } as const;
    const note = (name: string) => trail.note({ operation, input: { name }, answer: null }, caller);
    const kept = (): string[] =>
      [...desk.world.disk.objects.keys()].filter((key) => key.startsWith("audit/tenant/acme/"));
    await note("old");
    clock.advance(OPERATION_LIMITS.auditMs - DAY_MS);
    const most = OPERATION_LIMITS.auditRecords + OPERATION_LIMITS.auditSpare;
    for (let at = 0; at < most; at++) {
      clock.advance(1);
      await note(`job ${at}`);
    }
    expect(kept().length).toBeGreaterThan(OPERATION_LIMITS.auditRecords - OPERATION_LIMITS.auditSpare);
    expect(kept().length).toBeLessThanOrEqual(most + 1);
    // The newest stay.
    const newest = desk.world.disk.objects.get(kept().sort()[0] ?? "") ?? "";
    expect(newest).toContain(`job ${most - 1}`);
    clock.advance(OPERATION_LIMITS.auditMs + DAY_MS);
    await new AuditTrail({ ...desk.ports }).note({ operation, input: { name: "new" }, answer: null }, caller);
    expect(kept()).toHaveLength(1);
  });
});

describe("of a real daemon", () => {
  const daemon = apiDaemon({ jobs: job("t/good", "true") });
  let host = "";
  beforeAll(async () => {
    host = (await daemon.key(null, "admin")).key;
  });

  test("what is asked over the control socket is on record as well, also what ended the daemon", async () => {
    const { id } = await daemon.key("acme", "read");
    const body = { untilAt: new Date(Date.now() + 3_600_000).toISOString(), reason: "test" };
    await daemon.send("POST", "/api/v1/schedules/t%2Fgood/pause", { key: host, body });
    expect((await daemon.send("POST", "/api/v1/system/stop", { key: host, body: { graceful: false } })).status).toBe(
      204,
    );
    expect(await daemon.krond.ended).toBe(0);
    await daemon.crash();
    await daemon.start();
    const { rows } = (await daemon.send("GET", "/api/v1/system/audit", { key: host })).body;
    expect(rows).toMatchObject([
      { operation: "stop", keyId: host.slice(5, 13) },
      { operation: "pause", about: { identity: "t/good" }, fields: ["untilAt", "reason", "catchUp"] },
      { operation: "keys.create", about: { id, tenant: "acme" }, keyId: null, scope: "admin" },
      { operation: "keys.create" },
    ]);
  });
});
