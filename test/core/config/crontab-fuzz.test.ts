import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/base/limits.js";
import { readCrontab } from "../../../src/core/config/crontab/crontab.js";
import { crontabYaml, exportedJobs } from "../../../src/core/config/crontab/export.js";
import { readYamlConfig } from "../../../src/core/config/yaml/reader.js";
import { FUZZ } from "../../support/fuzz.js";

const field = fc.oneof(
  fc.constantFrom("*", "*/2", "1-5", "0,7", "mon-fri", "JAN", "1-31", "*/1", "5/15", "08", "0~9", "99", "*,1", ""),
  fc.stringMatching(/^[0-9*/,a-z-]{1,6}$/),
);
const schedule = fc.oneof(
  fc.array(field, { minLength: 4, maxLength: 6 }).map((fields) => fields.join(" ")),
  fc.constantFrom("@daily", "@hourly", "@reboot", "@x", "-@daily"),
);
const tail = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[a-z%\\ "'=#]{0,20}$/));
const value = fc.constantFrom("1", '"a b"', "'x", "Asia/Tokyo", "/bin/bash", "45", "", "a\u0000b", "$HOME");
const name = fc.constantFrom(
  "A",
  "SHELL",
  "PATH",
  "HOME",
  "MAILTO",
  "CRON_TZ",
  "RANDOM_DELAY",
  "LOGNAME",
  '"q"',
  "x-y",
);
const line = fc.oneof(
  fc.tuple(schedule, tail).map((parts) => parts.join(" ")),
  fc.tuple(name, fc.constantFrom("=", " = "), value).map((parts) => parts.join("")),
  fc.string(),
  fc.constantFrom("", "# comment", "#"),
);
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));

const rules = { timezone: "Europe/Berlin", owner: "alice" };

describe("R12: crontabs of any kind", () => {
  test("every line gets one verdict, and a job or a problem", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("user" as const, "system" as const), (crontab, form) => {
        const { lines, jobs, problems } = readCrontab("/etc/cron.d/x", crontab, { ...rules, form });
        const spoken = crontab.split("\n").flatMap((it, index) => (/^[ \t\r]*(?:#|$)/.test(it) ? [] : [index + 1]));
        expect(lines.map((it) => it.line)).toEqual(spoken.filter((at) => lines.some((it) => it.line === at)));
        for (const { line: at, kind, verdict } of lines) {
          const isJob = jobs.some((job) => job.line === at);
          const isProblem = problems.some((problem) => problem.line === at);
          expect([kind, verdict, isJob && isProblem]).toEqual([kind, verdict, false]);
          expect(kind === "job" ? isJob !== isProblem : !isJob).toBe(true);
        }
        expect(new Set(jobs.map(({ definition }) => definition.identity)).size).toBe(jobs.length);
      }),
      FUZZ,
    );
  });

  test("what is imported reads back from YAML as the same jobs, whatever stands in comments and commands", () => {
    fc.assert(
      fc.property(text, (crontab) => {
        const jobs = exportedJobs([readCrontab("/etc/cron.d/x", crontab, { ...rules, form: "user" })]);
        const { jobs: back, problems } = readYamlConfig("x.yaml", crontabYaml(jobs));
        expect(problems).toEqual([]);
        expect(back.map(({ definition }) => definition)).toEqual(jobs.map(({ definition }) => definition));
      }),
      { ...FUZZ, numRuns: FUZZ.numRuns / 4 },
    );
  });

  /** Of a size at which anything that is not linear would take minutes. */
  const size = LIMITS.crontabLineChars - 10;
  const hostile: readonly [title: string, line: string][] = [
    ["blanks", " ".repeat(size)],
    ["a name without end", "A".repeat(size)],
    ["blanks before =", `A${" ".repeat(size - 1)}`],
    ["blanks in a value", `A=x${" ".repeat(size - 8)}x`],
    ["an open quote", `A="${"x".repeat(size)}`],
    ["quotes", '"'.repeat(size)],
    ["commas", `${"1,".repeat(size / 2)}1 * * * * a`],
    ["dashes", `${"-".repeat(size)} * * * * a`],
    ["digits", `${"1".repeat(size)} * * * * a`],
    ["percents", `@daily ${"%".repeat(size - 8)}`],
    ["backslashes", `@daily ${"\\".repeat(size - 8)}`],
    ["carriage returns", `@daily a${"\r".repeat(size - 8)}`],
    ["a step of next to nothing", `0-999999999/1 * * * * a`],
  ];

  test.each(hostile)("%s", (_title, hostileLine) => {
    const { lines, problems } = readCrontab("x", `${hostileLine}\n@daily b\n`, { ...rules, form: "user" });
    expect(problems.length + lines.length).toBeLessThan(10);
    expect(lines.at(-1)?.line).toBe(2);
  });
});
