/** S49: how a job says whose nodes run it, what becomes of that, and what is wrong with it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJsonLine } from "../../../src/core/config/line/json-lines.js";
import { readKronLine } from "../../../src/core/config/line/kron-line.js";
import { definitionFromCanonical } from "../../../src/core/job/canonical.js";
import { minimalRaw } from "../../../src/core/job/minimal.js";
import {
  canonicalDefinitionText,
  canonicalRuleText,
  readDefinitionInForce,
  readJobDefaults,
  readJobDefinition,
} from "../../../src/core/job/schema.js";
import { canonicalParts, poolIn } from "../../../src/core/restart/cut.js";
import { rawJobs } from "../../support/raw-jobs.js";
import { requireOk } from "../../support/results.js";

const BASE = { identity: "a", schedule: "0 3 * * *", command: ["true"] };
const HTTP = { identity: "a", schedule: "0 3 * * *", http: { url: "https://example.org" } };

const definitionOf = (more: object) => requireOk(readJobDefinition({ ...BASE, ...more }));

function problemsOf(more: object): readonly string[] {
  const read = readJobDefinition({ ...BASE, ...more });
  return read.ok ? [] : read.error.map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
}

describe("what a job says", () => {
  test.each([
    ["nothing: any node", {}, undefined],
    ["a node", { node: "db1" }, "node/db1"],
    ["a name as machines have it", { node: "db-1.example.org" }, "node/db-1.example.org"],
    ["a pool", { pool: "gpu" }, "gpu"],
    ["the pool of all nodes", { pool: "any" }, undefined],
  ])("%s", (_title, raw, pool) => {
    expect(definitionOf(raw).pool).toBe(pool);
  });

  test("requests have nodes too", () => {
    expect(requireOk(readJobDefinition({ ...HTTP, node: "db1" })).pool).toBe("node/db1");
  });

  test("who says nothing has the definition that there was before there were nodes", () => {
    expect(definitionOf({ pool: "any" })).not.toHaveProperty("pool");
    expect(canonicalDefinitionText(definitionOf({ pool: "any" }))).not.toMatch(/"(pool|node)"/);
  });

  test.each([
    ["a line", () => readKronLine("0 3 * * * name=a command=true node=db1", { file: "f", line: 1 })],
    ["a line of JSON", () => readJsonLine(JSON.stringify({ ...BASE, node: "db1" }), { file: "f", line: 1 })],
  ])("as %s", (_title, read) => {
    const { job, problems } = read();
    expect(problems).toEqual([]);
    expect(job?.definition).toEqual(definitionOf({ node: "db1" }));
  });

  test.each([{ node: "db1" }, { pool: "gpu" }])(
    "S49: %j is stored, read back and shortened without a change, and is no part of the rule",
    (raw) => {
      const definition = definitionOf(raw);
      const text = canonicalDefinitionText(definition);
      expect(readDefinitionInForce(text)).toEqual({ definition, problems: [] });
      expect(minimalRaw(definition)).toEqual({ ...BASE, ...raw });
      expect(canonicalRuleText(definition)).toBe(canonicalRuleText(definitionOf({})));
      expect(definitionFromCanonical(text)).toEqual(definition);
      expect(canonicalParts(text, "a")?.ruleText).toBe(canonicalRuleText(definition));
    },
  );

  test.each([
    ["a default holds", { node: "db1" }, {}, "node/db1"],
    ["a job's own node goes before a default pool", { pool: "gpu" }, { node: "db1" }, "node/db1"],
    ["a job's own pool goes before a default node", { node: "db1" }, { pool: "gpu" }, "gpu"],
    ["a job may run anywhere again", { node: "db1" }, { pool: "any" }, undefined],
  ])("defaults: %s", (_title, defaults, own, pool) => {
    const read = readJobDefinition({ ...BASE, ...own }, requireOk(readJobDefaults(defaults)));
    expect(requireOk(read).pool).toBe(pool);
  });
});

describe("what is wrong is said where it is", () => {
  test.each([
    [{ node: "db1", pool: "gpu" }, ["field-conflict pool: node and pool do not go together"]],
    [{ node: "" }, ['field-range node: "" is no name of a node']],
    [{ node: "-x" }, ['field-range node: "-x" is no name of a node']],
    [{ node: "DB1" }, ['field-range node: "DB1" is no name of a node']],
    [{ pool: "a b" }, ['field-range pool: "a b" is no name of a pool']],
    [{ node: "x".repeat(64) }, [expect.stringContaining("is no name of a node")]],
    [{ nod: "db1" }, ['field-unknown nod: unknown field "nod"']],
  ])("%j", (raw, problems) => {
    expect(problemsOf(raw)).toEqual(problems);
  });

  test("the pool of a node is written as that node", () => {
    const read = readJobDefinition({ ...BASE, pool: "node/db1" });
    expect(read.ok ? null : read.error[0]?.hint).toBe("write node: db1");
  });

  test("defaults are judged by themselves", () => {
    const read = readJobDefaults({ node: "db1", pool: "gpu" });
    expect(read.ok ? null : read.error.map(({ code }) => code)).toEqual(["field-conflict"]);
  });
});

test("a canonical text says its pool where the real reader finds it", () => {
  const place = fc.constantFrom({}, { node: "db1" }, { pool: "gpu" }, { pool: "any" });
  const tricky = fc.constantFrom({}, { description: ',"node":"x"', env: { A: "1", node: "x", pool: "y" } });
  const seen = new Set<string>();
  fc.assert(
    fc.property(rawJobs, place, tricky, (raw, where, more) => {
      const read = readJobDefinition({ ...raw, ...where, ...(raw.http === undefined ? more : {}) });
      fc.pre(read.ok);
      const definition = requireOk(read);
      const pool = poolIn(canonicalDefinitionText(definition));
      seen.add(pool);
      expect(pool).toBe(definition.pool ?? "any");
    }),
  );
  expect(seen).toEqual(new Set(["any", "gpu", "node/db1"]));
});
