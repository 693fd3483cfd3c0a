/** MCP at the API's door, with keys of every kind. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { API_LIMITS } from "../../../src/api/limits.js";
import { MCP_LIMITS } from "../../../src/api/mcp/limits.js";
import type { NewKeyAnswer } from "../../../src/operations/keys/keys.js";
import { OPERATIONS } from "../../../src/operations/registry.js";
import { job } from "../../support/place.js";
import { HOST_STEPS, mistakesOf, TENANT_STEPS, walk, withReaders } from "./every-tool.js";
import { call, ERAS, McpDaemon, mcpDaemon, namesOfTools, refusalIn, textOf, toolsOf } from "./mcp-daemon.js";

/** Nothing but what a terminal would obey. */
const LOUD = 'head -c 40000 /dev/zero | tr "\\\\000" "\\\\033"';
const JOBS = `${job("t/good", "true")}${job("t/long", "sleep 60")}${job("t/loud", LOUD)}http: { allow: ["127.0.0.1"] }\n`;
const daemon = mcpDaemon(JOBS);
const keys = new Map<string, NewKeyAnswer>();

/** By kind and scope: `host read`, `acme write`. */
function key(name: string): string {
  const made = keys.get(name);
  if (made === undefined) throw new Error(`no key ${name}`);
  return made.key;
}

beforeAll(async () => {
  for (const scope of ["read", "write", "admin"] as const) {
    keys.set(`host ${scope}`, await daemon.key(null, scope));
    for (const tenant of ["acme", "other"]) keys.set(`${tenant} ${scope}`, await daemon.key(tenant, scope));
  }
});

const ALLOWED = { read: ["read"], write: ["read", "operate"], admin: ["read", "operate", "admin"] } as const;

function toolNames(of: "host" | "tenant", scope: keyof typeof ALLOWED): readonly string[] {
  const shown = OPERATIONS.filter((operation) => !("isShownOnce" in operation.http || "isForWorkers" in operation));
  const allowed: readonly string[] = ALLOWED[scope];
  return shown
    .filter((operation) => operation.of === of && allowed.includes(operation.access))
    .map(({ name }) => name.replaceAll(".", "_"));
}

describe.each(ERAS)("a client of %s", (era) => {
  test.each([
    ["host", "read"],
    ["host", "write"],
    ["host", "admin"],
    ["acme", "read"],
    ["acme", "write"],
    ["acme", "admin"],
  ] as const)("with a key of %s and %s sees what it may ask for, and nothing else", async (holder, scope) => {
    const client = await daemon.overHttp(key(`${holder} ${scope}`), era);
    expect(await namesOfTools(client)).toEqual(toolNames(holder === "host" ? "host" : "tenant", scope));
  });

  test("every tool of a tenant does what it says", async () => {
    const client = await daemon.overHttp(key("acme write"), era);
    const tools = await toolsOf(client);
    const steps = withReaders(TENANT_STEPS, tools);
    expect(steps.map(([tool]) => tool).sort()).toEqual(tools.map(({ name }) => name).sort());
    expect(await walk(client, steps)).toEqual([]);
  });

  test("every tool of the host does what it says, but for its end", async () => {
    await daemon.key("acme", "read", { name: "to be revoked" });
    const client = await daemon.overHttp(key("host admin"), era);
    const tools = await toolsOf(client);
    const steps = withReaders(HOST_STEPS, tools);
    expect([...steps.map(([tool]) => tool), "stop"].sort()).toEqual(tools.map(({ name }) => name).sort());
    expect(await walk(client, steps)).toEqual([]);
  });

  test("what is wrong with an input is told at its field, for every field of every tool", async () => {
    const found = [];
    for (const holder of ["host admin", "acme write"]) {
      const client = await daemon.overHttp(key(holder), era);
      for (const mistake of (await toolsOf(client)).flatMap(mistakesOf)) {
        const refused = refusalIn(await call(client, mistake.tool, mistake.fields));
        const pointers = refused?.errors?.map(({ pointer }) => pointer.split("/").slice(0, 2).join("/")) ?? [];
        if (refused?.code !== "input-invalid" || !pointers.includes(mistake.pointer))
          found.push({ ...mistake, refused });
      }
    }
    expect(found).toEqual([]);
  });
});

