/** Jobs that run once: how they are written, what they become, and what does not go with them. */
import { describe, expect, test } from "vitest";
import { readKronLine } from "../../../src/core/config/line/kron-line.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { type CompiledRule, hasPeriods } from "../../../src/core/decision/model.js";
import { definitionFromCanonical } from "../../../src/core/job/canonical.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { minimalRaw } from "../../../src/core/job/minimal.js";
import {
  canonicalDefinitionText,
  canonicalRuleText,
  readDefinitionInForce,
  readJobDefaults,
  readJobDefinition,
} from "../../../src/core/job/schema.js";
import { canonicalParts } from "../../../src/core/restart/cut.js";
import { restingRule } from "../../../src/core/restart/resting-rule.js";
import { requireOk } from "../../support/results.js";

const BASE = { identity: "a", command: ["true"] };
const AT = "2026-12-01T03:00";

function definitionOf(more: object): JobDefinition {
  return requireOk(readJobDefinition({ ...BASE, ...more }));
}

function told(more: object): readonly string[] {
  const read = readJobDefinition({ ...BASE, ...more });
  return read.ok ? [] : read.error.map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
}

describe("one time, however it is written", () => {
  test.each([
    ["at", { at: AT }],
    ["to the second", { at: "2026-12-01T03:00:00" }],
    ["as a schedule", { schedule: `@at ${AT}` }],
    ["with capitals and blanks", { schedule: ` @AT \t${AT} ` }],
  ])("%s", (_title, more) => {
    expect(definitionOf(more)).toEqual(definitionOf({ at: AT }));
    expect(definitionOf(more).schedule).toBe(`@at ${AT}`);
  });

  test.each([`@at ${AT} name=a command=true`, `@at(${AT}) name=a command=true`, `name=a command=true @at(${AT})`])(
    "as a line: %s",
    (line) => {
      const { job, problems } = readKronLine(line, { file: "f.kron", line: 1 });
      expect(problems).toEqual([]);
      expect(job?.definition).toEqual(definitionOf({ at: AT }));
    },
  );

  test.each<[string, string, number, number]>([
    ["@at tomorrow name=a command=true", "@at needs a date and a time", 1, 3],
    ["@at 2026-02-30T03:00 name=a command=true", "there is no date 2026-02-30", 5, 16],
    ["@at(03:00) name=a command=true", '"03:00" is no date and time', 5, 5],
    ["@at() name=a command=true", "an argument is missing", 5, 1],
    [`0 3 * * * @at(${AT}) name=a command=true`, "a job has a cron schedule or one time, not both", 15, 16],
  ])("a line that is wrong is told where: %s", (line, message, column, length) => {
    const { job, problems } = readKronLine(line, { file: "f.kron", line: 1 });
    expect(job).toBeNull();
    expect(problems.map(({ problem, ...place }) => ({ message: problem.message, ...place }))).toContainEqual(
      expect.objectContaining({ message, line: 1, column, length }),
    );
  });

  test("at of the defaults does not exist: a time is a job's own", () => {
    expect(readJobDefaults({ at: AT }).ok).toBe(false);
  });
});

