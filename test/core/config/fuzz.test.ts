/** R12: the readers of configuration answer every text with jobs or problems, never with an exception. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/base/limits.js";
import { formatProblem } from "../../../src/core/config/format-problem.js";
import type { ConfigFormat } from "../../../src/core/config/formats.js";
import { type ConfigReading, LineIndex } from "../../../src/core/config/located.js";
import { readConfigText } from "../../../src/core/config/readers.js";
import { readYamlConfig } from "../../../src/core/config/yaml/reader.js";
import { readJobDefaults, readJobDefinition } from "../../../src/core/job/schema.js";
import { FUZZ, IS_LONG } from "../../support/fuzz.js";

const RUNS = { ...FUZZ, numRuns: IS_LONG ? 100_000 : 500 };

/** Everything a caller relies on, whatever was read. */
function expectSound(text: string, reading: ConfigReading): void {
  const lines = new LineIndex(text.replace(/^\ufeff/, ""));
  for (const located of reading.problems) {
    const sourceLine = lines.lineText(located.line);
    expect(sourceLine).not.toBeNull();
    expect(located.column).toBeGreaterThanOrEqual(1);
    expect(located.column).toBeLessThanOrEqual((sourceLine ?? "").length + 2);
    expect(located.length).toBeGreaterThanOrEqual(1);
    expect(formatProblem(located, sourceLine).split("\n").length).toBeLessThanOrEqual(4);
  }
  for (const job of reading.jobs) expect(job.definition.identity).not.toBe("");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
}

/** Words and signs of the three formats, hostile ones among them. */
const TOKENS: readonly string[] = [
  ..."{}[]:,-?&*!|>'\"%@`#\\ \n\t=();.".split(""),
  "\n  - ",
  "\n    ",
  "\n",
  "\r\n",
  ": ",
  "<<: ",
  "--- ",
  "\n---\n",
  "\n...\n",
  "%YAML 1.1\n",
  "!!str ",
  "!x ",
  "&a ",
  "*a",
  "|\n",
  ">-\n  ",
  "jobs:",
  "defaults:",
  "identity: ",
  "schedule: ",
  "command: ",
  "window: ",
  "policy: ",
  "constraints: ",
  "calendars: ",
  "dates: ",
  "calendar=x",
  "env: ",
  "http: ",
  "on_invalid: ",
  "__proto__",
  "constructor",
  "prototype",
  "polluted",
  "toString",
  "null",
  "true",
  "~",
  "0x1F",
  ".inf",
  "1e400",
  "12345678901234567890",
  "@hourly",
  "* * * * *",
  "0 3 * * *",
  "@tz(",
  "@win(after,1h)",
  "@dist(normal,sigma=1m)",
  "@only(dow=MON)",
  "@policy(",
  "name=",
  "command=",
  "env=",
  "shell=true",
  '"a b"',
  '\\"',
  "\\u0000",
  "\\ud800",
  "\ud800",
  "\u0000",
  "\ufeff",
  "\u2028",
  "é",
  "🙂",
  "[x]",
  "{a: 1}",
  '{"identity":"a"}',
  '"__proto__":{"polluted":1}',
];

const tokenText = fc.array(fc.constantFrom(...TOKENS), { maxLength: 60 }).map((tokens) => tokens.join(""));
const anyText = fc.oneof(
  tokenText,
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("utf8")),
);

/** A sound text with some of its characters replaced, removed or doubled. */
function damaged(sound: string): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat({ max: sound.length }),
    cut: fc.nat({ max: 4 }),
    put: fc.constantFrom(...TOKENS, ""),
  });
  return fc
    .array(change, { minLength: 1, maxLength: 4 })
    .map((changes) =>
      changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), sound),
    );
}

const SOUND: Readonly<Record<ConfigFormat, string>> = {
  yaml: `calendars:
  x: { dates: [2026-12-25, 2026-12-31..2027-01-01] }
defaults: { timezone: Europe/Berlin, policy: { deadline: 30s } }
jobs:
  - identity: prod/db-backup
    schedule: "0 0 * * *"
    window: { mode: after, duration: 3h }
    distribution: { name: skewEarly, shape: 2 }
    constraints: { only: "dow=MON-FRI;between=00:00-06:00", avoid: ['dates=2026-12-24..2026-12-31', calendar=x] }
    command: [/usr/bin/backup, --full]
    env: &e { MODE: 'it''s', TEXT: "a\\tb" }
  - identity: prod/ping
    schedule: "*/5 * * * *"
    http: { url: "https://example.org/hook", method: POST, timeout: 10s }
  - { identity: c, schedule: '@daily', shell: true, command: "a | b", env: *e }
`,
  kron: `# comment
0 3 * * MON-FRI @tz(Europe/Berlin) @win(after,90m) @dist(skewLate,shape=2.5) @seed(daily,salt="a b") name=a command="x \\"y z\\"" env="A=1"
@hourly @only(hours=9-17) @policy(concurrency=forbid,deadline=1m) @dst(gap=next) name=b shell=true command="a | b" stdout=discard
`,
  jsonl: `{"identity":"a","schedule":"0 3 * * *","timezone":"Europe/Berlin","window":{"mode":"after","duration":"1h"},"command":["x","y\\u0020z"]}
{"identity":"b","schedule":"@hourly","http":{"url":"https://example.org/","headers":{"A":"b"}},"tags":["t"]}
`,
};

