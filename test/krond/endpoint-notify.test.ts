/** Tenants are told of their endpoints, by a real daemon and over real HTTP: when one fails, when it recovers, and no more. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { apiDaemon } from "../api/support/daemon.js";
import { answer, type Hit, WELL, wildServers } from "../support/wild-server.js";

const daemon = apiDaemon({ args: ["--api-rate", "10000", "--allow-private"] });
const server = wildServers();
const SECRET = "whsec that nobody is shown";
const NEVER_MS = 31 * 24 * 3_600_000;

type Row = Readonly<Record<string, unknown>>;

function messages(hits: readonly Hit[]): readonly Row[] {
  return hits.map(({ body }) => JSON.parse(body) as Row);
}

/** An endpoint whose target answers as it is told to, and runs when it is asked to. */
async function place(name: string, notify: readonly object[] | null, job: object = {}) {
  let status = 503;
  const target = await server((socket) => answer(socket, status, "as told"));
  const { key } = await daemon.key(name, "write");
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await daemon.send(method, `/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
    expect(reply).toMatchObject({ status: expect.toSatisfy((code: number) => code < 300) });
    return reply.body;
  };
  const { id: jobId } = await ask("POST", "/jobs", { name: "billing", ...job });
  const wish = { name: "sync", url: target.url, baselineIntervalMs: NEVER_MS, notify };
  const endpoint = await ask("POST", `/jobs/${jobId}/endpoints`, wish);
  const run = async (code: number): Promise<void> => {
    status = code;
    const { run: ended } = await ask("POST", `/endpoints/${endpoint.id}/run?wait=60`);
    expect(ended.httpStatus).toBe(code);
  };
  const health = () => ask("GET", `/endpoints/${endpoint.id}/health`);
  return { ask, run, health, jobId, endpoint, key, identity: `endpoint:${name}/${jobId}/${endpoint.id}` };
}

describe("a webhook of an endpoint", () => {
  test("is told of a trouble once, signed, with the names that people know, and of its end", async () => {
    const ear = await server(WELL);
    const rule = { url: `${ear.url}hook`, signingSecret: SECRET, secretHeaders: { Authorization: "Bearer hush" } };
    const { run, health, endpoint, ask, identity } = await place("acme", [rule]);
    expect(endpoint.notify).toEqual([
      {
        url: rule.url,
        on: ["failure", "missed", "recovered"],
        afterFailures: 1,
        lateMs: null,
        headers: {},
        secretHeaders: { Authorization: null },
        signingSecret: null,
      },
    ]);
    await run(503);
    await run(503);
    await daemon.krond.event("notified", { identity, of: "failure" });
    expect((await health()).trouble).toMatchObject({ kind: "failure", isTold: true });
    // What is told of it can be sent back as it is.
    await ask("PATCH", `/endpoints/${endpoint.id}`, { notify: endpoint.notify, description: "changed" });
    await run(200);
    await run(200);
    await daemon.krond.event("notified", { identity, of: "recovered" });
    const [failure, recovered, ...more] = messages(ear.hits);
    expect(more).toEqual([]);
    const names = { identity, tenant: "acme", job: "billing", endpoint: "sync" };
    expect(failure).toMatchObject({ ...names, event: "failure", status: 503, text: "billing/sync failed (HTTP 503)" });
    expect(recovered).toMatchObject({ ...names, event: "recovered", text: "billing/sync recovered" });
    expect(failure).not.toHaveProperty("host");
    for (const { headers, body } of ear.hits) {
      const signed = createHmac("sha256", SECRET).update(
        `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`,
      );
      expect(headers["webhook-signature"]).toBe(`v1,${signed.digest("base64")}`);
      expect(headers["authorization"]).toBe("Bearer hush");
    }
    expect(await health()).toMatchObject({ trouble: null, undelivered: { count: 0, error: null } });
    expect(JSON.stringify(daemon.krond.lines)).not.toMatch(/hush|whsec/);
  });

  test("that waits for three failures in a row hears of no shorter trouble", async () => {
    const ear = await server(WELL);
    const { run, health, identity } = await place("patient", [{ url: ear.url, afterFailures: 3 }]);
    for (const code of [503, 503, 200, 503, 503]) await run(code);
    expect((await health()).trouble).toMatchObject({ kind: "failure", isTold: false });
    await run(503);
    await run(200);
    await daemon.krond.event("notified", { identity, of: "recovered" });
    expect(messages(ear.hits).map(({ event }) => event)).toEqual(["failure", "recovered"]);
  });

  test("beside one that waits for more is told at once, and that it was is said", async () => {
    const [first, patient] = [await server(WELL), await server(WELL)];
    const { run, health } = await place("both", [{ url: first.url }, { url: patient.url, afterFailures: 2 }]);
    await run(503);
    await first.hitsReached(1);
    expect((await health()).trouble).toMatchObject({ kind: "failure", isTold: true });
    await run(503);
    await patient.hitsReached(1);
    expect(messages([...first.hits, ...patient.hits]).map(({ event }) => event)).toEqual(["failure", "failure"]);
  });

  test("of its job is told of each that does not say otherwise, also when the job says so later", async () => {
    const [jobs, own] = [await server(WELL), await server(WELL)];
    const { ask, run, jobId, endpoint, identity } = await place("inherits", null);
    await ask("PATCH", `/jobs/${jobId}`, { notify: [{ url: jobs.url }] });
    await run(503);
    await daemon.krond.event("notified", { identity, of: "failure" });
    await ask("PATCH", `/endpoints/${endpoint.id}`, { notify: [{ url: own.url }] });
    await run(200);
    await own.hitsReached(1);
    expect(messages(jobs.hits).map(({ event }) => event)).toEqual(["failure"]);
    expect(messages(own.hits).map(({ event }) => event)).toEqual(["recovered"]);
  });

  test("is told that it has paused itself", async () => {
    const ear = await server(WELL);
    const { run, ask, endpoint, identity } = await place("stops", [{ url: ear.url, afterFailures: 2 }]);
    await ask("PATCH", `/endpoints/${endpoint.id}`, { autoPause: { afterFailures: 1 } });
    await run(503);
    await daemon.krond.event("notified", { identity, of: "failure" });
    expect(messages(ear.hits)).toMatchObject([{ event: "failure", result: "paused: a run failed: HTTP 503" }]);
  });

  test("S52: kill -9 in the middle of a trouble neither repeats its beginning nor loses its end", async () => {
    const ear = await server(WELL);
    const { run, health, identity } = await place("killed", [{ url: ear.url, afterFailures: 2 }]);
    await run(503);
    await daemon.crash();
    await daemon.start();
    await run(503);
    await daemon.krond.event("notified", { identity, of: "failure" });
    await daemon.crash();
    await daemon.start();
    expect((await health()).trouble).toMatchObject({ kind: "failure", isTold: true });
    await run(503);
    await run(200);
    await daemon.krond.event("notified", { identity, of: "recovered" });
    expect(messages(ear.hits).map(({ event }) => event)).toEqual(["failure", "recovered"]);
  });

  test("that takes nothing is waited for, and that is told of the endpoint", async () => {
    const ear = await server((socket) => answer(socket, 500, "no"));
    const { run, health, identity } = await place("deaf", [{ url: ear.url }]);
    await run(503);
    await daemon.krond.event("notify_failed", { identity });
    expect((await health()).undelivered).toEqual({ count: 1, error: "it ended with HTTP 500" });
  });
});

describe("what a tenant may not have told", () => {
  test.each<[name: string, rule: object, pointer: string]>([
    ["a command", { url: "https://hooks.test/", command: ["id"] }, "/notify/0/command"],
    ["an address that is none", { url: "ftp://hooks.test/" }, "/notify/0/url"],
    [
      "a header that is Kron's own",
      { url: "https://hooks.test/", headers: { "webhook-id": "x" } },
      "/notify/0/headers/webhook-id",
    ],
    ["the secret of somebody else", { url: "https://hooks.test/", signingSecret: null }, "/notify/0/signingSecret"],
    ["a key that is none", { url: "https://hooks.test/", signingSecret: "whsec_!!!" }, "/notify/0/signingSecret"],
    ["how late, without a time", { url: "https://hooks.test/", on: ["late"] }, "/notify/0/lateMs"],
    ["an empty key", { url: "https://hooks.test/", signingSecret: "whsec_" }, "/notify/0/signingSecret"],
    ["what is sealed already", { url: "https://hooks.test/", headers: { a: "sealed:v1:AAAA" } }, "/notify/0/headers/a"],
    ["nothing", { url: "https://hooks.test/", on: [] }, "/notify/0/on"],
  ])("%s", async (_, rule, pointer) => {
    const { key } = await daemon.key("wrong", "write");
    const wish = { key, body: { name: `job-${pointer}`, notify: [rule] } };
    const { status, body } = await daemon.send("POST", "/api/v1/jobs", wish);
    expect([status, body.code]).toEqual([400, "input-invalid"]);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
  });
});
