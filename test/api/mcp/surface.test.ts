/** What is listed, and what becomes of answers, without a daemon. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CursorSeal } from "../../../src/api/http/cursor.js";
import { HttpProblem } from "../../../src/api/http/problem.js";
import { routeOf } from "../../../src/api/http/routes.js";
import { type Carrier, carried } from "../../../src/api/mcp/carrier.js";
import { MCP_LIMITS } from "../../../src/api/mcp/limits.js";
import { shown } from "../../../src/api/mcp/shown.js";
import { surfaceOf } from "../../../src/api/mcp/surface.js";
import type { Operation } from "../../../src/operations/operation.js";
import { OPERATIONS } from "../../../src/operations/registry.js";

const operations = OPERATIONS as unknown as readonly Operation[];
const surface = surfaceOf(operations);
const listed = [...surface.tools.values()].map((tool) => tool.listed);

describe("tools", () => {
  test("have names that every model can call, and are those of all operations, but what is shown once and what is for workers", () => {
    for (const { name } of listed) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
    const hidden = operations
      .filter(({ http, isForWorkers }) => http.isShownOnce === true || isForWorkers === true)
      .map(({ name }) => name);
    expect(hidden).toEqual(expect.arrayContaining(["keys.create", "keys.rotate", "claims.take"]));
    expect(listed).toHaveLength(operations.length - hidden.length);
  });

  test("take an object without fields too many, and say what they are for in a sentence", () => {
    for (const { inputSchema, description } of listed) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });

  const READING = [...operations.filter(({ access }) => access === "read").map(({ name }) => name), "keys.list"];

  /** What is not here only reads. */
  const CHANGING: readonly (readonly [tool: string, hints: string])[] = [
    ["reload", "destructive"],
    ["stop", "destructive"],
    ["run", "destructive outside"],
    ["cancel", "destructive"],
    ["pause", ""],
    ["resume", ""],
    ["hint", ""],
    ["unhint", "destructive again"],
    ["keys_revoke", "destructive again"],
    ["jobs_create", ""],
    ["jobs_update", "destructive"],
    ["jobs_pause", ""],
    ["jobs_resume", ""],
    ["jobs_archive", ""],
    ["jobs_delete", "destructive again"],
    ["endpoints_create", ""],
    ["endpoints_upsert", "destructive again"],
    ["endpoints_update", "destructive"],
    ["endpoints_delete", "destructive again"],
    ["endpoints_pause", ""],
    ["endpoints_resume", ""],
    ["endpoints_hint_interval", "destructive again"],
    ["endpoints_hint_oneshot", "destructive again"],
    ["endpoints_clear_hints", "destructive again"],
    ["endpoints_run", "destructive outside"],
    ["endpoints_pause_many", ""],
    ["endpoints_resume_many", ""],
    ["endpoints_hint_many", ""],
    ["endpoints_clear_hints_many", ""],
    ["limits_set", "destructive again"],
    ["planner_try", "outside"],
  ];

  test("say what they do: destroy, do the same when asked again, reach outside", () => {
    const changing = listed.filter(({ annotations }) => !annotations.readOnlyHint);
    const told = changing.map(({ name, annotations: { destructiveHint, idempotentHint, openWorldHint } }) => {
      const hints = [destructiveHint && "destructive", idempotentHint && "again", openWorldHint && "outside"];
      return [name, hints.filter((hint) => hint !== false).join(" ")];
    });
    expect(told).toEqual(CHANGING);
  });

  test("that only read destroy nothing, and are those with access to read and others that are asked for with GET", () => {
    const reading = listed.filter(({ annotations }) => annotations.readOnlyHint);
    for (const { annotations } of reading)
      expect(annotations).toMatchObject({ destructiveHint: false, idempotentHint: true });
    const expected = operations.filter(({ access, http }) => access === "read" || http.method === "GET");
    expect(expected.map(({ name }) => name)).toEqual(expect.arrayContaining(READING));
    expect(reading.map(({ title }) => title)).toEqual(expected.map(({ name }) => name));
  });
});