describe("what it becomes", () => {
  test("a rule with one period, late rather than left out, and never doubled", () => {
    const compiled = compileRule(definitionOf({ at: "2026-10-25T02:30", timezone: "Europe/Berlin" }));
    expect(hasPeriods(compiled)).toBe(true);
    expect(compiled.rule.dst).toEqual({ gap: "next", overlap: "first" });
    expect([...compiled.schedule.between(0, Date.UTC(2100, 0))]).toEqual([Date.parse("2026-10-25T00:30:00Z")]);
  });

  test("the canonical text", () => {
    expect(canonicalRuleText(definitionOf({ at: AT }))).toBe(
      '{"identity":"a","schedule":"@at 2026-12-01T03:00","timezone":"UTC","dst":{"gap":"next","overlap":"first"},' +
        '"window":{"mode":"after","duration":"0s"},"distribution":{"name":"uniform"},' +
        '"seed":{"strategy":"stable","salt":""}}',
    );
  });

  test.each([
    { at: AT },
    { at: "2026-12-01T03:00:30+05:30", window: { mode: "before", duration: "744h" }, seed: { salt: "x" } },
    { at: AT, timezone: "Europe/Berlin", dst: { gap: "skip", overlap: "last" }, constraints: { avoid: "dow=SUN" } },
    { at: AT, retry: { limit: 2 }, policy: { deadline: "1h" } },
  ])("%j is read back by every reader", (more) => {
    const definition = definitionOf(more);
    const text = canonicalDefinitionText(definition);
    expect(definitionFromCanonical(text)).toEqual(definition);
    expect(requireOk(readJobDefinition(JSON.parse(text)))).toEqual(definition);
    expect(readDefinitionInForce(text)).toEqual({ definition, problems: [] });
    expect(requireOk(readJobDefinition(minimalRaw(definition)))).toEqual(definition);
  });

  test("what a person would write of it", () => {
    expect(minimalRaw(definitionOf({ at: AT }))).toEqual({ ...BASE, schedule: `@at ${AT}` });
  });

  test.each([{ at: AT }, { at: AT, timezone: "Europe/Berlin", window: { duration: "1h" } }])(
    "of a job at rest it is the same: %j",
    (more) => {
      const definition = definitionOf(more);
      const tail = canonicalParts(canonicalDefinitionText(definition), "a")?.ruleTail ?? "";
      const { sample, schedule, accepts, zone, ...plain } = compileRule(definition);
      const { policy, target, notify, description, tags, ...rule } = definition;
      expect(restingRule("a", tail)).toMatchObject({ ...plain, rule } satisfies Partial<CompiledRule>);
      expect(restingRule("a", tail)?.schedule.next(0)).toBe(schedule.next(0));
    },
  );

  test("defaults: windows are meant for it, rhythms and repeated times are not", () => {
    const defaults = requireOk(
      readJobDefaults({ window: { duration: "1h" }, min_interval: "1m", dst: { gap: "skip", overlap: "both" } }),
    );
    const read = requireOk(readJobDefinition({ ...BASE, at: AT }, defaults));
    expect([read.window.durationMs, read.pace, read.dst]).toEqual([
      3_600_000,
      undefined,
      { gap: "skip", overlap: "first" },
    ]);
  });
});

describe("what is wrong is said where it is", () => {
  test.each<[object, readonly string[]]>([
    [{ at: AT, schedule: "@daily" }, ["field-conflict at: a job has a cron schedule or one time, not both"]],
    [{ at: AT, every: "1h" }, ["field-conflict at: a job has an interval or one time, not both"]],
    [
      { at: AT, every: "1h", schedule: "@daily" },
      [
        "field-conflict every: a job has a cron schedule or an interval, not both",
        "field-conflict at: a job has a cron schedule or one time, not both",
      ],
    ],
    [{ at: "tomorrow" }, ['instant-syntax at: "tomorrow" is no date and time']],
    [{ at: "" }, ['instant-syntax at: "" is no date and time']],
    [{ at: 20261201 }, ["field-type at: expected text, got the number 20261201"]],
    [{ at: "2026-13-01T00:00" }, ["instant-range at: there is no date 2026-13-01"]],
    [{ schedule: "@at" }, ["instant-syntax schedule: @at needs a date and a time"]],
    [
      { at: AT, min_interval: "1m" },
      ["field-conflict min_interval: a job that runs once has no pace: no run comes before or after it"],
    ],
    [
      { at: AT, max_interval: "1m" },
      ["field-conflict max_interval: a job that runs once has no pace: no run comes before or after it"],
    ],
    [{ at: AT, dst: { overlap: "both" } }, ["field-conflict dst.overlap: a job that runs once has no second time"]],
    [
      { at: AT, window: { duration: "745h" } },
      ["duration-range window.duration: window 745h exceeds the limit of 744h"],
    ],
  ])("%j", (more, problems) => {
    expect(told(more)).toEqual(problems);
  });

  test("nothing that is due at all", () => {
    expect(told({})).toEqual(['field-missing schedule: missing field "schedule"']);
  });
});