describe("keys", () => {
  test("a tool beyond the scope, or of another kind, is one that there is not", async () => {
    const [reader, host] = [await daemon.overHttp(key("acme read")), await daemon.overHttp(key("host admin"))];
    for (const [client, name] of [
      [reader, "jobs_create"],
      [reader, "list"],
      [reader, "keys_list"],
      [host, "jobs_list"],
      [host, "keys_create"],
    ] as const) {
      await expect(call(client, name, {})).rejects.toMatchObject({ code: -32602 });
    }
    await expect(reader.readResource({ uri: "kron://schedules" })).rejects.toMatchObject({ code: -32602 });
    expect((await reader.listResources()).resources.map(({ uri }) => uri)).not.toContain("kron://schedules");
  });

  test("what belongs to another tenant is what there is not: word for word, and as a resource too", async () => {
    const [own, foreign] = [await daemon.overHttp(key("acme write")), await daemon.overHttp(key("other admin"))];
    const made = (await call(own, "jobs_create", { name: "secret-name" })).structuredContent as { readonly id: string };
    const absent = "job_0000000000000000";
    const told = async (jobId: string) => textOf(await call(foreign, "jobs_get", { jobId })).replaceAll(jobId, "ID");
    expect(await told(made.id)).toEqual(await told(absent));
    for (const name of ["jobs_update", "jobs_delete", "jobs_pause"]) {
      expect(refusalIn(await call(foreign, name, { jobId: made.id }))).toMatchObject({ code: "not-found" });
    }
    expect(textOf(await call(foreign, "jobs_list", {}))).not.toContain("secret-name");
    await expect(foreign.readResource({ uri: `kron://jobs/${made.id}` })).rejects.toMatchObject({ code: -32602 });
    expect((await own.readResource({ uri: `kron://jobs/${made.id}` })).contents[0]).toMatchObject({
      text: expect.stringContaining("secret-name"),
    });
  });

  test("a cursor of another tenant is refused", async () => {
    const [own, foreign] = [await daemon.overHttp(key("acme write")), await daemon.overHttp(key("other read"))];
    for (const name of ["one", "two"]) await call(own, "jobs_create", { name: `page ${name}` });
    const page = (await call(own, "jobs_list", { limit: 1 })).structuredContent as { readonly next: string };
    expect(refusalIn(await call(own, "jobs_list", { limit: 1, cursor: page.next }))).toBeNull();
    expect(refusalIn(await call(foreign, "jobs_list", { limit: 1, cursor: page.next }))).toMatchObject({
      code: "input-invalid",
      errors: [{ pointer: "/cursor" }],
    });
  });

  test("none, a wrong one, and one that was taken back are refused, also in the middle of a conversation", async () => {
    const made = await daemon.key("acme", "read");
    const client = await daemon.overHttp(made.key);
    expect(refusalIn(await call(client, "jobs_list", {}))).toBeNull();
    await daemon.ask({ op: "keys.revoke", id: made.id });
    await expect(call(client, "jobs_list", {})).rejects.toThrow();
    const statuses = await Promise.all(
      ["", made.key, `${made.key.slice(0, -1)}x`].map(async (wrong) => (await daemon.post("{}", wrong)).status),
    );
    expect(statuses).toEqual([401, 401, 401]);
    const transport = new StreamableHTTPClientTransport(new URL(`http://${daemon.address}/mcp`));
    await expect(new Client({ name: "t", version: "1" }).connect(transport)).rejects.toThrow();
  });

  test("the rate of a key holds here too", async () => {
    const slow = await daemon.key("acme", "read", { rate: { perSecond: 0.01, burst: 2 } });
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const replies = [];
    for (let count = 0; count < 3; count += 1) replies.push(await daemon.post(ping, slow.key));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(replies[2]?.headers.get("retry-after")).not.toBeNull();
  });
});

