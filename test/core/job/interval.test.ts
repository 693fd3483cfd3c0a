/** Jobs without nominal times: how they are written, what they become, and what goes with cron periods only. */
import { describe, expect, test } from "vitest";
import { readKronLine } from "../../../src/core/config/line/kron-line.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import type { CompiledRule } from "../../../src/core/decision/model.js";
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
const NOW = Date.UTC(2026, 2, 28);

function definitionOf(more: object): JobDefinition {
  return requireOk(readJobDefinition({ ...BASE, ...more }));
}

function lineDefinitionOf(line: string): JobDefinition {
  const { job, problems } = readKronLine(line, { file: "f.kron", line: 1 });
  if (job === null) throw new Error(`expected a job, got ${JSON.stringify(problems)}`);
  return job.definition;
}

describe("one interval, however it is written", () => {
  test.each([
    ["every", { every: "90s" }],
    ["in other units", { every: "1.5m" }],
    ["as robfig/cron writes it", { schedule: "@every 90s" }],
    ["with capitals and blanks", { schedule: " @Every \t1m30s " }],
  ])("%s", (_title, more) => {
    const definition = definitionOf(more);
    expect(definition.schedule).toBe("@every 1m30s");
    expect(definition).toEqual(definitionOf({ every: "90s" }));
  });

  test.each(["@every(90s) name=a command=true", "@every 90s name=a command=true", "name=a command=true @every(1m30s)"])(
    "as a line: %s",
    (line) => {
      expect(lineDefinitionOf(line)).toEqual(definitionOf({ every: "90s" }));
    },
  );

  test.each([
    ["1s", 1000],
    ["1500ms", 1500],
    ["8784h", 366 * 24 * 3_600_000],
  ])("%s is within the bounds, to the millisecond", (every, everyMs) => {
    expect(compileRule(definitionOf({ every })).everyMs).toBe(everyMs);
  });

  test("every of the defaults does not exist: an interval is a job's own", () => {
    expect(readJobDefaults({ every: "90s" }).ok).toBe(false);
  });
});

describe("the canonical text", () => {
  test("of an interval", () => {
    expect(canonicalRuleText(definitionOf({ every: "90s", min_interval: "1m", max_interval: "0.5h" }))).toBe(
      '{"identity":"a","schedule":"@every 1m30s","timezone":"UTC","dst":{"gap":"skip","overlap":"both"},' +
        '"window":{"mode":"after","duration":"0s"},"distribution":{"name":"uniform"},' +
        '"seed":{"strategy":"stable","salt":""},"min_interval":"1m","max_interval":"30m"}',
    );
  });

  test("S14: a bound is part of the rule, and without one the text is what it was before there were any", () => {
    const bare = canonicalRuleText(definitionOf({ schedule: "@daily" }));
    expect(bare).not.toContain("interval");
    expect(canonicalRuleText(definitionOf({ schedule: "@daily", max_interval: "1h" }))).toBe(
      `${bare.slice(0, -1)},"max_interval":"1h"}`,
    );
  });

  test.each([
    { every: "90s" },
    { every: "1s", min_interval: "2s", description: "x", tags: ["t"] },
    { every: "90s", timezone: "Europe/Berlin", max_interval: "1h" },
    { schedule: "*/5 * * * *", min_interval: "1m", max_interval: "1h", window: { duration: "5m" } },
  ])("%j is read back by every reader", (more) => {
    const definition = definitionOf(more);
    const text = canonicalDefinitionText(definition);
    expect(definitionFromCanonical(text)).toEqual(definition);
    expect(requireOk(readJobDefinition(JSON.parse(text)))).toEqual(definition);
    expect(readDefinitionInForce(text)).toEqual({ definition, problems: [] });
    expect(requireOk(readJobDefinition(minimalRaw(definition)))).toEqual(definition);
  });

  test("what a person would write of it", () => {
    const raw = { ...BASE, schedule: "@every 90s", max_interval: "1h" };
    expect(minimalRaw(definitionOf(raw))).toEqual({ ...raw, schedule: "@every 1m30s" });
  });
});

describe("a compiled rule", () => {
  test("of an interval has no cron period to find", () => {
    const { schedule, everyMs, minMs, maxMs } = compileRule(definitionOf({ every: "90s", max_interval: "10m" }));
    expect([everyMs, minMs, maxMs]).toEqual([90_000, null, 600_000]);
    expect([schedule.next(NOW), schedule.previous(NOW), schedule.matches(NOW)]).toEqual([null, null, false]);
    expect([...schedule.between(0, NOW)]).toEqual([]);
    expect(schedule.smallestGapMs).toBe(Number.POSITIVE_INFINITY);
  });

  test("of a cron expression has no interval, and may have bounds", () => {
    const { schedule, everyMs, minMs, maxMs } = compileRule(definitionOf({ schedule: "@hourly", min_interval: "1s" }));
    expect([everyMs, minMs, maxMs]).toEqual([null, 1000, null]);
    expect(schedule.next(NOW)).toBe(NOW + 3_600_000);
  });

  test.each([
    { every: "90s" },
    { every: "90s", min_interval: "1m", max_interval: "2h", timezone: "Asia/Tokyo" },
    { schedule: "7 3 * * *", min_interval: "1m" },
    { schedule: "7 3 * * *", max_interval: "1h", window: { duration: "1h" } },
  ])("of a job at rest is the same: %j", (more) => {
    const definition = definitionOf(more);
    const tail = canonicalParts(canonicalDefinitionText(definition), "a")?.ruleTail ?? "";
    const { sample, schedule: _, accepts, zone, ...plain } = compileRule(definition);
    const { policy, target, notify, description, tags, ...rule } = definition;
    expect(restingRule("a", tail)).toMatchObject({ ...plain, rule } satisfies Partial<CompiledRule>);
    expect(restingRule("a", tail)?.schedule.next(NOW)).toBe(compileRule(definition).schedule.next(NOW));
  });
});

