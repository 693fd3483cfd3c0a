/** S43: how retries are written, what they become, and what is wrong with them. */
import { describe, expect, test } from "vitest";
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
import { canonicalParts } from "../../../src/core/restart/cut.js";
import { delayMs } from "../../../src/core/state/retry.js";
import { requireOk } from "../../support/results.js";

const BASE = { identity: "a", schedule: "0 3 * * *", command: ["true"] };
const ALL = { limit: 3, backoff: "30s", max_backoff: "10m", on: ["exit", "timeout", "answered", "failed", "unseen"] };

const definitionOf = (more: object) => requireOk(readJobDefinition({ ...BASE, ...more }));
const retryOf = (retry: object) => definitionOf({ retry }).policy.retry;

function problemsOf(more: object): readonly string[] {
  const read = readJobDefinition({ ...BASE, ...more });
  return read.ok ? [] : read.error.map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
}

describe("what a job says", () => {
  test("nothing is retried unless it says so", () => {
    expect(definitionOf({}).policy).not.toHaveProperty("retry");
    expect(canonicalDefinitionText(definitionOf({}))).not.toContain("retry");
  });

  test.each([
    ["all of it", ALL, { limit: 3, backoffMs: 30_000, maxBackoffMs: 600_000, on: ALL.on }],
    ["the least", { limit: 1 }, { limit: 1, backoffMs: 30_000, maxBackoffMs: 600_000, on: ALL.on.slice(0, 4) }],
    ["always the same", { limit: 2, backoff: "1m", max_backoff: "1m" }, { backoffMs: 60_000, maxBackoffMs: 60_000 }],
    [
      "longer than the longest by default",
      { limit: 2, backoff: "1h" },
      { backoffMs: 3_600_000, maxBackoffMs: 3_600_000 },
    ],
    ["shorter than the first by default", { limit: 2, max_backoff: "5s" }, { backoffMs: 5_000, maxBackoffMs: 5_000 }],
    ["exit codes, one text", { limit: 2, on: "75, timeout" }, { on: [75, "timeout"] }],
    ["said twice", { limit: 2, on: ["exit", "exit"] }, { on: ["exit"] }],
  ])("%s", (_title, raw, rule) => {
    expect(retryOf(raw)).toMatchObject(rule);
  });

  test.each(["@retry(3,30s,10m,on=exit;timeout)", "@retry(limit=3,backoff=30s,max_backoff=10m,on=exit;timeout)"])(
    "as a line: %s",
    (modifier) => {
      const { job, problems } = readKronLine(`0 3 * * * ${modifier} name=a command=true`, { file: "f", line: 1 });
      expect(problems).toEqual([]);
      expect(job?.definition).toEqual(definitionOf({ retry: { ...ALL, on: ["exit", "timeout"] } }));
    },
  );

  test("it is stored, read back and shortened without a change, and is none of the rule that decisions depend on", () => {
    const definition = definitionOf({ retry: { limit: 3, on: [75, "timeout"] } });
    const text = canonicalDefinitionText(definition);
    expect(readDefinitionInForce(text)).toEqual({ definition, problems: [] });
    expect(requireOk(readJobDefinition(minimalRaw(definition)))).toEqual(definition);
    expect(canonicalRuleText(definition)).toBe(canonicalRuleText(definitionOf({})));
    expect(definitionFromCanonical(text)).toEqual(definition);
    expect(canonicalParts(text, "a")?.isSuspended).toBe(false);
  });

  test("defaults are merged, and give way where there is an interval", () => {
    const defaults = requireOk(readJobDefaults({ retry: { limit: 5, backoff: "1m" } }));
    const own = requireOk(readJobDefinition({ ...BASE, retry: { limit: 2 } }, defaults));
    expect(own.policy.retry).toMatchObject({ limit: 2, backoffMs: 60_000 });
    const { schedule: _, ...rest } = BASE;
    expect(requireOk(readJobDefinition({ ...rest, every: "90s" }, defaults)).policy).not.toHaveProperty("retry");
  });
});

describe("what is wrong is said where it is", () => {
  test.each([
    [{}, ["field-missing retry.limit: missing field limit"]],
    [
      { limit: 2, backoff: "10m", max_backoff: "30s" },
      ["duration-range retry.max_backoff: max_backoff 30s is shorter than backoff 10m"],
    ],
    [
      { limit: 2, backoff: "10ms" },
      ["duration-range retry.backoff: a retry comes whole seconds after the failure, from 1s to 24h"],
    ],
    [{ limit: 2, on: ["exits"] }, ['field-range retry.on.0: "exits" is no way to end']],
    [{ limit: 2, max_backoff: "later" }, ["duration-syntax retry.max_backoff: not a duration"]],
    [{ limit: 2, on: [0] }, ["field-range retry.on.0: 0 is no exit code of a failure"]],
    [{ limit: 2, on: [] }, ["field-range retry.on: nothing is retried"]],
  ])("%j", (retry, problems) => {
    expect(problemsOf({ retry })).toEqual(problems);
  });

  test.each([0, 21, 1.5])("limit is from 1 to 20: %s", (limit) => {
    expect(problemsOf({ retry: { limit } })).toEqual([expect.stringContaining("retry.limit")]);
  });

  test("an interval is not retried", () => {
    const { schedule: _, ...rest } = BASE;
    const read = readJobDefinition({ ...rest, every: "90s", retry: { limit: 2 } });
    expect(read.ok ? [] : read.error.map(({ code, path }) => [code, path])).toEqual([["field-conflict", ["retry"]]]);
  });
});

test("the delay doubles up to the longest", () => {
  const rule = { limit: 9, backoffMs: 30_000, maxBackoffMs: 600_000, on: ["exit"] } as const;
  expect([1, 2, 3, 4, 5, 6, 7].map((failed) => delayMs(rule, failed) / 1000)).toEqual([
    30, 60, 120, 240, 480, 600, 600,
  ]);
});
