/** kron mcp, as a client starts it, with a real daemon and without one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, inject, test } from "vitest";
import { MCP_LIMITS } from "../../../src/api/mcp/limits.js";
import { OPERATIONS } from "../../../src/operations/registry.js";
import { job } from "../../support/place.js";
import { HOST_STEPS, LAST_STEP, mistakesOf, TENANT_STEPS, walk, withReaders } from "./every-tool.js";
import { call, ERAS, McpDaemon, mcpDaemon, namesOfTools, refusalIn, textOf, toolsOf } from "./mcp-daemon.js";

const JOBS = `${job("t/good", "true")}${job("t/long", "sleep 60")}http: { allow: ["127.0.0.1"] }\n`;
const daemon = mcpDaemon(JOBS);

function toolNames(wanted: (operation: (typeof OPERATIONS)[number]) => boolean): readonly string[] {
  const operations = OPERATIONS.filter(
    (operation) => !("isShownOnce" in operation.http || "isForWorkers" in operation),
  );
  return operations.filter(wanted).map(({ name }) => name.replaceAll(".", "_"));
}

describe.each(ERAS)("a client of %s", (era) => {
  test.each([
    ["read", ["read"]],
    ["write", ["read", "operate"]],
    ["admin", ["read", "operate", "admin"]],
  ])("with --scope %s sees the operations of these accesses, and no others", async (scope, accesses) => {
    const client = await daemon.overStdio(["--scope", scope], era);
    expect(await namesOfTools(client)).toEqual(toolNames(({ access }) => accesses.includes(access)));
  });

  test("every tool does what it says, and answers as it says", async () => {
    const all = new McpDaemon(JOBS, []);
    try {
      await all.start();
      await all.key("acme", "read", { name: "to be revoked" });
      const client = await all.overStdio(["--scope", "admin"], era);
      const tools = await toolsOf(client);
      const steps = [...withReaders([...HOST_STEPS, ...TENANT_STEPS], tools), LAST_STEP];
      expect(steps.map(([tool]) => tool).sort()).toEqual(tools.map(({ name }) => name).sort());
      expect(await walk(client, steps)).toEqual([]);
    } finally {
      await all.remove();
    }
  });

  test("resources are read at their addresses, and what is not there is named", async () => {
    const client = await daemon.overStdio([], era);
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resources.map(({ uri }) => uri)).toContain("kron://schedules");
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
      expect.arrayContaining([
        "kron://schedules/{identity}/why",
        "kron://schedules/{identity}/history",
        "kron://endpoints/{endpointId}",
      ]),
    );
    for (const { uri } of resources) {
      const [content] = (await client.readResource({ uri })).contents;
      expect(content).toMatchObject({ uri, mimeType: "application/json", text: expect.stringMatching(/^\{/) });
    }
    const tool = await call(client, "history", { identity: "t/good", limit: 1 });
    const read = await client.readResource({ uri: "kron://schedules/t%2Fgood/history?limit=1" });
    expect(read.contents[0]).toMatchObject({ text: textOf(tool) });
    await expect(client.readResource({ uri: "kron://schedules/t%2Fnone" })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("what is wrong with an input", () => {
  test("is told at its field, for every field of every tool, and changes nothing", async () => {
    const client = await daemon.overStdio(["--scope", "admin"]);
    const before = await call(client, "history_of_all", { limit: 200 });
    const found = [];
    for (const mistake of (await toolsOf(client)).flatMap(mistakesOf)) {
      const refused = refusalIn(await call(client, mistake.tool, mistake.fields));
      const pointers = refused?.errors?.map(({ pointer }) => pointer.split("/").slice(0, 2).join("/")) ?? [];
      if (refused?.code !== "input-invalid" || !pointers.includes(mistake.pointer)) found.push({ ...mistake, refused });
    }
    expect(found).toEqual([]);
    expect(await call(client, "history_of_all", { limit: 200 })).toEqual(before);
  });

  test("that only the daemon can judge comes with fields too", async () => {
    const client = await daemon.overStdio(["--scope", "write"]);
    const made = await call(client, "jobs_create", { name: "judged" });
    const jobId = (made.structuredContent as { readonly id: string }).id;
    const both = {
      jobId,
      name: "a",
      url: "http://127.0.0.1:9/",
      baselineCron: "* * * * *",
      baselineIntervalMs: 60_000,
    };
    const refused = refusalIn(await call(client, "endpoints_create", both));
    expect(refused).toMatchObject({
      code: "input-invalid",
      errors: [{ pointer: expect.stringMatching(/^\/baseline/) }],
    });
  });

  test("a name that is nearly right is answered with the one that was meant", async () => {
    const client = await daemon.overStdio([]);
    expect(refusalIn(await call(client, "why", { identity: "t/goud" }))).toEqual({
      code: "not-found",
      detail: 'no job "t/goud"',
      hint: 'did you mean "t/good"?',
    });
  });

  test("a tool that there is not, or not for this scope, is one and the same", async () => {
    const client = await daemon.overStdio([]);
    for (const name of ["fly", "run", "constructor", "keys_create"]) {
      await expect(call(client, name, { identity: "t/good" })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(`there is no tool "${name}"`),
      });
    }
  });
});

test("--tenant says whose jobs and endpoints are meant", async () => {
  const [acme, other] = [
    await daemon.overStdio(["--scope", "write", "--tenant", "acme"]),
    await daemon.overStdio(["--scope", "write", "--tenant", "other"]),
  ];
  const made = (await call(acme, "jobs_create", { name: "theirs" })).structuredContent as { readonly id: string };
  expect(refusalIn(await call(acme, "jobs_get", { jobId: made.id }))).toBeNull();
  expect(refusalIn(await call(other, "jobs_get", { jobId: made.id }))).toMatchObject({ code: "not-found" });
});

describe("without a daemon", () => {
  test("what only reads says what is on record, and everything else that none runs", async () => {
    const gone = new McpDaemon(JOBS, []);
    try {
      await gone.start();
      const before = await gone.overStdio([]);
      const live = await call(before, "list");
      await gone.stop();
      const client = await gone.overStdio(["--scope", "write"]);
      expect((await call(client, "list")).structuredContent).toMatchObject({
        total: 2,
        rows: (live.structuredContent as { readonly rows: readonly { readonly identity: string }[] }).rows.map(
          (row) => ({
            identity: row.identity,
          }),
        ),
      });
      expect(refusalIn(await call(client, "why", { identity: "t/good" }))).toBeNull();
      expect(refusalIn(await call(client, "run", { identity: "t/good" }))).toEqual({
        code: "refused",
        detail: `no daemon runs on ${gone.state}`,
        hint: "it is started with 'krond start'",
      });
      // One that is started meanwhile is found.
      await gone.start();
      expect(refusalIn(await call(client, "run", { identity: "t/good" }))).toBeNull();
    } finally {
      await gone.remove();
    }
  });

  test("nor a state, it says so to each question", async () => {
    const nothing = new McpDaemon(JOBS, []);
    try {
      const client = await nothing.overStdio([]);
      expect(refusalIn(await call(client, "list"))).toMatchObject({ detail: `there is no state in ${nothing.state}` });
    } finally {
      await nothing.remove();
    }
  });
});

interface Spoken {
  readonly status: number | string;
  readonly out: string;
  readonly err: string;
}

/** Lines in, and everything that comes out until it has ended by itself. */
async function speak(lines: readonly string[], args: readonly string[] = []): Promise<Spoken> {
  const child = spawn(process.execPath, [inject("programs").kron, "mcp", "--state", daemon.state, ...args]);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    out += piece;
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    err += piece;
  });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { status: code ?? signal ?? "", out, err };
}

