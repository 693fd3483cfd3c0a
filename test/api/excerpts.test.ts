/** A host's key sees endpoints of tenants as jobs: what their servers have answered is for those who may act. */
import { expect, test } from "vitest";
import { SCOPES } from "../../src/operations/scope.js";
import { deskApi } from "./support/desk-api.js";

const SAID = "what was said";

test("what a server has answered is shown to keys of the host from write up, and to none that only reads", async () => {
  const api = await deskApi();
  const { desk } = api;
  const { id: jobId } = await desk.job();
  const { id } = await desk.endpoint(jobId, { by: "worker", baselineIntervalMs: 60_000, timeoutMs: 20_000 });
  const claims = desk.workers.take("acme", 1, 120_000);
  await desk.world.pass(64_000);
  expect(await claims).toHaveLength(1);
  for (const { claimId } of await claims) {
    desk.workers.complete("acme", claimId, { kind: "answered", status: 500, bytes: 13, excerpt: SAID });
  }
  await desk.world.pass(1_000);
  const schedule = `/api/v1/schedules/${encodeURIComponent(`endpoint:acme/${jobId}/${id}`)}`;
  const paths = [`${schedule}/history?limit=5`, "/api/v1/history?limit=5"];
  const keys = await Promise.all(SCOPES.map((scope) => api.key({ tenant: undefined, scope })));
  const seen = [];
  for (const path of paths) {
    for (const { key } of keys) {
      const { status, text } = await api.send("GET", path, { key });
      seen.push([path, status, text.includes(SAID)]);
    }
  }
  expect(seen).toEqual(paths.flatMap((path) => SCOPES.map((scope) => [path, 200, scope !== "read"])));
});