test("property: whatever a tool is called with, nothing goes wrong in here", async () => {
  const clients = [await daemon.overHttp(key("host write")), await daemon.overHttp(key("acme write"))];
  const tools = await Promise.all(clients.map(toolsOf));
  const known = fc.constantFrom(
    "t/good",
    "job_0000000000000000",
    "ep_0000000000000000",
    -1,
    1e99,
    "",
    null,
    [],
    "2026-01-01T00:00:00Z",
  );
  // With that name in it nothing is a message, and it never comes to a tool.
  const json = fc.jsonValue({ maxDepth: 3 }).filter((it) => !JSON.stringify(it).includes("__proto__"));
  const value = fc.oneof(known, json);
  const called = fc.nat(1).chain((which) => {
    return fc.constantFrom(...(tools[which] ?? [])).chain(({ name, inputSchema }) => {
      const fields = Object.keys((inputSchema as { readonly properties?: object }).properties ?? {});
      const arguments_ = fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] });
      return fc.record({ which: fc.constant(which), name: fc.constant(name), fields: arguments_ });
    });
  });
  await fc.assert(
    fc.asyncProperty(called, async ({ which, name, fields }) => {
      const result = await call(clients[which] as Client, name, fields);
      expect(refusalIn(result)?.code).not.toBe("internal");
    }),
    { numRuns: 400 },
  );
});

test("where a page is served too, it is not in the way", async () => {
  const both = new McpDaemon(JOBS, ["--web"]);
  try {
    await both.start();
    const { key: reader } = await both.key(null, "read");
    expect(refusalIn(await call(await both.overHttp(reader), "list", {}))).toBeNull();
  } finally {
    await both.remove();
  }
});

