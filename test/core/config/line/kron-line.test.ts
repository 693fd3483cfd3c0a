import { describe, expect, test } from "vitest";
import { readKronLine } from "../../../../src/core/config/line/kron-line.js";
import { readLines } from "../../../../src/core/config/line/lines.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { requireOk } from "../../../support/results.js";

const SOURCE = { file: "f.kron", line: 7 };

/** `code column+length` of every problem. */
function problemsOf(line: string): readonly string[] {
  return readKronLine(line, SOURCE).problems.map(
    ({ problem, column, length }) => `${problem.code} ${column}+${length}`,
  );
}

function definitionOf(line: string): JobDefinition {
  const { job, problems } = readKronLine(line, SOURCE);
  if (job === null) throw new Error(`expected a job, got ${JSON.stringify(problems)}`);
  return job.definition;
}

describe("what a line means is what the same definition means elsewhere", () => {
  const rows: readonly [title: string, line: string, raw: object][] = [
    ["the least", "* * * * * name=a command=x", { schedule: "* * * * *", command: ["x"] }],
    ["a macro", "@hourly name=a command=x", { schedule: "@hourly", command: ["x"] }],
    ["blanks and tabs", " \t0  3 *\t* *   name=a\tcommand=x  ", { schedule: "0  3 *\t* *", command: ["x"] }],
    [
      "@tz",
      "@daily @tz(Europe/Berlin) name=a command=x",
      { schedule: "@daily", timezone: "Europe/Berlin", command: ["x"] },
    ],
    [
      "@win",
      "@daily @win( around , 90m ) name=a command=x",
      { schedule: "@daily", window: { mode: "around", duration: "90m" }, command: ["x"] },
    ],
    [
      "@win with names",
      "@daily @win(duration=1h,mode=before) name=a command=x",
      { schedule: "@daily", window: { mode: "before", duration: "1h" }, command: ["x"] },
    ],
    [
      "@dist",
      "@daily @dist(skewLate,shape=2.5) name=a command=x",
      { schedule: "@daily", distribution: { name: "skewLate", shape: 2.5 }, command: ["x"] },
    ],
    [
      "@dist with texts",
      "@daily @dist(normal,mu=mid,sigma=10m) name=a command=x",
      { schedule: "@daily", distribution: { name: "normal", mu: "mid", sigma: "10m" }, command: ["x"] },
    ],
    [
      "@dist alone",
      "@daily @dist(exponential) name=a command=x",
      { schedule: "@daily", distribution: "exponential", command: ["x"] },
    ],
    [
      "@seed",
      "@daily @seed(weekly,salt=s) name=a command=x",
      { schedule: "@daily", seed: { strategy: "weekly", salt: "s" }, command: ["x"] },
    ],
    [
      "@seed with quotes",
      '@daily @seed(salt="a, (b) \\"c\\"") name=a command=x',
      { schedule: "@daily", seed: { salt: 'a, (b) "c"' }, command: ["x"] },
    ],
    [
      "@only and @avoid",
      "@daily @avoid(dow=SUN) @only(dow=MON-FRI;hours=9,12) name=a command=x",
      { schedule: "@daily", constraints: { only: "dow=MON-FRI;hours=9,12", avoid: "dow=SUN" }, command: ["x"] },
    ],
    [
      "@only in quotes",
      '@daily @only("dow=MON") name=a command=x',
      { schedule: "@daily", constraints: { only: "dow=MON" }, command: ["x"] },
    ],
    [
      "@policy",
      "@daily @policy(concurrency=forbid,deadline=30m,suspend=true) name=a command=x",
      { schedule: "@daily", policy: { concurrency: "forbid", deadline: "30m", suspend: true }, command: ["x"] },
    ],
    [
      "@policy with a number",
      "@daily @policy(max_active=3) name=a command=x",
      { schedule: "@daily", policy: { max_active: 3 }, command: ["x"] },
    ],
    [
      "@dst",
      "@daily @dst(gap=next,overlap=last) name=a command=x",
      { schedule: "@daily", dst: { gap: "next", overlap: "last" }, command: ["x"] },
    ],
    [
      "fields before modifiers",
      "@daily command=x @win(after,1s) name=a @tz(UTC)",
      { schedule: "@daily", window: { mode: "after", duration: "1s" }, timezone: "UTC", command: ["x"] },
    ],
    [
      "all other fields",
      '@daily name=a command=x user=u group=g cwd=/ env="A=1 B=\'x y\'" umask=027 timeout=1h stdout=discard stderr=discard description="d e"',
      {
        schedule: "@daily",
        command: ["x"],
        user: "u",
        group: "g",
        cwd: "/",
        env: { A: "1", B: "x y" },
        umask: "027",
        timeout: "1h",
        output: { to: "discard" },
        description: "d e",
      },
    ],
    [
      "a command is split",
      `@daily name=a command="x 'a b' \\"c d\\" \\\\n $HOME"`,
      { schedule: "@daily", command: ["x", "a b", "c d", "\\n", "$HOME"] },
    ],
    [
      "a command for the shell is not",
      '@daily command="x | y \\"z\\"" shell=true name=a',
      { schedule: "@daily", command: 'x | y "z"', shell: true },
    ],
    ["shell=false", "@daily name=a command=x shell=false", { schedule: "@daily", command: ["x"] }],
    [
      "a number that is a name",
      "@daily name=a command=x user=1000",
      { schedule: "@daily", command: ["x"], user: "1000" },
    ],
    ["CRLF", "@daily name=a command=x\r", { schedule: "@daily", command: ["x"] }],
    ["an empty environment", '@daily name=a command=x env=""', { schedule: "@daily", command: ["x"] }],
  ];
  test.each(rows)("%s", (_title, line, raw) => {
    expect(definitionOf(line)).toEqual(requireOk(readJobDefinition({ identity: "a", ...raw })));
  });
});