describe("texts of others", () => {
  test.each([
    ["plain", "plain"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
    ["\u001b[31mred\u0007", "\\u{1b}[31mred\\u{7}"],
    ["left\u202eright", "left\\u{202e}right"],
    ["tag\u{e0041}", "tag\\u{e0041}"],
    ["half \ud800", "half \\u{d800}"],
    ["Grüße 日本 🙂", "Grüße 日本 🙂"],
  ])("%j is shown as %j", (text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(shown({ [text]: [text, 1, null, true] })).toEqual({ [expected]: [expected, 1, null, true] });
  });

  test("property: nothing unseen is left, and what is shown once is not shown twice", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const once = String(shown(text));
        expect(once).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/u);
        expect(shown(once)).toBe(once);
      }),
    );
  });
});

describe("answers", () => {
  const list = routeOf(operations.find(({ name }) => name === "runs.list") as Operation);
  const one = routeOf(operations.find(({ name }) => name === "jobs.get") as Operation);
  const row = (index: number, chars: number) => ({ id: `${index}`, name: "n".repeat(chars) });

  function carrierOf(answer: (input: Readonly<Record<string, unknown>>) => unknown): Carrier {
    return {
      isAllowed: () => true,
      ownerFor: () => "tenant:acme",
      cursors: new CursorSeal(),
      carryOut: async (_operation, input) => answer(input as Readonly<Record<string, unknown>>),
      problemOf: (error) => error as HttpProblem,
      instance: null,
    };
  }

  test("property: a page has as many rows as fit, and its cursor goes on behind the last of them", async () => {
    const sizes = fc.array(fc.nat(MCP_LIMITS.answerBytes / 2), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 200 }), async (chars, limit) => {
        const carrier = carrierOf(({ cursor, limit: most }) => {
          const from = cursor === null ? 0 : Number(cursor);
          const to = from + Number(most);
          return {
            rows: chars.slice(from, to).map((size, at) => row(from + at, size)),
            next: to < chars.length ? `${to}` : null,
          };
        });
        const seen: string[] = [];
        let cursor: unknown = null;
        do {
          const fields: Record<string, unknown> = cursor === null ? { limit } : { limit, cursor };
          const { answer, text, hint } = await carried(list, fields, carrier, new AbortController().signal);
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MCP_LIMITS.answerBytes);
          expect(text).toBe(JSON.stringify(answer));
          const { rows, next } = answer as {
            readonly rows: readonly { readonly id: string }[];
            readonly next: unknown;
          };
          seen.push(...rows.map(({ id }) => id));
          cursor = next;
          expect(hint === null).toBe(cursor === null);
        } while (cursor !== null);
        expect(seen).toEqual(chars.map((_, index) => `${index}`));
      }),
      { numRuns: 50 },
    );
  });

  test("of which one row alone is too large, and those without rows, are refused with what may be narrowed", async () => {
    const huge = row(0, MCP_LIMITS.answerBytes);
    const { signal } = new AbortController();
    const page = carried(
      list,
      {},
      carrierOf(() => ({ rows: [huge], next: null })),
      signal,
    );
    await expect(page).rejects.toMatchObject({
      code: "refused",
      hint: expect.stringContaining("status, since, until"),
    });
    const single = carried(
      one,
      { jobId: "job_0000000000000000" },
      carrierOf(() => huge),
      signal,
    );
    await expect(single).rejects.toMatchObject({ code: "refused", hint: "ask over HTTP or the command line" });
  });

  test("that nobody waits for any more are not asked for again", async () => {
    const given = new AbortController();
    let count = 0;
    const carrier = carrierOf(() => {
      count += 1;
      given.abort();
      return { rows: [row(0, MCP_LIMITS.answerBytes), row(1, 1)], next: null };
    });
    await expect(carried(list, {}, carrier, given.signal)).rejects.toThrow();
    expect(count).toBe(1);
  });
});

describe("addresses", () => {
  const read = (uri: string) => surface.addresses.read(uri);

  test("mean what they mean over HTTP", () => {
    const { route, fields } = read("kron://schedules/prod%2Fnightly/history?limit=5&failed=true");
    expect([route.operation.name, fields]).toEqual(["history", { identity: "prod/nightly", limit: 5, failed: true }]);
  });

  test.each([
    "http://schedules",
    "kron:schedules",
    "kron://nowhere",
    "kron://schedules/a/run",
    "kron://schedules/%ff",
    "kron://schedules/../system",
    "kron://schedules?nonsense=1",
    "kron://openapi.json",
  ])("%s means nothing", (uri) => {
    expect(() => read(uri)).toThrow(HttpProblem);
  });
});
