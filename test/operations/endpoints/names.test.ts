/** Endpoints in lists of jobs: under the names that their people gave them. */
import { expect, test } from "vitest";
import { endpointIdentity } from "../../../src/core/endpoint/endpoint-name.js";
import { LIST_ENDPOINTS } from "../../../src/operations/endpoints/endpoints.js";
import { endpointKey } from "../../../src/operations/endpoints/records.js";
import { FORECAST } from "../../../src/operations/forecast/forecast.js";
import { JOB } from "../../../src/operations/jobs/job.js";
import { LIST } from "../../../src/operations/jobs/list.js";
import { NOW } from "../../../src/operations/now/now.js";
import type { Acting } from "../../../src/operations/ports.js";
import { job } from "../../actors/supervisor/world.js";
import { Desk } from "./desk.js";

async function deskWithEndpoint() {
  const desk = await Desk.open({ configured: [job("t/one", "* * * * *")] });
  const { id: jobId } = await desk.job("nightly sync");
  const { id } = await desk.endpoint(jobId, { name: "prices" });
  const identity = endpointIdentity({ tenant: "acme", jobId, endpointId: id });
  return { desk, identity, told: { tenant: "acme", id, job: "nightly sync", name: "prices" } };
}

const ALL = { after: null, limit: 9, filter: { identities: [], standings: [], tags: [] } };

test("a list, one job and the page of now name them; jobs of the configuration are called as they are", async () => {
  const { desk, identity, told } = await deskWithEndpoint();
  const { rows } = await desk.ask<{ rows: readonly object[] }>(LIST, ALL);
  expect(rows).toMatchObject([{ identity, endpoint: told }, { identity: "t/one" }]);
  expect(rows[1]).not.toHaveProperty("endpoint");
  expect(await desk.ask(JOB, { identity })).toMatchObject({ identity, endpoint: told });
  const { lanes } = await desk.ask<{ lanes: readonly { identity: string }[] }>(NOW, {});
  expect(lanes.find((lane) => lane.identity === identity)).toMatchObject({ endpoint: told });
});

test("one that cannot be read has no name, and is listed all the same", async () => {
  const { desk, identity, told } = await deskWithEndpoint();
  await desk.ports.write([{ key: endpointKey("acme", told.id), text: "{" }]);
  const { rows } = await desk.ask<{ rows: readonly { identity: string }[] }>(LIST, ALL);
  expect(rows.map((row) => [row.identity, "endpoint" in row])).toEqual([
    [identity, false],
    ["t/one", false],
  ]);
});

test("a list is searched by them as well", async () => {
  const { desk, identity } = await deskWithEndpoint();
  const found = async (search: string): Promise<readonly string[]> => {
    const asked = { ...ALL, filter: { ...ALL.filter, search } };
    const { rows } = await desk.ask<{ rows: readonly { identity: string }[] }>(LIST, asked);
    return rows.map((row) => row.identity);
  };
  const searched = ["sync / pri", "prices", "endpoint:", "one", "nobody"];
  expect(await Promise.all(searched.map(found))).toEqual([[identity], [identity], [identity], ["t/one"], []]);
});

test("endpoints of a tenant are found by a part of their name", async () => {
  const { desk } = await deskWithEndpoint();
  const { id: jobId } = await desk.job("another");
  await desk.endpoint(jobId, { name: "price list" });
  await desk.endpoint(jobId, { name: "stock" });
  const named = async (search: string): Promise<readonly string[]> => {
    const asked = { cursor: null, limit: 9, search };
    const { rows } = await desk.ask<{ rows: readonly { name: string }[] }>(LIST_ENDPOINTS, asked);
    return rows.map(({ name }) => name).sort();
  };
  expect([await named("price"), await named("st"), await named("x")]).toEqual([
    ["price list", "prices"],
    ["price list", "stock"],
    [],
  ]);
});

test("a forecast names them too, among those who make a minute", async () => {
  const { desk, identity, told } = await deskWithEndpoint();
  const named = [
    { name: identity, starts: 2 },
    { name: "t/one", starts: 1 },
  ];
  const series = { counts: new Uint32Array([3]), total: 3, who: [{ named, others: 0 }] };
  const computed = { jobs: 2, suspended: 0, unschedulable: 0, chosen: series, nominal: series };
  const forecasts = { of: () => Promise.resolve(computed) } as unknown as Acting["forecasts"];
  const asked = FORECAST.input.parse({ fromAt: 0, hours: 1, bucketMs: 3_600_000 });
  const { chosen } = await FORECAST.run(asked, { ...desk.ports, forecasts }, { keyId: null });
  expect(chosen.peaks[0]?.who.named).toEqual([
    { name: identity, starts: 2, endpoint: told },
    { name: "t/one", starts: 1 },
  ]);
});