describe("wrong lines: code and column", () => {
  const rows: readonly [title: string, line: string, problems: readonly string[]][] = [
    ["only a schedule", "  * * * * *", ["field-missing 3+1", "field-missing 3+1"]],
    ["no schedule", "name=a command=x", ["field-missing 1+1"]],
    ["no schedule but modifiers", "@tz(UTC) name=a command=x", ["field-missing 1+1"]],
    ["four fields", "* * * * name=a command=x", ["cron-syntax 1+7"]],
    ["six fields", "* * * * * * name=a command=x", ["file-syntax 11+1"]],
    ["a bad element of a schedule", "  0 3 32 * * name=a command=x", ["cron-range 7+2"]],
    ["an unknown macro", "@fortnightly name=a command=x", ["cron-syntax 1+12"]],
    ["an unknown modifier", "@daily @window(after,1h) name=a command=x", ["field-unknown 8+7"]],
    ["a modifier twice", "@daily @tz(UTC) name=a command=x @tz(UTC)", ["field-duplicate 34+3"]],
    ["a field twice", "@daily name=a name=b command=x", ["field-duplicate 15+4"]],
    ["an unknown field", "@daily name=a command=x tags=b", ["field-unknown 25+4"]],
    ["a name that objects know too", "@daily name=a command=x constructor=b", ["field-unknown 25+11"]],
    ["a modifier that objects know too", "@daily name=a command=x @toString(x)", ["field-unknown 25+9"]],
    ["a parenthesis that is not closed", "@daily @tz(UTC name=a command=x", ["file-syntax 11+1"]],
    ["a parenthesis inside quotes", '@daily name=a command=x @seed(salt=")"', ["file-syntax 30+1"]],
    ["a quote that is not closed", '@daily name=a command="x y', ["file-syntax 23+1"]],
    ["a quote in the middle", '@daily name=a"b" command=x', ["file-syntax 14+1"]],
    ["something behind a quote", '@daily name="a"b command=x', ["file-syntax 16+1"]],
    ["another escape", '@daily name=a command="x\\n"', ["file-syntax 25+2"]],
    ["a comment behind", "@daily name=a command=x # note", ["file-syntax 25+6"]],
    ["a stray word", "@daily name=a command=x y", ["file-syntax 25+1"]],
    [
      "blanks around =",
      "@daily name = a command=x",
      ["field-missing 1+1", "file-syntax 8+4", "file-syntax 13+1", "file-syntax 15+1"],
    ],
    ["a bad zone", "@daily @tz(Mars/X) name=a command=x", ["timezone-unknown 12+6"]],
    ["a bad zone in quotes", '@daily @tz("Mars/X") name=a command=x', ["timezone-unknown 13+6"]],
    ["a window of one argument", "@daily @win(1h) name=a command=x", ["file-syntax 13+2", "field-type 13+2"]],
    ["a window of three", "@daily @win(after,1h,2h) name=a command=x", ["file-syntax 22+2"]],
    ["a window without arguments", "@daily @win() name=a command=x", ["file-syntax 13+1", "file-syntax 13+1"]],
    ["S11: a window too long", "@hourly @win(after,61m) name=a command=x", ["window-overlap 20+3"]],
    ["S11: milliseconds", "@hourly @win(after,1500ms) name=a command=x", ["duration-range 20+6"]],
    [
      "a constraint without a clause",
      "@daily @only() @tz( ) name=a command=x",
      ["file-syntax 14+1", "file-syntax 21+1"],
    ],
    ["an empty text for a zone", '@daily @tz("") name=a command=x', ["file-syntax 12+2"]],
    ["two texts where one belongs", '@daily @only("dow=MON","dow=TUE") name=a command=x', ["file-syntax 14+19"]],
    ["something behind a text", '@daily @only("dow=MON" x) name=a command=x', ["file-syntax 24+1"]],
    ["an unknown distribution", "@daily @dist(poisson) name=a command=x", ["distribution-unknown 14+7"]],
    ["an unknown parameter", "@daily @dist(skewEarly,k=2) name=a command=x", ["distribution-parameter-unknown 24+1"]],
    [
      "a parameter that is no number",
      "@daily @dist(skewEarly,shape=big) name=a command=x",
      ["distribution-parameter-invalid 30+3"],
    ],
    [
      "a parameter out of range",
      "@daily @dist(skewEarly,shape=-1) name=a command=x",
      ["distribution-parameter-range 30+2"],
    ],
    ["an argument twice", "@daily @policy(deadline=1s,deadline=2s) name=a command=x", ["field-duplicate 37+2"]],
    ["an argument without a name", "@daily @policy(forbid) name=a command=x", ["file-syntax 16+6"]],
    ["an unknown argument", "@daily @policy(dedline=1s) name=a command=x", ["field-unknown 16+7"]],
    ["a boolean that is none", "@daily @policy(suspend=yes) name=a command=x", ["field-type 24+3"]],
    ["shell that is no boolean", "@daily name=a command=x shell=yes", ["field-type 31+3"]],
    ["an unknown seed strategy", "@daily @seed(hourly) name=a command=x", ["seed-strategy-unknown 14+6"]],
    ["a bad clause", "@daily @only(dow=MON;hours=25) name=a command=x", ["constraint-range 28+2"]],
    ["__proto__ as an argument", "@daily @policy(__proto__=x) name=a command=x", ["field-unknown 26+1"]],
    ["__proto__ as a variable", "@daily name=a command=x env=__proto__=x", ["environment-name 29+11"]],
    [
      "a bad variable",
      '@daily name=a command=x env="A=1 B A=2 3=x"',
      ["environment-name 34+1", "field-duplicate 36+3", "environment-name 40+3"],
    ],
    ["two destinations", "@daily name=a command=x stdout=file stderr=discard", ["field-conflict 44+7"]],
    ["an unknown destination", "@daily name=a command=x stdout=/tmp/x", ["field-type 32+6"]],
    ["a quote inside a command that is not closed", `@daily name=a command="x 'y"`, ["file-syntax 26+1"]],
    ["an empty command", '@daily name=a command=""', ["field-range 23+2"]],
    [
      "an argument with a byte that no program can be given",
      '@daily name=a command="\\\\ \\"a\0\\" b\0c"',
      ["field-range 27+6", "field-range 35+1"],
    ],
    [
      "S37: a name with a control character, behind an escape",
      '@daily name="a\\"\x01" command=x',
      ["identity-invalid 17+1"],
    ],
    ["S37: a reserved prefix", "@daily name=crontab:x command=x", ["identity-invalid 13+8"]],
    ["umask", "@daily name=a command=x umask=9", ["field-range 31+1"]],
  ];
  test.each(rows)("%s", (_title, line, problems) => {
    expect(problemsOf(line)).toEqual(problems);
  });

  test("a line with a problem is no job", () => {
    expect(readKronLine("@daily name=a command=x nmae=b", SOURCE)).toMatchObject({
      job: null,
      problems: [
        { file: "f.kron", line: 7, column: 25, length: 4, identity: "a", problem: { hint: "did you mean name?" } },
      ],
    });
  });
});

test("comments and blank lines say nothing, and lines are counted", () => {
  const text = "\ufeff# one\r\n\r\n  # two\r\n\t\r\n@daily name=b command=x\r\n0 0 * * * name=c";
  const { jobs, problems } = readLines("f.kron", text, readKronLine);
  expect(jobs.map(({ line, column, definition }) => [line, column, definition.identity])).toEqual([[5, 13, "b"]]);
  expect(problems.map(({ line, problem }) => [line, problem.message])).toEqual([[6, 'missing command="..."']]);
});

test("a line of nothing but fields is not read to its end", () => {
  const { problems } = readKronLine(`@daily ${"a=b ".repeat(100_000)}`, SOURCE);
  expect(problems.length).toBeLessThan(100);
});
