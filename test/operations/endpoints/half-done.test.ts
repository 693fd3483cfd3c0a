/** What is done of a change while somebody of several nodes cannot be asked: it is on record, and told as what may have been done. */
import { expect, test } from "vitest";
import type { Supervisor } from "../../../src/actors/supervisor/port.js";
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { answerAsked } from "../../../src/operations/answer.js";
import { auditOf } from "../../../src/operations/audit/record.js";
import { CREATE_ENDPOINT, LIST_ENDPOINTS, UPDATE_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { PAUSE_JOB } from "../../../src/operations/endpoints/jobs.js";
import { PAUSE_ENDPOINTS } from "../../../src/operations/endpoints/many.js";
import { PAUSE_ENDPOINT } from "../../../src/operations/endpoints/standing.js";
import type { Operation } from "../../../src/operations/operation.js";
import type { Acting, AmongNodes } from "../../../src/operations/ports.js";
import { Desk } from "./desk.js";

const CALLER = { tenant: "acme", keyId: null, scope: "admin" } as const;
const UNTIL = "2099-01-01T00:00:00Z";

function unattended(): Promise<never> {
  return Promise.reject(
    new KronError("job-unattended", "no node looks after it now", { component: "scheduler", operation: "ask" }),
  );
}

/** Among several nodes, a daemon whose supervisor finds nobody who does this. */
async function without(name: keyof Supervisor, from = 0) {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job("sync");
  const ids: string[] = [];
  for (const each of ["one", "two"]) ids.push((await desk.endpoint(jobId, { name: each })).id);
  let calls = 0;
  const supervisor = new Proxy(desk.ports.supervisor, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      if (property === name && ++calls > from) return unattended;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const ports: Acting = { ...desk.ports, supervisor, among: {} as AmongNodes };
  const ask = async (operation: unknown, input: object): Promise<string> => {
    const asked = operation as Operation;
    return answerAsked({ operation: asked, input: asked.input.parse(input) }, ports, CALLER).then(
      () => "done",
      (error: unknown) => (error instanceof KronError ? error.code : String(error)),
    );
  };
  const changes = async (): Promise<readonly string[]> => {
    const records = await desk.ports.reader.objects({ prefix: auditOf("acme"), limit: 100 });
    return records.map(({ text }) => (JSON.parse(text) as { operation: string }).operation);
  };
  return { desk, jobId, ids, ask, changes };
}

test("what is made or changed while nobody can say how it stands is done, told of by the record, and recorded", async () => {
  const { desk, jobId, ids, ask, changes } = await without("list");
  const wish = { name: "three", url: "https://hooks.test/", baselineIntervalMs: 60_000 };
  expect(await ask(CREATE_ENDPOINT, { jobId, ...wish })).toBe("done");
  expect(await ask(UPDATE_ENDPOINT, { endpointId: ids[0], description: "x" })).toBe("done");
  expect(await ask(PAUSE_ENDPOINT, { endpointId: ids[0], pausedUntil: UNTIL })).toBe("done");
  expect((await changes()).toSorted()).toEqual(["endpoints.create", "endpoints.pause", "endpoints.update"]);
  const { rows } = await desk.ask(LIST_ENDPOINTS, { cursor: null, limit: 10 });
  expect(rows.map(({ name, description }) => `${name} ${description}`).toSorted()).toEqual(["one x", "three ", "two "]);
});

test("what holds for many, and could not be brought to all, is on record, and nobody is told that it was not done", async () => {
  const { jobId, ask, changes } = await without("define", 1);
  expect(await ask(PAUSE_JOB, { jobId })).toBe("node-silent");
  expect(await changes()).toEqual(["jobs.pause"]);
  const many = await without("pause", 1);
  expect(await many.ask(PAUSE_ENDPOINTS, { jobId: many.jobId, pausedUntil: UNTIL })).toBe("node-silent");
  expect(await many.changes()).toEqual(["endpoints.pause_many"]);
});

test("what nobody was asked to do is told as not done, and is on no record", async () => {
  const { ids, ask, changes } = await without("pause");
  expect(await ask(PAUSE_ENDPOINT, { endpointId: ids[0], pausedUntil: UNTIL })).toBe("job-unattended");
  expect(await changes()).toEqual([]);
});
