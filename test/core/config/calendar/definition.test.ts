import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../../src/core/base/limits.js";
import { calendarsBlock } from "../../../../src/core/config/calendar/block.js";
import { calendarFilesNamed } from "../../../../src/core/config/calendar/named-files.js";
import type { ConfigReading } from "../../../../src/core/config/located.js";
import { readConfigText } from "../../../../src/core/config/readers.js";
import { readYamlConfig } from "../../../../src/core/config/yaml/reader.js";
import { definitionFromCanonical } from "../../../../src/core/job/canonical.js";
import { canonicalDefinitionText, definitionToRaw, readDefinitionInForce } from "../../../../src/core/job/schema.js";

function jobs(constraints: string): string {
  return `jobs:\n  - identity: a\n    schedule: "0 1 * * *"\n    constraints: ${constraints}\n    command: [echo, x]\n`;
}

const HOLIDAYS =
  "calendars:\n  de-holidays: { dates: [2026-12-26, 2026-12-25, 2026-12-31..2027-01-01] }\n  fair: { dates: 2026-09-05 }\n";
const DATES = "calendar=de-holidays(2026-12-25..2026-12-26,2026-12-31..2027-01-01)";

function constraintsOf({ jobs: [job], problems }: ConfigReading): unknown {
  expect(problems).toEqual([]);
  return job === undefined ? null : definitionToRaw(job.definition).constraints;
}

function problemsOf(text: string): string[] {
  return readYamlConfig("f.yaml", text).problems.map(
    ({ line, column, problem: { code, message, hint } }) => `${line}:${column} ${code}: ${message} (${hint ?? ""})`,
  );
}

describe("calendars of a YAML file", () => {
  test.each([
    { constraints: '{ avoid: "calendar=de-holidays" }', read: { avoid: DATES } },
    { constraints: "{ only: calendar=de-holidays }", read: { only: DATES } },
    { constraints: "{ avoid: [calendar=de-holidays, dow=SUN] }", read: { avoid: `${DATES};dow=SUN` } },
    { constraints: '{ avoid: "calendar=fair, de-holidays" }', read: { avoid: `calendar=fair(2026-09-05);${DATES}` } },
    {
      constraints: '{ avoid: "calendar=other(2026-01-02,2026-01-01)" }',
      read: { avoid: "calendar=other(2026-01-01..2026-01-02)" },
    },
  ])("$constraints carries the dates with it", ({ constraints, read }) => {
    expect(constraintsOf(readYamlConfig("f", HOLIDAYS + jobs(constraints)))).toEqual(read);
    expect(constraintsOf(readYamlConfig("f", jobs(constraints) + HOLIDAYS))).toEqual(read);
  });

  test("defaults may name them, and a large file is read in batches to the same", () => {
    const text = `${HOLIDAYS}defaults: { constraints: { avoid: calendar=de-holidays } }\n${jobs("{ only: dow=MON }")}`;
    for (const wholeChars of [0, 1_000_000]) {
      expect(constraintsOf(readYamlConfig("f", text, { wholeChars }))).toEqual({ only: "dow=MON", avoid: DATES });
    }
  });

  test("S16: a definition in force is read back without the calendars, and another calendar is another definition", () => {
    const [text, other] = [HOLIDAYS, HOLIDAYS.replace("2026-12-26", "2026-12-24")].map((calendars) => {
      const [job] = readYamlConfig("f", calendars + jobs("{ avoid: calendar=de-holidays }")).jobs;
      return job === undefined ? "" : canonicalDefinitionText(job.definition);
    });
    expect(readDefinitionInForce(text ?? "")?.problems).toEqual([]);
    expect(definitionFromCanonical(text ?? "")?.constraints.avoid).toMatchObject([
      { kind: "calendar", name: "de-holidays" },
    ]);
    expect(other).not.toBe(text);
  });

  test("the same name in another file is another calendar", () => {
    const other = HOLIDAYS.replace("[2026-12-26, 2026-12-25, 2026-12-31..2027-01-01]", "2030-05-01");
    const read = (text: string): unknown =>
      constraintsOf(readYamlConfig("f", text + jobs("{ avoid: calendar=de-holidays }")));
    expect([read(HOLIDAYS), read(other)]).toEqual([{ avoid: DATES }, { avoid: "calendar=de-holidays(2030-05-01)" }]);
  });

  test("files of dates are added to the dates", () => {
    const text = `calendars:\n  x: { dates: [2026-01-01], file: a.ics }\n${jobs("{ avoid: calendar=x }")}`;
    const calendarFiles = new Map([["a.ics", [{ from: 20_455, to: 20_455 }]]]);
    const reading = readYamlConfig("f", text, { calendarFiles });
    expect(constraintsOf(reading)).toEqual({ avoid: "calendar=x(2026-01-01..2026-01-02)" });
  });
});

