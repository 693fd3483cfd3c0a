import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../../src/core/base/limits.js";
import { applySettings, SETTINGS_DEFAULTS } from "../../../../src/core/config/settings.js";
import { readYamlConfig } from "../../../../src/core/config/yaml/reader.js";

/** `code line:column+length` of every problem, in the order of the file. */
function problemsOf(text: string): readonly string[] {
  return readYamlConfig("f.yaml", text).problems.map(
    ({ problem, line, column, length }) => `${problem.code} ${line}:${column}+${length}`,
  );
}

/** A file with one job: what must be there, and `lines` from line 5 on, indented by four. */
function jobWith(...lines: readonly string[]): string {
  return [
    "jobs:",
    "  - identity: a",
    "    schedule: '@hourly'",
    "    command: [x]",
    ...lines.map((line) => `    ${line}`),
  ].join("\n");
}

const NEEDS_QUOTES = "file-syntax";

describe("wrong texts: code, line and column", () => {
  const files: readonly [title: string, text: string, problems: readonly string[]][] = [
    ["an empty file", "", ["file-syntax 1:1+1"]],
    ["only comments", "# nothing\n", ["file-syntax 1:1+1"]],
    ["a list", "- a\n", ["file-syntax 1:1+1"]],
    ["a text", "jobs", ["file-syntax 1:1+1"]],
    ["jobs not a list", "jobs: {a: 1}", ["field-type 1:7+1"]],
    ["an unknown field", "jobs: []\njob: []\n", ["field-unknown 2:1+3"]],
    ["a job at the top", "identity: a\nschedule: '@daily'\n", ["field-unknown 1:1+8", "field-unknown 2:1+8"]],
    ["a field twice", "jobs: []\njobs: []\n", ["field-duplicate 2:1+4"]],
    ["two documents", "jobs: []\n---\njobs: []\n", ["file-syntax 2:1+3"]],
    ["YAML 1.1", "%YAML 1.1\n---\njobs: []\n", ["file-syntax 1:1+5"]],
    ["a tab for indentation", "jobs:\n\t- identity: a\n", ["file-syntax 2:1+1"]],
    ["a quote that is not closed", "jobs:\n  - identity: 'a\n", ["file-syntax 3:1+1"]],
    ["an unknown escape", 'jobs:\n  - identity: "\\q"\n', ["file-syntax 2:16+1"]],
    ["deep nesting", `jobs: ${"[".repeat(100)}${"]".repeat(100)}`, ["field-type 1:8+1", "limit-exceeded 1:73+68"]],
    [
      "a merge key",
      "jobs:\n  - &x {identity: a}\n  - <<: *x\n",
      ["field-missing 2:8+1", "field-missing 2:8+1", "file-syntax 3:5+2"],
    ],
    ["jobs with a tag", "jobs: !x []\n", ["file-syntax 1:10+2"]],
    ["a key that is a list", "? [a]\n: 1\n", ["file-syntax 1:3+1"]],
    ["a key with an anchor", "&k jobs: []\n", ["file-syntax 1:4+4"]],
    ["a key with a tag", "? !x jobs\n: []\n", ["file-syntax 1:3+2"]],
    ["a tag on everything", "!x\njobs: []\n", ["file-syntax 2:1+8"]],
    ["__proto__", "__proto__: {jobs: []}\njobs: []\n", ["field-unknown 1:1+9"]],
    [
      "settings",
      "on_invalid: ignore\nkill_grace: 10\nstart_grace: 25h\nhistory: {keep: -1}\nledger: {max_age: 1s, foo: 1}\nmax_armed: many\nlimits: 3\n",
      [
        "field-type 1:13+6",
        "field-type 2:13+2",
        "duration-range 3:14+3",
        "field-range 4:17+2",
        "field-unknown 5:23+3",
        "field-type 6:12+4",
        "field-type 7:9+1",
      ],
    ],
    ["settings out of range", "ledger: { max_age: 1s }", ["duration-range 1:20+2"]],
    [
      "defaults",
      "defaults: { timezone: X, window: { duration: 1.5s }, identity: a }\njobs: []\n",
      ["timezone-unknown 1:23+1", "duration-range 1:46+4", "field-unknown 1:54+8"],
    ],
    ["defaults that are a list", "defaults: []\njobs: []\n", ["field-type 1:11+1"]],
  ];
  test.each(files)("%s", (_title, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  const jobs: readonly [title: string, lines: readonly string[], problems: readonly string[]][] = [
    [
      "a plain text, in its middle",
      ["timezone: UTC", "constraints: { only: dow=MON;hours=99 }"],
      ["constraint-range 6:40+2"],
    ],
    ["a text in single quotes, behind a doubled quote", ["seed: { salt: 'it''s\x7f' }"], ["identity-invalid 5:25+1"]],
    [
      "a text in double quotes, behind escapes",
      ['constraints: { only: "\\u0064ow=MON;\\x68ours=99" }'],
      ["constraint-range 5:49+2"],
    ],
    ["a text in double quotes, at an escape", ['seed: { salt: "a\\nb" }'], ["identity-invalid 5:21+2"]],
    [
      "a folded text: at its beginning",
      ["constraints:", "  only: dow=MON;", "    hours=99"],
      ["constraint-range 6:13+1"],
    ],
    ["a block text: at its beginning", ["constraints:", "  only: |", "    hours=99"], ["constraint-range 6:13+1"]],
    ["an element of a list", ["tags: [a, b, a]"], ["field-range 5:18+1"]],
    ["a value of the wrong type", ["umask: 022", "timeout: 30"], ["field-type 5:12+3", "field-type 6:14+2"]],
    ["an empty value", ["timezone:"], ["field-type 5:14+1"]],
    ["a name rather than its value", ["env: { A-B: x, C: y }"], ["environment-name 5:12+3"]],
    ["an unknown field inside", ["policy: { dedline: 1s }"], ["field-unknown 5:15+7"]],
    ["an unknown parameter", ["distribution: { name: skewEarly, k: 2 }"], ["distribution-parameter-unknown 5:38+1"]],
    ["a field twice, of which the first counts", ["timezone: UTC", "timezone: Nowhere"], ["field-duplicate 6:5+8"]],
    ["S11: a window", ["window: { mode: after, duration: 90m }"], ["window-overlap 5:38+3"]],
    ["a tag", ["description: !html x"], ["file-syntax 5:24+1"]],
    ["a tag without a name", ["description: ! x"], ["file-syntax 5:20+1"]],
    ["an alias without an anchor", ["description: *x"], ["file-syntax 5:18+2"]],
    ["a schedule without quotes", ["schedule: */5 * * * *"], [`${NEEDS_QUOTES} 5:15+11`]],
    ["a macro without quotes", ["schedule: @daily"], [`${NEEDS_QUOTES} 5:15+6`]],
    ["a colon in a text", ["description: a: b"], ["file-syntax 5:18+1"]],
  ];
  test.each(jobs)("%s", (_title, lines, problems) => {
    expect(problemsOf(jobWith(...lines))).toEqual(problems);
  });

  test("CRLF at the ends of lines does not count", () => {
    const text = `${jobWith("timezone: Nowhere", "umask: '9'")}\n`.replaceAll("\n", "\r\n");
    expect(problemsOf(text)).toEqual(["timezone-unknown 5:15+7", "field-range 6:12+3"]);
  });

  test("nesting that exhausts the parser is one problem", () => {
    const { problems } = readYamlConfig("f.yaml", `jobs: ${"[".repeat(20_000)}`);
    expect(problems.map(({ problem }) => problem.message)).toEqual(["values are nested too deeply"]);
  });

  test("a missing field is told of the job's beginning, with what the job is called", () => {
    const { problems } = readYamlConfig("f.yaml", "jobs:\n  - identity: b\n    command: [x]\n");
    expect(problems).toEqual([
      {
        problem: {
          code: "field-missing",
          message: 'missing field "schedule"',
          path: ["schedule"],
          hint: "write schedule: 0 3 * * *, every: 90s or at: 2026-12-01T03:00",
        },
        file: "f.yaml",
        line: 2,
        column: 5,
        length: 1,
        identity: "b",
      },
    ]);
  });

  test("a byte order mark does not count", () => {
    expect(problemsOf("\ufefftimezone: x")).toEqual(["field-unknown 1:1+8"]);
  });

  test("hints about quotes show what is written", () => {
    const { problems } = readYamlConfig("f.yaml", jobWith("umask: 022"));
    expect(problems.map(({ problem }) => problem.hint)).toEqual(['write it in quotes: "022"']);
  });

  test("hints about cron show the line as it should be", () => {
    const { problems } = readYamlConfig("f.yaml", jobWith("schedule: */5 * * * * # often"));
    expect(problems.map(({ problem }) => problem.hint)).toEqual(['write schedule: "*/5 * * * *"']);
  });

  test("a job with anything wrong in it is not among the jobs, others are", () => {
    const text =
      "jobs:\n  - {identity: a, schedule: '@daily', command: [x], command: [y]}\n  - {identity: b, schedule: '@daily', command: [x]}\n";
    expect(readYamlConfig("f.yaml", text).jobs.map(({ definition }) => definition.identity)).toEqual(["b"]);
  });
});

describe("sound texts", () => {
  test("jobs have the place of their identity", () => {
    const text = "jobs:\n- schedule: '@daily'\n  identity: 'b'\n  command: [x]\n";
    const { jobs, problems } = readYamlConfig("dir/f.yaml", text);
    expect(problems).toEqual([]);
    expect(jobs.map(({ file, line, column, definition }) => [file, line, column, definition.identity])).toEqual([
      ["dir/f.yaml", 3, 13, "b"],
    ]);
  });

  test("defaults hold for the jobs before and behind them", () => {
    const text = "jobs:\n  - {identity: a, schedule: '@daily', command: [x]}\ndefaults: {timezone: Asia/Tokyo}\n";
    expect(readYamlConfig("f.yaml", text).jobs.map(({ definition }) => definition.timezone)).toEqual(["Asia/Tokyo"]);
  });

  test("a default that is wrong is told once, and the others still hold", () => {
    const text =
      "defaults: {timezone: X, shell: true}\njobs:\n  - {identity: a, schedule: '@daily', command: x | y}\n  - {identity: b, schedule: '@daily', command: x}\n";
    expect(problemsOf(text)).toEqual(["timezone-unknown 1:22+1"]);
  });

  test("YAML 1.2: yes is a text, octal digits are numbers, and no value is a date", () => {
    const text = jobWith("description: yes", "env: { A: 2026-01-01, B: no }");
    expect(readYamlConfig("f.yaml", text).jobs[0]?.definition).toMatchObject({
      description: "yes",
      target: { env: { A: "2026-01-01", B: "no" } },
    });
  });

  test("anchors may be used again, and a problem in one is shown where it stands", () => {
    const good = `${jobWith("env: &e { A: '1' }")}\n  - {identity: b, schedule: '@daily', command: [x], env: *e}\n`;
    expect(readYamlConfig("f.yaml", good).jobs.map(({ definition }) => definition.target)).toMatchObject([
      { env: { A: "1" } },
      { env: { A: "1" } },
    ]);
    const bad = "jobs:\n  - &j {identity: a, schedule: '@daily', command: [x], timezone: Nowhere}\n  - *j\n";
    expect(problemsOf(bad)).toEqual(["timezone-unknown 2:66+7", "timezone-unknown 2:66+7"]);
  });

  test.each(["jobs:\n", "jobs: []\n", "defaults: {}\n", "max_armed: 3\n"])("no jobs at all: %j", (text) => {
    expect(readYamlConfig("f.yaml", text)).toMatchObject({ jobs: [], problems: [] });
  });

  test("settings: their values, their places, and what is not said stays as it is", () => {
    const text =
      "on_invalid: quarantine\nhistory: { keep: 5 }\nledger: { max_age: 24h }\nkill_grace: 3s\nstart_grace: 0s\nmax_armed: 0\nlimits: { jobs: 10 }\n";
    const { settings, problems } = readYamlConfig("f.yaml", text);
    expect(problems).toEqual([]);
    expect(settings.map(({ name, line, column }) => [name, line, column])).toEqual([
      ["on_invalid", 1, 1],
      ["history", 2, 1],
      ["ledger", 3, 1],
      ["kill_grace", 4, 1],
      ["start_grace", 5, 1],
      ["max_armed", 6, 1],
      ["limits", 7, 1],
    ]);
    expect(applySettings(settings.map(({ change }) => change))).toEqual({
      onInvalid: "quarantine",
      history: { keep: 5 },
      ledger: { maxAgeMs: 86_400_000, maxRecords: SETTINGS_DEFAULTS.ledger.maxRecords },
      killGraceMs: 3000,
      notifications: SETTINGS_DEFAULTS.notifications,
      startGraceMs: 0,
      maxArmed: 0,
      http: { allowPrivate: false, allow: [], maxConcurrent: 1024, maxPerOrigin: 64 },
      limits: { jobs: 10 },
    });
    expect(applySettings([])).toEqual(SETTINGS_DEFAULTS);
  });
});

describe("Security list: YAML within bounds", () => {
  test("an alias bomb is refused, and counts without unfolding", () => {
    const levels = Array.from({ length: 40 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}, *l${i}]`);
    const text = `defaults: {}\nl0: &l0 [x, x]\n${levels.join("\n")}\njobs: []\n`;
    expect(new Set(problemsOf(text).map((line) => line.split(" ")[0]))).toEqual(
      new Set(["limit-exceeded", "field-unknown"]),
    );
  });

  test("an alias inside its own anchor has nothing to stand for", () => {
    expect(problemsOf("defaults: &d { env: *d }\njobs: []\n")).toEqual(["file-syntax 1:21+2", "field-type 1:21+2"]);
  });

  test("more anchors than the limit", () => {
    const variables = Array.from({ length: LIMITS.yamlAnchors + 1 }, (_, i) => `      A${i}: &a${i} x\n`).join("");
    expect(problemsOf(`${jobWith("env:")}\n${variables}`)).toEqual(["limit-exceeded 1006:21+1"]);
  });

  test("a file beyond the limit is not even parsed", () => {
    expect(problemsOf(`#${" ".repeat(LIMITS.yamlFileBytes)}`)).toEqual(["limit-exceeded 1:1+1"]);
  });

  test("a large file that cannot be read job by job is refused", () => {
    const text = `---\n---\njobs: []\n#${"#\n".repeat(LIMITS.yamlTreeBytes / 2)}`;
    expect(problemsOf(text)).toEqual(["limit-exceeded 1:1+1"]);
  });

  test("constructor and toString are names like any other: unknown", () => {
    expect(problemsOf("constructor: 1\ntoString: 2\njobs: []")).toEqual([
      "field-unknown 1:1+11",
      "field-unknown 2:1+8",
    ]);
  });

  test("__proto__ in a job changes nothing and is told", () => {
    expect(problemsOf(jobWith("__proto__: { shell: true }", "env: { __proto__: x }"))).toEqual([
      "field-unknown 5:5+9",
      "field-unknown 6:12+9",
    ]);
    expect(({} as Record<string, unknown>)["shell"]).toBeUndefined();
  });
});
