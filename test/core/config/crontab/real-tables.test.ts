/**
 * Two hundred lines as people have them: habits, how-tos, mistakes, and what other schedulers taught them. The verdict of
 * each, and why it is not simply the same, stands in the `.verdicts` file beside the table.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { type CrontabForm, readCrontab } from "../../../../src/core/config/crontab/crontab.js";
import { crontabYaml, exportedJobs } from "../../../../src/core/config/crontab/export.js";
import { readYamlConfig } from "../../../../src/core/config/yaml/reader.js";

const TABLES = ["user", "system"] as const satisfies readonly CrontabForm[];

function read(file: string): string {
  return readFileSync(resolve(import.meta.dirname, "real", file), "utf8");
}

function readingOf(form: CrontabForm) {
  return readCrontab(`${form}.crontab`, read(`${form}.crontab`), { form, timezone: "America/Chicago", owner: null });
}

describe("crontabs as people have them", () => {
  test("there are two hundred lines of them", () => {
    expect(TABLES.flatMap((form) => readingOf(form).lines).length).toBeGreaterThanOrEqual(200);
  });

  test.each(TABLES)("%s form: every line has the verdict that was found right by hand", (form) => {
    const { lines } = readingOf(form);
    const found = lines.map(({ line, text, verdict, notes }) => [line, verdict, text, ...notes].join(" | "));
    expect(found).toEqual(read(`${form}.verdicts`).trimEnd().split("\n"));
  });

  test.each(TABLES)("%s form: a line that is not lost is a job, and reads back from YAML as it is", (form) => {
    const reading = readingOf(form);
    const wanted = reading.lines.filter(({ kind, verdict }) => kind === "job" && verdict !== "unsupported");
    expect(reading.jobs.map(({ line }) => line)).toEqual(wanted.map(({ line }) => line));
    const exported = exportedJobs([reading]);
    const back = readYamlConfig("jobs.yaml", crontabYaml(exported));
    expect(back.problems).toEqual([]);
    expect(back.jobs.map(({ definition }) => definition)).toEqual(exported.map(({ definition }) => definition));
  });

  test.each(TABLES)("%s form: what is lost is a problem with its place and, for a job, none of the others", (form) => {
    const { lines, problems } = readingOf(form);
    const lost = lines.filter(
      ({ verdict, notes }) => verdict === "unsupported" && !/^no mail is sent/.test(notes[0] ?? ""),
    );
    expect([...new Set(problems.map(({ line }) => line))]).toEqual(lost.map(({ line }) => line));
  });
});