describe("what comes over the wire", () => {
  const call1 = (name: string, fields: object) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: fields } });

  test.each<readonly [string, string, Readonly<Record<string, string>>, number, number | null]>([
    ["no JSON", "{", {}, 400, -32700],
    ["half a character of UTF-8 as JSON", '{"a":"\\ud800"}', {}, 400, -32600],
    ["a list, which would be many requests for the price of one", "[]", {}, 400, -32600],
    ["no message", "{}", {}, 400, -32600],
    ["another protocol", '{"jsonrpc":"1.0","id":1,"method":"ping"}', {}, 400, -32600],
    ["another type", "{}", { "Content-Type": "text/plain" }, 415, -32600],
    ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"fly"}', {}, 200, -32601],
    ["a stream of news", '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}', {}, 200, -32601],
    ["too much", `"${"x".repeat(API_LIMITS.bodyBytes)}"`, {}, 413, -32600],
  ])("%s is answered as such", async (_title, body, headers, status, code) => {
    const reply = await daemon.post(body, key("acme read"), headers);
    const text = await reply.text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    expect([reply.status, (JSON.parse(data) as { readonly error?: { readonly code: number } }).error?.code]).toEqual([
      status,
      code,
    ]);
  });

  test("bytes that are no UTF-8 are refused", async () => {
    const reply = await fetch(`http://${daemon.address}/mcp`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${key("acme read")}` },
      body: new Uint8Array([0x22, 0xc3, 0x22]),
    });
    expect(reply.status).toBe(400);
  });

  test("a call that its client gives up is over, and the next one is as good as any", async () => {
    const client = await daemon.overHttp(key("host admin"));
    const given = new AbortController();
    const asked = client.callTool({ name: "plan", arguments: {} }, { signal: given.signal });
    given.abort();
    await expect(asked).rejects.toThrow();
    expect(refusalIn(await call(client, "list", {}))).toBeNull();
  });

  test("only POST is taken, and no page of a browser may ask", async () => {
    const url = `http://${daemon.address}/mcp`;
    const headers = { Authorization: `Bearer ${key("acme read")}` };
    const [got, deleted, options] = await Promise.all(
      ["GET", "DELETE", "OPTIONS"].map((method) => fetch(url, { method, headers })),
    );
    expect([got?.status, deleted?.status, options?.status]).toEqual([405, 405, 204]);
    expect(options?.headers.get("allow")).toBe("POST, OPTIONS");
    const page = await daemon.post(call1("jobs_list", {}), key("acme read"), { Origin: "https://evil.example" });
    expect(page.status).toBe(403);
    expect((await daemon.post("{}", key("acme read"), { Accept: "text/html" })).status).toBeGreaterThanOrEqual(400);
  });

  test("an answer is bounded in bytes, and says how to go on", async () => {
    const client = await daemon.overHttp(key("other write"));
    const description = "d".repeat(1_000);
    for (let count = 0; count < 60; count += 1)
      await call(client, "jobs_create", { name: `many ${count}`, description });
    const names = new Set<string>();
    let cursor: string | null = null;
    do {
      const fields: object = cursor === null ? { limit: 200 } : { limit: 200, cursor };
      const result = await call(client, "jobs_list", fields);
      expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(MCP_LIMITS.answerBytes);
      const page = result.structuredContent as {
        readonly rows: readonly { name: string }[];
        readonly next: string | null;
      };
      for (const { name } of page.rows) names.add(name);
      if (page.next !== null) expect(textOf(result, 1)).toContain('ask again with "cursor"');
      cursor = page.next;
    } while (cursor !== null);
    expect(names.size).toBe(60);
  });

  test("the output of a run comes in pieces that fit, whatever is in it", async () => {
    const client = await daemon.overHttp(key("host write"));
    await call(client, "run", { identity: "t/loud" });
    await daemon.krond.event("completed", { identity: "t/loud" });
    const last = await call(client, "log", { identity: "t/loud" });
    const { from, size, text } = last.structuredContent as {
      readonly from: number;
      readonly size: number;
      readonly text: string;
    };
    expect(Buffer.byteLength(textOf(last))).toBeLessThanOrEqual(MCP_LIMITS.answerBytes);
    expect([size, text.endsWith("\\u{1b}"), textOf(last, 1)]).toEqual([
      40_000,
      true,
      expect.stringContaining('smaller "from"'),
    ]);
    const first = await call(client, "log", { identity: "t/loud", from: 0, bytes: Math.min(from, 1_000) });
    expect(first.structuredContent).toMatchObject({ from: 0, text: expect.stringMatching(/^(?:\\u\{1b\})+$/) });
  });

  test("secrets of an endpoint are not in any answer, and what others wrote is shown, not obeyed", async () => {
    const client = await daemon.overHttp(key("acme write"));
    const made = (await call(client, "jobs_create", { name: "hush" })).structuredContent as { readonly id: string };
    const secretHeaders = { "X-Token": "hunter2-hunter2" };
    const description = "safe\u202e\u{e0041} text";
    const wish = {
      jobId: made.id,
      name: "e",
      url: "http://127.0.0.1:9/",
      baselineCron: "0 0 1 1 *",
      secretHeaders,
      description,
    };
    const created = await call(client, "endpoints_create", wish);
    const listed = await call(client, "endpoints_list", {});
    const texts = [created, listed].map((result) => JSON.stringify(result));
    expect(refusalIn(created)).toBeNull();
    for (const text of texts) {
      expect(text).not.toContain("hunter2");
      expect(text).not.toMatch(/[\u202e\u{e0041}]/u);
    }
    expect((created.structuredContent as { readonly description: string }).description).toBe(
      "safe\\u{202e}\\u{e0041} text",
    );
  });
});
