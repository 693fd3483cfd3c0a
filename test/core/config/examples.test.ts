import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { configFormatOf } from "../../../src/core/config/formats.js";
import { lintWarnings } from "../../../src/core/config/lint/lint.js";
import { readConfigText } from "../../../src/core/config/readers.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { MINUTE_MS, parseInstant } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";

const EXAMPLES = new URL("../../../examples/", import.meta.url);
const AT = requireOk(parseInstant("2026-11-18T12:00:00Z"));

const files = readdirSync(EXAMPLES).flatMap((name) => {
  const format = configFormatOf(name);
  return format === null ? [] : [{ name, format }];
});

describe.each(files)("examples/$name", ({ name, format }) => {
  const reading = readConfigText(format, name, readFileSync(new URL(name, EXAMPLES), "utf8"));

  test("has jobs and no problems", () => {
    expect(reading.problems).toEqual([]);
    expect(reading.jobs.length).toBeGreaterThan(3);
  });

  test("runs nothing that is more than a print, a pause or a date", () => {
    const programs = reading.jobs.map(({ definition: { target } }) =>
      target.kind === "process" ? target.argv[0]?.split(/[ ;]/)[0] : target.kind,
    );
    expect(
      [...new Set(programs)].sort().filter((program) => !["date", "echo", "sleep"].includes(program ?? "")),
    ).toEqual([]);
  });

  test("shows something within two minutes of any moment", () => {
    const rules = reading.jobs.map(({ definition }) => compileRule(definition));
    const chosen = rules.flatMap((rule) =>
      [...rule.schedule.between(AT, AT + 2 * MINUTE_MS)].map((nominalAt) => decide(rule, nominalAt).chosenAt),
    );
    expect(chosen.filter((chosenAt) => chosenAt !== null && chosenAt <= AT + 2 * MINUTE_MS).length).toBeGreaterThan(1);
  });
});

test("the example is a crowd at the full hour, and windows take it apart", () => {
  const text = readFileSync(new URL("krond.yaml", EXAMPLES), "utf8");
  const rules = readConfigText("yaml", "krond.yaml", text).jobs.map(({ definition }) => compileRule(definition));
  const [nominal, chosen] = [new Map<number, number>(), new Map<number, number>()];
  const note = (counts: Map<number, number>, at: number): void => {
    const minute = Math.floor(at / MINUTE_MS);
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  };
  for (const rule of rules) {
    for (const nominalAt of rule.schedule.between(AT, AT + 24 * 60 * MINUTE_MS)) {
      note(nominal, nominalAt);
      const { chosenAt } = decide(rule, nominalAt);
      if (chosenAt !== null) note(chosen, chosenAt);
    }
  }
  const [fullest, asWritten] = [Math.max(...chosen.values()), Math.max(...nominal.values())];
  expect(fullest).toBeLessThan(asWritten / 2);
  // Each hour, not once a day.
  expect([...nominal.values()].filter((count) => count > 2 * fullest).length).toBeGreaterThanOrEqual(24);
});

test("the unschedulable job of the example is one, and lint says so beforehand", () => {
  const text = readFileSync(new URL("krond.yaml", EXAMPLES), "utf8");
  const rules = readConfigText("yaml", "krond.yaml", text).jobs.map(({ definition }) => compileRule(definition));
  const excluded = lintWarnings(rules, AT).filter(
    ({ kind, message }) => kind === "window-excluded" && message.includes(" all "),
  );
  expect(excluded.flatMap(({ identities }) => identities)).toEqual(["demo/impossible"]);
});

test("formats are told by the names of files", () => {
  const names = ["a.yaml", "a.yml", "a.kron", "a.jsonl", "a.json", "a.yaml.bak", "yaml", "a.constructor", ".kron"];
  expect(names.map(configFormatOf)).toEqual(["yaml", "yaml", "kron", "jsonl", null, null, null, null, "kron"]);
});