describe("what is wrong with calendars is told where it stands", () => {
  const use = jobs("{ avoid: calendar=de-holidays }");
  test.each([
    {
      text: jobs("{ avoid: calendar=de-holidays }"),
      problem: /^4:\d+ calendar-unknown: unknown calendar "de-holidays" \(define it in this file/,
    },
    {
      text: HOLIDAYS + jobs("{ avoid: calendar=de-holiday }"),
      problem: /^7:\d+ calendar-unknown: .*\(did you mean de-holidays\?\)/,
    },
    { text: HOLIDAYS + jobs("{ avoid: calendar=ponies }"), problem: /\(known here: de-holidays, fair\)/ },
    { text: HOLIDAYS + jobs("{ avoid: calendar= }"), problem: /constraint-syntax: "" is not a name for a calendar/ },
    {
      text: HOLIDAYS + jobs('{ avoid: "calendar=x(2026-01-01" }'),
      problem: /constraint-syntax: the dates of a calendar end/,
    },
    { text: HOLIDAYS + jobs('{ avoid: "calendar=x()" }'), problem: /constraint-syntax: "" is not a date/ },
    {
      text: HOLIDAYS + jobs('{ avoid: "calendar=x(2026-02-30)" }'),
      problem: /constraint-range: there is no day 2026-02-30/,
    },
    { text: `calendars:\n  x: {}\n${use}`, problem: /^2:6 calendar-invalid: the calendar has no dates \(write dates/ },
    { text: `calendars: 5\n${use}`, problem: /^1:12 field-type: expected a mapping of calendars/ },
    { text: `calendars:\n  x: { dates: [2026-02-30] }\n${use}`, problem: /^2:16 constraint-range: there is no day/ },
    {
      text: `calendars:\n  x: { dates: [2026-02-03..2026-02-01] }\n${use}`,
      problem: /^2:16 constraint-range: .* ends before/,
    },
    {
      text: `calendars:\n  x: { date: [2026-02-03] }\n${use}`,
      problem: /^2:8 field-unknown: .*\(did you mean dates\?\)/,
    },
    {
      text: `calendars:\n  "a,b": { dates: [2026-02-03] }\n${use}`,
      problem: /^2:3 field-unknown: "a,b" is not a name/,
    },
    { text: `calendars:\n  x: { file: a.ics }\n${use}`, problem: /^2:14 calendar-invalid: the file was not read/ },
  ])("$problem", ({ text, problem }) => {
    expect(problemsOf(text)[0]).toMatch(problem);
  });

  test("jobs of a calendar that is wrong are wrong too, so that none runs without it (S35)", () => {
    const text = `calendars:\n  de-holidays: { dates: [x] }\n${use}`;
    const { jobs: read, problems } = readYamlConfig("f", text);
    expect(read).toEqual([]);
    expect(problems.map(({ identity, problem }) => [identity, problem.code])).toEqual([
      [null, "constraint-syntax"],
      ["a", "calendar-invalid"],
    ]);
  });

  test("a calendar, and all those of a job, have so many dates and no more", () => {
    const dates = (count: number): string =>
      Array.from({ length: count }, (_, n) => new Date((20_000 + 2 * n) * 86_400_000).toISOString().slice(0, 10)).join(
        ", ",
      );
    const some = (count: number): string =>
      `calendars:\n  x: { dates: [${dates(count)}] }\n  y: { dates: 2026-01-01 }\n`;
    expect(problemsOf(some(LIMITS.calendarDates) + jobs("{ avoid: calendar=x }"))).toEqual([]);
    expect(problemsOf(some(LIMITS.calendarDates + 1) + jobs("{ avoid: dow=MON }"))[0]).toMatch(
      /limit-exceeded: the calendar has 2001 separate/,
    );
    expect(problemsOf(some(LIMITS.calendarDates) + jobs('{ avoid: "calendar=x,y" }'))[0]).toMatch(
      /limit-exceeded: 2001 dates and ranges/,
    );
  });

  test.each(["kron", "jsonl"] as const)("%s has no calendars, and says where they are", (format) => {
    const lines = {
      kron: '0 1 * * * @avoid(calendar=x) name=a command="echo x"',
      jsonl: '{"identity":"a","schedule":"0 1 * * *","constraints":{"avoid":"calendar=x"},"command":["echo"]}',
    };
    const [located] = readConfigText(format, "f", lines[format]).problems;
    expect(located?.problem).toMatchObject({
      code: "calendar-unknown",
      hint: expect.stringContaining("under calendars: in a YAML file"),
    });
    const dated = lines[format].replace(
      "calendar=x",
      format === "kron" ? '"calendar=x(2026-12-25)"' : "calendar=x(2026-12-25)",
    );
    expect(constraintsOf(readConfigText(format, "f", dated))).toEqual({ avoid: "calendar=x(2026-12-25)" });
  });
});

describe("which files of dates a text names", () => {
  test.each([
    { name: "none", text: jobs("{}"), files: [] },
    {
      name: "in a block",
      text: `calendars:\n  a:\n    file: a.ics\n  b: { file: "b c.ics" }\n  c: { file: a.ics }\n${jobs("{}")}`,
      files: ["a.ics", "b c.ics"],
    },
    { name: "behind the jobs", text: `${jobs("{}")}calendars: { a: { file: a.ics } }\n`, files: ["a.ics"] },
    { name: "with comments and blank lines", text: "calendars:\n# x\n\n  a:\n#y\n    file: a.ics\n", files: ["a.ics"] },
    { name: "line ends of Windows", text: "calendars:\r\n  a:\r\n    file: a.ics\r\njobs: []\r\n", files: ["a.ics"] },
    { name: "a flow over lines", text: "calendars: {\n  a: { file: a.ics }\n}\njobs: []\n", files: ["a.ics"] },
    { name: "a key of a job", text: `jobs:\n  - identity: a\n    calendars: { a: { file: a.ics } }\n`, files: [] },
    { name: "broken", text: "calendars: [\n", files: [] },
    { name: "values of other kinds", text: "calendars: { a: 1, b: { file: 2 }, c: null }\n", files: [] },
  ])("$name", ({ text, files }) => {
    const block = calendarsBlock(text);
    expect(block === null ? [] : calendarFilesNamed(block)).toEqual(files);
  });
});