const FORMATS: readonly ConfigFormat[] = ["yaml", "kron", "jsonl"];

describe.each(FORMATS)("R12: %s", (format) => {
  test("the text that is damaged below is sound", () => {
    expect(readConfigText(format, "f", SOUND[format]).problems).toEqual([]);
  });

  test("any text", () => {
    fc.assert(
      fc.property(anyText, (text) => expectSound(text, readConfigText(format, "f", text))),
      RUNS,
    );
  });

  test("damaged texts", () => {
    fc.assert(
      fc.property(damaged(SOUND[format]), (text) => expectSound(text, readConfigText(format, "f", text))),
      RUNS,
    );
  });

  test("what cannot be a job alone is none among others either: a line or item is judged by itself", () => {
    const [first = ""] = SOUND[format].split("\n").filter((line) => !line.startsWith("#"));
    expect(readConfigText(format, "f", `${SOUND[format]}${first.slice(0, -2)}`).problems.length).toBeGreaterThan(0);
  });
});

test("R12: YAML in batches, damaged", () => {
  fc.assert(
    fc.property(damaged(SOUND.yaml), (text) => expectSound(text, readYamlConfig("f", text, { wholeChars: 0 }))),
    RUNS,
  );
});

describe("R12: raw data of any shape", () => {
  const key = fc.oneof(
    fc.constantFrom(
      "identity",
      "schedule",
      "window",
      "duration",
      "policy",
      "env",
      "http",
      "headers",
      "command",
      "distribution",
      "name",
    ),
    fc.constantFrom("__proto__", "constructor", "polluted", "0"),
    fc.string({ maxLength: 5 }),
  );
  const { value } = fc.letrec((tie) => ({
    leaf: fc.oneof(
      fc.constantFrom("@daily", "uniform", "1h", "dow=MON", "x", "", "\0"),
      fc.string({ unit: "binary", maxLength: 10 }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
    ),
    value: fc.oneof({ maxDepth: 4 }, tie("leaf"), fc.array(tie("value"), { maxLength: 4 }), tie("object")),
    object: fc.array(fc.tuple(key, tie("value")), { maxLength: 6 }).map((entries) => {
      const object: Record<string, unknown> = {};
      for (const [name, inner] of entries) {
        Object.defineProperty(object, name, { value: inner, enumerable: true, configurable: true, writable: true });
      }
      return object;
    }),
  }));

  test("is a definition or a list of problems", () => {
    fc.assert(
      fc.property(value, value, (raw, more) => {
        const base = { identity: "a", schedule: "@daily", command: ["x"] };
        const reads = [
          readJobDefinition(raw),
          readJobDefaults(raw),
          readJobDefinition({ ...base, ...(more as object) }),
        ];
        for (const read of reads) {
          if (!read.ok) expect(read.error.length).toBeGreaterThan(0);
          if (!read.ok) expect(read.error.length).toBeLessThanOrEqual(LIMITS.problemsPerJob);
        }
        expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      }),
      RUNS,
    );
  });

  test("numbers beyond what a list may hold of wrong things do not multiply the work", () => {
    const many = 30_000;
    const names = Array.from({ length: many }, (_, i) => [`k${i}`, 1] as const);
    const raws = [
      { ...Object.fromEntries(names), identity: "a" },
      { identity: "a", schedule: "@daily", command: ["x"], env: Object.fromEntries(names) },
      {
        identity: "a",
        schedule: "@daily",
        command: ["x"],
        env: Object.fromEntries(names.map(([name]) => [`-${name}`, ""])),
      },
      { identity: "a", schedule: "@daily", command: Array.from({ length: many }, () => "\0") },
      { identity: "a", schedule: "@daily", command: Array.from({ length: many }, () => 1) },
      { identity: "a", schedule: "@daily", command: ["x"], tags: Array.from({ length: many }, () => "same") },
      {
        identity: "a",
        schedule: "@daily",
        command: ["x"],
        constraints: { only: Array.from({ length: many }, () => "dow=X") },
      },
    ];
    const counts = raws.map((raw) => {
      const read = readJobDefinition(raw);
      return read.ok ? 0 : read.error.length;
    });
    expect(counts.every((count) => count > 0 && count <= LIMITS.problemsPerJob)).toBe(true);
  });
});