function request(id: number | string, method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const HELLO = request(0, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});

function messagesIn(out: string): readonly Readonly<Record<string, unknown>>[] {
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

describe("the lines themselves", () => {
  test("what was asked before the end of the input is answered, and then it ends by itself", async () => {
    const lines = [HELLO, ...[1, 2, 3].map((id) => request(id, "tools/call", { name: "list", arguments: {} }))];
    const { status, out, err } = await speak(lines);
    expect([status, err]).toEqual([0, ""]);
    expect(
      messagesIn(out)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([0, 1, 2, 3]);
  });

  test("an empty input is nothing wrong", async () => {
    expect(await speak([])).toEqual({ status: 0, out: "", err: "" });
  });

  test("what is no message is answered as such, and the next line is as good as any", async () => {
    const { out, status } = await speak([
      HELLO,
      "this is no JSON",
      '{"jsonrpc":"2.0","id":7}',
      "[]",
      '"a text"',
      '{"jsonrpc":"1.0","id":"old","method":"ping"}',
      request(8, "no/such/method"),
      request(9, "ping"),
    ]);
    const told = messagesIn(out).map(({ id, error }) => [id, (error as { readonly code: number } | undefined)?.code]);
    expect(status).toBe(0);
    expect(told).toEqual(
      expect.arrayContaining([
        [null, -32700],
        [7, -32600],
        [null, -32600],
        ["old", -32600],
        [8, -32601],
        [9, undefined],
      ]),
    );
    expect(told).toHaveLength(8);
  });

  test("a line that is too long is refused, and none of it is kept", async () => {
    const long = request(1, "tools/call", { name: "list", arguments: { search: "x".repeat(MCP_LIMITS.lineChars) } });
    const { out, status } = await speak([HELLO, long, request(2, "ping")]);
    expect(status).toBe(0);
    expect(messagesIn(out)).toEqual([
      expect.objectContaining({ id: 0 }),
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: expect.stringContaining("characters") } },
      expect.objectContaining({ id: 2, result: {} }),
    ]);
  });

  test("half characters, endless nesting and names that every object has are refused", async () => {
    const nested = `${"[".repeat(200)}${"]".repeat(200)}`;
    const odd = ['"\\ud800"', nested, '{"__proto__":{"a":1}}'];
    const lines = odd.map((value, index) => {
      const fields = `{"identities":${value}}`;
      return `{"jsonrpc":"2.0","id":${index + 1},"method":"tools/call","params":{"name":"list","arguments":${fields}}}`;
    });
    const { out } = await speak([HELLO, ...lines]);
    const told = messagesIn(out).filter(({ id }) => id !== 0);
    expect(told.map(({ id, error }) => [id, (error as { readonly code: number } | undefined)?.code])).toEqual([
      [1, -32600],
      [2, -32600],
      [3, -32600],
    ]);
  });

  test("more at once than it takes is refused, request by request", async () => {
    const many = Array.from({ length: 200 }, (_, index) =>
      request(index + 1, "tools/call", { name: "list", arguments: {} }),
    );
    const { out, status } = await speak([HELLO, ...many]);
    const messages = messagesIn(out);
    expect(status).toBe(0);
    expect(messages.map(({ id }) => id).sort((one, other) => Number(one) - Number(other))).toEqual(
      Array.from({ length: 201 }, (_, index) => index),
    );
    const busy = messages.filter(({ error }) => (error as { readonly code: number } | undefined)?.code === -32000);
    expect(busy.length).toBeGreaterThan(0);
    expect(busy.length).toBeLessThanOrEqual(200 - MCP_LIMITS.underWay);
  });

  test("a request that was called off is not answered, and nothing waits for it", async () => {
    const off = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    const { out, status } = await speak([
      HELLO,
      request(1, "tools/call", { name: "list", arguments: {} }),
      off,
      request(2, "ping"),
    ]);
    expect(status).toBe(0);
    expect(messagesIn(out).map(({ id }) => id)).toEqual([0, 2]);
  });
});

test("a call that its client gives up is over, and the next one is as good as any", async () => {
  const client = await daemon.overStdio([]);
  const given = new AbortController();
  const asked = client.callTool({ name: "plan", arguments: {} }, { signal: given.signal });
  given.abort();
  await expect(asked).rejects.toThrow();
  expect(refusalIn(await call(client, "list"))).toBeNull();
});

describe("the command line", () => {
  test.each([
    [["--scope", "all"], '--scope: "all" is not one of read, write, admin'],
    [["--tenant", "No Such"], '--tenant: "No Such" is no name of a tenant'],
    [["now"], "mcp takes no arguments"],
  ])("%j is refused on standard error, before anything is read", async (args, message) => {
    const { status, out, err } = await speak([HELLO], args);
    expect([status, out]).toEqual([1, ""]);
    expect(err).toContain(message);
  });
});
