/** What a crash has left half-way, where some of it cannot be read: the daemon tells it, and goes on with everything else. */
import { expect, test } from "vitest";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { EndpointAnswer, JobAnswer } from "../../src/operations/endpoints/shapes.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import { BACKENDS } from "../../src/persist/backends.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

async function started(here: Place) {
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  const client = await ControlClient.connect(socketPathIn(here.state));
  if (client === null) throw new Error("no daemon");
  const ask = async <T>(request: OperationRequest): Promise<T> => (await client.ask(request, null, "acme")) as T;
  const end = async (): Promise<unknown> => {
    client.close();
    return krond.kill("SIGTERM");
  };
  return { krond, ask, end };
}

test("an endpoint that cannot be read is told in the log at each start, and ends none", async () => {
  const here = place(job("t/configured", "true"));
  const first = await started(here);
  const { id: jobId } = await first.ask<JobAnswer>({ op: "jobs.create", name: "work" });
  const wish = { op: "endpoints.create", jobId, url: "https://never.invalid/", baselineIntervalMs: 3_600_000 } as const;
  const broken = await first.ask<EndpointAnswer>({ ...wish, name: "broken" });
  const sound = await first.ask<EndpointAnswer>({ ...wish, name: "sound" });
  expect(await first.end()).toBe(0);
  const term = requireOk(acquireDirectoryLock(here.state));
  const store = requireOk(await BACKENDS.lmdb.open(term));
  const paused = (await store.object(`job/acme/${jobId}`))?.text.replace('"status":"active"', '"status":"paused"');
  await store.commit(term, {
    objects: [
      { key: `job/acme/${jobId}`, text: paused ?? "" },
      { key: `endpoint/acme/${broken.id}`, text: "{}" },
      { key: `unsettled/acme/${jobId}`, text: "" },
    ],
  });
  await store.close();
  term.release();
  for (let start = 0; start < 2; start += 1) {
    const again = await started(here);
    const told = await again.krond.event("error", { error_code: "object-unreadable" });
    expect(told).toMatchObject({ operation: "read", fatal: false, message: expect.stringContaining(broken.id) });
    // In the turn of the job: answered when everything else of it is settled.
    await again.ask<JobAnswer>({ op: "jobs.update", jobId, description: `start ${start}` });
    const { status } = await again.ask<EndpointAnswer>({ op: "endpoints.get", endpointId: sound.id });
    expect(status).toBe("held");
    expect(await again.end()).toBe(0);
  }
});