describe("what is refused, and where", () => {
  const rows: readonly [title: string, more: object, problems: readonly string[]][] = [
    ["both kinds", { schedule: "@daily", every: "1h" }, ["field-conflict every"]],
    ["the same interval twice", { schedule: "@every 1h", every: "1h" }, ["field-conflict every"]],
    ["neither", {}, ["field-missing schedule"]],
    ["a number", { every: 90 }, ["field-type every"]],
    ["no unit", { every: "90" }, ["duration-syntax every 0-2"]],
    ["nothing", { every: "" }, ["duration-syntax every 0-0"]],
    ["zero", { every: "0s" }, ["duration-range every 0-2"]],
    ["negative", { every: "-90s" }, ["duration-negative every 0-4"]],
    ["below a second", { every: "999ms" }, ["duration-range every 0-5"]],
    ["finer than milliseconds", { every: "1s1us" }, ["duration-range every 0-5"]],
    ["above 366 days", { every: "8784h1ms" }, ["duration-range every 0-8"]],
    ["@every alone", { schedule: "@every" }, ["duration-syntax schedule 0-6"]],
    ["@every without a duration", { schedule: "@every hour" }, ["duration-syntax schedule 7-11"]],
    ["@every below a second", { schedule: "@every 10ms" }, ["duration-range schedule 7-11"]],
    ["@every too long", { schedule: `@every ${"1s".repeat(200)}` }, ["limit-exceeded schedule 0-407"]],
    ["another macro", { schedule: "@every_minute" }, ["cron-syntax schedule 0-13"]],
    ["a window", { every: "1h", window: { duration: "5m" } }, ["field-conflict window.duration"]],
    ["a distribution", { every: "1h", distribution: "skewEarly" }, ["field-conflict distribution"]],
    ["a seed", { every: "1h", seed: { salt: "x" } }, ["field-conflict seed"]],
    ["rules for clock changes", { every: "1h", dst: { gap: "next" } }, ["field-conflict dst"]],
    ["constraints", { every: "1h", constraints: { only: "dow=MON" } }, ["field-conflict constraints"]],
    ["a bound of zero", { every: "1h", min_interval: "0s" }, ["duration-range min_interval 0-2"]],
    ["a bound that cannot be read", { every: "1h", max_interval: "soon" }, ["duration-syntax max_interval 0-4"]],
    ["min above max", { every: "1h", min_interval: "2h", max_interval: "90m" }, ["duration-range min_interval"]],
    ["on cron too", { schedule: "@daily", min_interval: "2h", max_interval: "1h" }, ["duration-range min_interval"]],
  ];
  test.each(rows)("%s", (_title, more, problems) => {
    const read = readJobDefinition({ ...BASE, ...more });
    const found = read.ok ? [] : read.error;
    const told = found.map(({ code, path, span }) =>
      [code, path.join("."), ...(span === undefined ? [] : [`${span.start}-${span.end}`])].join(" "),
    );
    expect(told).toEqual(problems);
  });

  test("min above max names both", () => {
    const read = readJobDefinition({ ...BASE, every: "1h", min_interval: "2h", max_interval: "90m" });
    expect(read.ok ? [] : read.error.map(({ message }) => message)).toEqual([
      "min_interval 2h is longer than max_interval 1h30m",
    ]);
  });

  test("what is refused next to an interval says what to write instead", () => {
    const read = readJobDefinition({ ...BASE, every: "1h", window: { duration: "5m" } });
    expect(read.ok ? [] : read.error.map(({ message, hint }) => `${message}: ${hint}`)).toEqual([
      "an interval has no windows: leave it out, or write a cron schedule",
    ]);
  });

  test("to say what holds anyway is no fault", () => {
    const said = { window: { duration: "0s" }, distribution: "uniform", seed: { strategy: "stable" }, constraints: {} };
    expect(definitionOf({ every: "1h", ...said })).toEqual(definitionOf({ every: "1h" }));
  });
});

describe("defaults of a file", () => {
  test("what they say of periods is not meant for intervals", () => {
    const defaults = requireOk(
      readJobDefaults({
        window: { duration: "10m" },
        distribution: "skewEarly",
        seed: { salt: "x" },
        dst: { gap: "next" },
        constraints: { only: "dow=MON" },
        timezone: "Asia/Tokyo",
        max_interval: "1h",
      }),
    );
    expect(requireOk(readJobDefinition({ ...BASE, every: "90s" }, defaults))).toEqual(
      definitionOf({ every: "90s", timezone: "Asia/Tokyo", max_interval: "1h" }),
    );
  });

  test("a bound of theirs that contradicts the job's own is told of the job's", () => {
    const defaults = requireOk(readJobDefaults({ min_interval: "10m" }));
    const read = readJobDefinition({ ...BASE, every: "90s", max_interval: "5m" }, defaults);
    expect(read.ok ? [] : read.error.map(({ path }) => path)).toEqual([["max_interval"]]);
  });
});
