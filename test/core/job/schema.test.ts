import { describe, expect, test } from "vitest";
import { errorKind } from "../../../src/core/base/errors/registry.js";
import { LIMITS } from "../../../src/core/base/limits.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { readJobDefaults, readJobDefinition } from "../../../src/core/job/schema.js";
import { requireOk } from "../../support/results.js";

const BASE = { identity: "a", schedule: "0 * * * *", command: ["true"] };

function definitionOf(more: Record<string, unknown>): JobDefinition {
  return requireOk(readJobDefinition({ ...BASE, ...more }));
}

/** `code path[start-end]` of every problem. */
function problemsOf(raw: unknown): readonly string[] {
  const read = readJobDefinition(raw);
  return read.ok
    ? []
    : read.error.map(({ code, path, span }) =>
        [code, path.join("."), ...(span === undefined ? [] : [`${span.start}-${span.end}`])].join(" ").trim(),
      );
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

describe("a definition that says only what it must", () => {
  test("SPEC Inputs: gets the documented defaults", () => {
    expect(definitionOf({})).toEqual({
      identity: "a",
      schedule: "0 * * * *",
      timezone: "UTC",
      dst: { gap: "skip", overlap: "both" },
      window: { mode: "after", durationMs: 0 },
      distribution: { name: "uniform" },
      seed: { strategy: "stable", salt: "" },
      constraints: { only: [], avoid: [] },
      policy: { concurrency: "allow", deadlineMs: 0, suspend: false, maxActive: null },
      target: {
        kind: "process",
        argv: ["true"],
        shell: false,
        user: null,
        group: null,
        cwd: null,
        env: {},
        stdin: null,
        umask: null,
        timeoutMs: null,
        output: { to: "file", maxBytes: 10_000_000, keep: 10, onExcess: "drop-middle" },
      },
      notify: [],
      description: "",
      tags: [],
    });
  });

  test("a request gets its own defaults", () => {
    const { target } = requireOk(
      readJobDefinition({ identity: "a", schedule: "@daily", http: { url: "https://example.org/x" } }),
    );
    expect(target).toEqual({
      by: "krond",
      kind: "http",
      url: "https://example.org/x",
      method: "GET",
      headers: {},
      secretHeaders: {},
      body: null,
      timeoutMs: 30_000,
      maxResponseBytes: 1_000_000,
      excerptBytes: 512,
      success: [{ from: 200, to: 299 }],
      signature: null,
      tls: { caFile: null, certFile: null, keyFile: null },
    });
  });
});

describe("what is written and what it means", () => {
  const rows: readonly [title: string, raw: Record<string, unknown>, expected: Record<string, unknown>][] = [
    ["outer blanks of a schedule go", { schedule: "  0 3 * * *\t" }, { schedule: "0 3 * * *" }],
    ["a zone gets its canonical name", { timezone: "europe/berlin" }, { timezone: "Europe/Berlin" }],
    [
      "center is around",
      { window: { mode: "center", duration: "10m" } },
      { window: { mode: "around", durationMs: 600_000 } },
    ],
    [
      "S11: whole seconds suffice around, even odd ones",
      { window: { mode: "around", duration: "5s" } },
      { window: { mode: "around", durationMs: 5000 } },
    ],
    [
      "S11: touching windows are allowed",
      { window: { duration: "1h" } },
      { window: { mode: "after", durationMs: 3_600_000 } },
    ],
    ["a distribution by name alone", { distribution: "skewLate" }, { distribution: { name: "skewLate", shape: 2 } }],
    [
      "a distribution with parameters",
      { distribution: { name: "exponential", lambda: 3, dir: "late" } },
      { distribution: { name: "exponential", lambda: 3, dir: "late" } },
    ],
    [
      "mu of a window around is its nominal time",
      { window: { mode: "around", duration: "1m" }, distribution: "normal" },
      { distribution: { name: "normal", mu: "nominal", sigmaMs: null } },
    ],
    [
      "sigma is a duration",
      { distribution: { name: "normal", sigma: "90s" } },
      { distribution: { name: "normal", mu: "mid", sigmaMs: 90_000 } },
    ],
    [
      "a list of clauses is their union",
      { constraints: { only: ["dow=MON", "hours=1,2"] } },
      {
        constraints: {
          only: [
            { kind: "dow", ranges: [{ from: 1, to: 1 }] },
            {
              kind: "hours",
              ranges: [
                { from: 1, to: 1 },
                { from: 2, to: 2 },
              ],
            },
          ],
          avoid: [],
        },
      },
    ],
    [
      "S26: max_active",
      { policy: { max_active: 3 } },
      { policy: { concurrency: "allow", deadlineMs: 0, suspend: false, maxActive: 3 } },
    ],
    [
      "S26: max_active in its short form",
      { max_active: 3 },
      { policy: { concurrency: "allow", deadlineMs: 0, suspend: false, maxActive: 3 } },
    ],
    ["S37: an identity of 512 bytes", { identity: "é".repeat(256) }, { identity: "é".repeat(256) }],
    ["S37: an identity may contain blanks and signs", { identity: " a b@c/ü🙂 " }, { identity: " a b@c/ü🙂 " }],
  ];
  test.each(rows)("%s", (_title, raw, expected) => {
    expect(definitionOf(raw)).toMatchObject(expected);
  });

  const targets: readonly [title: string, raw: Record<string, unknown>, expected: Record<string, unknown>][] = [
    ["shell: one text", { command: "echo $HOME | wc", shell: true }, { argv: ["echo $HOME | wc"], shell: true }],
    ["no expansion without it", { command: ["echo", "$HOME", ""] }, { argv: ["echo", "$HOME", ""], shell: false }],
    [
      "output to a file, by its short form",
      { output: { file: true, max: "1kB" } },
      { output: { to: "file", maxBytes: 1000, keep: 10, onExcess: "drop-middle" } },
    ],
    [
      "max_output",
      { max_output: "2MiB" },
      { output: { to: "file", maxBytes: 2_097_152, keep: 10, onExcess: "drop-middle" } },
    ],
    ["umask is octal", { umask: "027" }, { umask: 0o27 }],
    ["umask with a leading zero", { umask: "0777" }, { umask: 0o777 }],
    [
      "names of variables that objects know too",
      { env: { constructor: "x", toString: "y" } },
      { env: { constructor: "x", toString: "y" } },
    ],
    ["a numeric user", { user: "1000", group: "staff" }, { user: "1000", group: "staff" }],
  ];
  test.each(targets)("command: %s", (_title, raw, expected) => {
    expect(definitionOf(raw).target).toMatchObject(expected);
  });

  test("the result is frozen through and through, with everything in it", () => {
    const full = {
      window: { mode: "before", duration: "10m" },
      distribution: { name: "normal", sigma: "1m" },
      seed: { strategy: "weekly", salt: "x" },
      constraints: { only: "dow=MON-FRI;between=00:00-23:00", avoid: ["dates=2026-01-01..2026-01-02"] },
      policy: { concurrency: "forbid", deadline: "1m" },
      env: { A: "1" },
      output: { keep: 3 },
      tags: ["x"],
    };
    expect(isDeepFrozen(definitionOf(full))).toBe(true);
    expect(isDeepFrozen(definitionOf({}))).toBe(true);
  });

  test("reading does not change what was handed in", () => {
    const raw = { ...BASE, env: { B: "2", A: "1" }, tags: ["x"], window: { duration: "1m" } };
    const before = structuredClone(raw);
    readJobDefinition(raw);
    expect(raw).toEqual(before);
  });
});

const LONG_CLAUSES = Array.from({ length: LIMITS.clausesPerJob + 1 }, () => "dow=MON").join(";");

/** What is written over the sound base, and everything that must be said about it. */
const BAD: readonly [title: string, raw: Record<string, unknown>, problems: readonly string[]][] = [
  ["identity missing", { identity: undefined }, ["field-missing identity"]],
  ["identity of the wrong type", { identity: 7 }, ["field-type identity"]],
  ["S37: identity empty", { identity: "" }, ["identity-invalid identity 0-0"]],
  ["S37: identity with a newline", { identity: "a\nb" }, ["identity-invalid identity 1-2"]],
  ["S37: identity with a C1 control", { identity: "ab\u0085" }, ["identity-invalid identity 2-3"]],
  ["S37: identity with half a surrogate pair", { identity: "a\ud800" }, ["identity-invalid identity 1-2"]],
  ["S37: identity of 513 bytes", { identity: `${"é".repeat(256)}x` }, ["identity-invalid identity 0-257"]],
  ["S37: prefix crontab:", { identity: "crontab:x" }, ["identity-invalid identity 0-8"]],
  ["S37: prefix endpoint:", { identity: "endpoint:t/j/e" }, ["identity-invalid identity 0-9"]],
  ["S37: salt with a newline", { seed: { salt: "x\n" } }, ["identity-invalid seed.salt 1-2"]],
  ["S37: salt too long", { seed: { salt: "x".repeat(513) } }, ["identity-invalid seed.salt 0-513"]],
  ["schedule missing", { schedule: undefined }, ["field-missing schedule"]],
  ["schedule with four fields", { schedule: "* * * *" }, ["cron-syntax schedule 0-7"]],
  ["schedule with a value out of range", { schedule: "0 24 * * *" }, ["cron-range schedule 2-4"]],
  ["S4: an impossible schedule", { schedule: "0 0 30 2 *" }, ["cron-impossible schedule 4-8"]],
  ["schedule too long", { schedule: `${"0,".repeat(150)}0 * * * *` }, ["limit-exceeded schedule 0-309"]],
  ["zone unknown", { timezone: "Mars/Olympus" }, ["timezone-unknown timezone 0-12"]],
  ["window of unknown mode", { window: { mode: "near" } }, ["field-type window.mode"]],
  ["window of a negative duration", { window: { duration: "-1s" } }, ["duration-negative window.duration 0-3"]],
  ["window duration unreadable", { window: { duration: "1 h" } }, ["duration-syntax window.duration 0-3"]],
  ["window duration a number", { window: { duration: 60 } }, ["field-type window.duration"]],
  ["S11: window with milliseconds", { window: { duration: "1500ms" } }, ["duration-range window.duration 0-6"]],
  [
    "window above 31 days",
    { schedule: "@yearly", window: { duration: "745h" } },
    ["duration-range window.duration 0-4"],
  ],
  ["S11: window longer than the smallest gap", { window: { duration: "2h" } }, ["window-overlap window.duration"]],
  ["distribution unknown", { distribution: "poisson" }, ["distribution-unknown distribution"]],
  [
    "distribution unknown, with parameters",
    { distribution: { name: "poisson", k: 1 } },
    ["distribution-unknown distribution.name"],
  ],
  ["distribution without a name", { distribution: { shape: 2 } }, ["field-missing distribution.name"]],
  ["distribution a number", { distribution: 2 }, ["field-type distribution"]],
  [
    "distribution parameter unknown",
    { distribution: { name: "uniform", shape: 2 } },
    ["distribution-parameter-unknown distribution.shape"],
  ],
  [
    "distribution parameter of the wrong type",
    { distribution: { name: "skewEarly", shape: "2" } },
    ["distribution-parameter-invalid distribution.shape"],
  ],
  [
    "distribution parameter out of range",
    { distribution: { name: "skewEarly", shape: 0 } },
    ["distribution-parameter-range distribution.shape"],
  ],
  [
    "distribution parameter unreadable",
    { distribution: { name: "normal", sigma: "3x" } },
    ["duration-syntax distribution.sigma 0-2"],
  ],
  ["seed strategy unknown", { seed: { strategy: "hourly" } }, ["seed-strategy-unknown seed.strategy"]],
  ["constraint malformed", { constraints: { only: "dow=MON;betwen=1" } }, ["constraint-syntax constraints.only 8-14"]],
  [
    "constraint out of range, in a list",
    { constraints: { avoid: ["dow=MON", "hours=25"] } },
    ["constraint-range constraints.avoid.1 6-8"],
  ],
  ["too many clauses", { constraints: { only: LONG_CLAUSES } }, ["limit-exceeded constraints.only 0-519"]],
  [
    "too many clauses over both lists",
    { constraints: { only: LONG_CLAUSES.slice(8), avoid: "dow=SUN" } },
    ["limit-exceeded constraints"],
  ],
  [
    "constraints of the wrong type",
    { constraints: { only: [1], avoid: 2 } },
    ["field-type constraints.only.0", "field-type constraints.avoid"],
  ],
  ["concurrency unknown", { policy: { concurrency: "queue" } }, ["field-type policy.concurrency"]],
  ["deadline unreadable", { policy: { deadline: "soon" } }, ["duration-syntax policy.deadline 0-4"]],
  ["deadline beyond a year", { policy: { deadline: "9000h" } }, ["duration-range policy.deadline"]],
  ["suspend not a boolean", { policy: { suspend: "yes" } }, ["field-type policy.suspend"]],
  ["max_active of zero", { policy: { max_active: 0 } }, ["field-range policy.max_active"]],
  ["max_active of a half", { max_active: 1.5 }, ["field-type max_active"]],
  ["max_active said twice", { max_active: 1, policy: { max_active: 2 } }, ["field-conflict max_active"]],
  [
    "S26: max_active without allow",
    { policy: { concurrency: "forbid", max_active: 2 } },
    ["field-conflict policy.max_active"],
  ],
  ["dst unknown", { dst: { gap: "both", overlap: "skip" } }, ["field-type dst.gap", "field-type dst.overlap"]],
  ["no command", { command: undefined }, ["field-missing command"]],
  ["an empty command", { command: [] }, ["field-range command.0"]],
  ["an empty program", { command: ["", "x"] }, ["field-range command.0"]],
  ["a text without shell", { command: "echo hi" }, ["field-type command"]],
  ["a list with shell", { shell: true }, ["field-conflict command"]],
  ["an empty text", { shell: true, command: "  " }, ["field-range command"]],
  ["an argument that is a number", { command: ["sleep", 3] }, ["field-type command.1"]],
  ["an argument with NUL", { command: ["a", "b\0c"] }, ["field-range command.1 1-2"]],
  ["an argument too long", { command: ["a", "x".repeat(LIMITS.argumentBytes + 1)] }, ["limit-exceeded command.1"]],
  [
    "arguments too long",
    { command: Array.from({ length: 9 }, () => "x".repeat(LIMITS.argumentBytes)) },
    ["limit-exceeded command"],
  ],
  ["command and request", { http: { url: "http://a.b/" } }, ["field-conflict http"]],
  ["user not a name", { user: "a b", group: "-x" }, ["field-range user", "field-range group"]],
  ["cwd relative", { cwd: "./x" }, ["field-range cwd"]],
  ["cwd too long", { cwd: `/${"x".repeat(5000)}` }, ["limit-exceeded cwd"]],
  ["env not a mapping", { env: ["A=1"] }, ["field-type env"]],
  ["env name", { env: { "1A": "x" } }, ["environment-name env.1A"]],
  ["env name of Kron's own", { env: { KRON_ATTEMPT_ID: "x" } }, ["environment-name env.KRON_ATTEMPT_ID"]],
  ["env value a number", { env: { A: 1 } }, ["field-type env.A"]],
  ["env value with NUL", { env: { A: "x\0" } }, ["field-range env.A 1-2"]],
  [
    "env too large",
    { env: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`V${i}`, "x".repeat(131_000)])) },
    ["limit-exceeded env"],
  ],
  ["input with half a character", { stdin: "a\ud800" }, ["field-range stdin 1-2"]],
  ["umask not octal", { umask: "088" }, ["field-range umask"]],
  ["umask a number", { umask: 22 }, ["field-type umask"]],
  ["timeout of nothing", { timeout: "0s" }, ["duration-range timeout"]],
  ["output destination unknown", { output: { to: "mail" } }, ["field-type output.to"]],
  ["output said twice", { output: { file: true, to: "inherit" } }, ["field-conflict output.file"]],
  ["output to no file", { output: { file: false } }, ["field-range output.file"]],
  ["output cap unreadable", { output: { max: "10 megabytes" } }, ["field-type output.max 0-12"]],
  ["output cap too small", { max_output: "1B" }, ["field-range max_output"]],
  ["output cap said twice", { max_output: "1MB", output: { max: "1MB" } }, ["field-conflict max_output"]],
  ["output kept", { output: { keep: 0 } }, ["field-range output.keep"]],
  ["description too long", { description: "x".repeat(5000) }, ["limit-exceeded description"]],
  ["description with a control character", { description: "a\u001b[0m" }, ["field-range description 1-2"]],
  ["tags repeated, empty", { tags: ["a", "a", " "] }, ["field-range tags.1", "field-range tags.2"]],
  ["too many tags", { tags: Array.from({ length: 65 }, (_, i) => `t${i}`) }, ["limit-exceeded tags"]],
  [
    "unknown fields",
    { commnd: 1, policy: { deadlin: "1s" } },
    ["field-unknown policy.deadlin", "field-unknown commnd"],
  ],
  ["null where a value should be", { timezone: null }, ["field-type timezone"]],
];

describe("what is wrong, and where", () => {
  test.each(BAD)("%s", (_title, raw, problems) => {
    expect(problemsOf({ ...BASE, ...raw })).toEqual(problems);
  });

  const notMappings: readonly [title: string, raw: unknown][] = [
    ["null", null],
    ["a list", []],
    ["a text", "x"],
    ["nothing", undefined],
  ];
  test.each(notMappings)("a definition that is %s", (_title, raw) => {
    const read = readJobDefinition(raw);
    expect(read.ok).toBe(false);
  });

  test("all problems are collected, of shape and of meaning alike", () => {
    const raw = {
      identity: "a\n",
      schedule: "61 * * * *",
      timezone: "Nowhere",
      policy: { deadline: "x", concurrency: 1 },
      wat: true,
    };
    expect(problemsOf(raw)).toEqual([
      "field-type policy.concurrency",
      "field-unknown wat",
      "cron-range schedule 0-2",
      "identity-invalid identity 1-2",
      "timezone-unknown timezone 0-7",
      "duration-syntax policy.deadline 0-1",
      "field-missing command",
    ]);
  });

  test("S11: the message names both lengths", () => {
    const read = readJobDefinition({ ...BASE, window: { duration: "2h" } });
    expect(read.ok ? [] : read.error.map(({ message }) => message)).toEqual([
      "window 2h exceeds the smallest gap between periods, 1h",
    ]);
  });

  const hints: readonly [raw: Record<string, unknown>, hint: string][] = [
    [{ cron: "x" }, "did you mean schedule?"],
    [{ comand: ["x"] }, "did you mean command?"],
    [{ maxActive: 1 }, "did you mean max_active?"],
    [{ window_mode: "after" }, "did you mean window: { mode: ... }?"],
    [{ deadline: "1s" }, "did you mean policy: { deadline: ... }?"],
    [{ policy: { concurrency: "alow" } }, "did you mean allow?"],
    [{ policy: { deadline: 30 } }, "write 30s for seconds"],
    [{ umask: 22 }, 'write it in quotes: "22"'],
    [{ output: { max: 100 } }, "write it with a unit, like 10MB"],
    [{ command: "echo 'a b'" }, 'write it as a list, ["echo","a b"], or add shell: true'],
    [{ distribution: { name: "skewEarly", shap: 1 } }, "did you mean shape?"],
  ];
  test.each(hints)("%j: %s", (raw, hint) => {
    const read = readJobDefinition({ ...BASE, ...raw });
    expect(read.ok ? [] : read.error.map((problem) => problem.hint)).toEqual([hint]);
  });
});

describe("ERROR-MODEL: which category a wrong definition belongs to", () => {
  const rows: readonly [row: string, raw: Record<string, unknown>, category: string][] = [
    ["syntax is invalid", { schedule: "every day" }, "ConfigurationError"],
    ["required fields missing", { schedule: undefined }, "ConfigurationError"],
    ["unknown distribution", { distribution: "poisson" }, "ConfigurationError"],
    ["unknown seed strategy", { seed: { strategy: "hourly" } }, "ConfigurationError"],
    ["invalid parameters", { distribution: { name: "skewEarly", shape: "big" } }, "ConfigurationError"],
    ["invalid timezone", { timezone: "Mars/Olympus" }, "ConfigurationError"],
    ["negative durations", { window: { duration: "-1h" } }, "ConfigurationError"],
    ["window duration too large", { window: { duration: "1000h" } }, "ValidationError"],
    ["constraint clauses malformed", { constraints: { only: "dow=XYZ" } }, "ValidationError"],
    [
      "distribution parameters out of allowed range",
      { distribution: { name: "skewLate", shape: -1 } },
      "ValidationError",
    ],
    ["S4: an impossible schedule", { schedule: "0 0 30 2 *" }, "ValidationError"],
    ["S11: windows that overlap", { window: { duration: "61m" } }, "ValidationError"],
    ["S37: an identity with a newline", { identity: "a\n" }, "ValidationError"],
  ];
  test.each(rows)("%s", (_row, raw, category) => {
    const read = readJobDefinition({ ...BASE, ...raw });
    expect(read.ok ? [] : read.error.map(({ code }) => errorKind(code).category)).toEqual([category]);
  });
});

describe("requests", () => {
  const URL_OK = "https://example.org/";
  const rows: readonly [title: string, http: unknown, problems: readonly string[]][] = [
    ["no address", {}, ["field-missing http.url"]],
    ["not an address", { url: "example.org" }, ["field-range http.url"]],
    ["another protocol", { url: "file:///etc/passwd" }, ["field-range http.url"]],
    ["a password in the address", { url: "https://a:b@example.org/" }, ["field-range http.url"]],
    ["a fragment", { url: "https://example.org/#x" }, ["field-range http.url"]],
    ["blanks around", { url: " https://example.org/" }, ["field-range http.url"]],
    ["an address too long", { url: `https://example.org/${"x".repeat(5000)}` }, ["field-range http.url"]],
    ["an unknown method", { url: URL_OK, method: "get" }, ["field-type http.method"]],
    ["a body with GET", { url: URL_OK, body: "x" }, ["field-conflict http.body"]],
    ["a header that ends early", { url: URL_OK, headers: { A: "x\r\nB: y" } }, ["field-range http.headers.A"]],
    ["a header that is no name", { url: URL_OK, headers: { "A B": "x" } }, ["field-range http.headers.A B"]],
    ["a header of Kron's own", { url: URL_OK, headers: { Host: "x" } }, ["field-range http.headers.Host"]],
    ["a header twice", { url: URL_OK, headers: { "X-A": "1", "x-a": "2" } }, ["field-range http.headers.x-a"]],
    ["a timeout of hours", { url: URL_OK, timeout: "2h" }, ["duration-range http.timeout"]],
    [
      "a header of signatures",
      { url: URL_OK, headers: { "Webhook-Id": "x" } },
      ["field-range http.headers.Webhook-Id"],
    ],
    [
      "a header in two places",
      { url: URL_OK, headers: { A: "1" }, header_env: { a: "A" } },
      ["field-range http.header_env.a"],
    ],
    [
      "a secret in the place of its name",
      { url: URL_OK, header_env: { A: "s3 cr=t" } },
      ["field-range http.header_env.A"],
    ],
    ["a file that is no path", { url: URL_OK, header_files: { A: "secret" } }, ["field-range http.header_files.A"]],
    ["an answer of no size", { url: URL_OK, max_response: "0B" }, ["field-range http.max_response"]],
    ["an excerpt that is no excerpt", { url: URL_OK, excerpt: "1MB" }, ["field-range http.excerpt"]],
    ["a size that is none", { url: URL_OK, max_response: "much" }, ["field-type http.max_response 0-4"]],
    ["a status that is none", { url: URL_OK, success: ["2xx", 99] }, ["field-range http.success.1"]],
    ["a range the wrong way round", { url: URL_OK, success: "299-200" }, ["field-range http.success"]],
    ["no status at all", { url: URL_OK, success: [] }, ["field-range http.success"]],
    ["a signature without a secret", { url: URL_OK, signature: {} }, ["field-conflict http.signature"]],
    [
      "a signature with two secrets",
      { url: URL_OK, signature: { secret_env: "A", secret_file: "/a" } },
      ["field-conflict http.signature"],
    ],
    ["a certificate without its key", { url: URL_OK, client_cert_file: "/a" }, ["field-conflict http"]],
    ["certificates without TLS", { url: "http://example.org/", ca_file: "/a" }, ["field-conflict http.url"]],
    ["certificates that are no path", { url: URL_OK, ca_file: "ca.pem" }, ["field-range http.ca_file"]],
    [
      "too many headers",
      { url: URL_OK, headers: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`h${i}`, "x"])) },
      ["limit-exceeded http.headers"],
    ],
  ];
  test.each(rows)("%s", (_title, http, problems) => {
    expect(problemsOf({ identity: "a", schedule: "@daily", http })).toEqual(problems);
  });

  test("what belongs to commands is refused", () => {
    const raw = { identity: "a", schedule: "@daily", http: { url: URL_OK }, user: "x", timeout: "1s", env: {} };
    expect(problemsOf(raw)).toEqual(["field-conflict user", "field-conflict env", "field-conflict timeout"]);
  });
});

describe("defaults", () => {
  function withDefaults(defaults: unknown, more: Record<string, unknown>): JobDefinition {
    return requireOk(readJobDefinition({ ...BASE, ...more }, requireOk(readJobDefaults(defaults))));
  }

  test("groups are merged key by key, and the job wins", () => {
    const defaults = {
      timezone: "Europe/Berlin",
      window: { mode: "before", duration: "10m" },
      policy: { deadline: "30s", concurrency: "forbid" },
      seed: { salt: "all" },
      env: { A: "1", B: "2" },
      dst: { gap: "next" },
      constraints: { avoid: "dow=SUN" },
    };
    const job = {
      window: { duration: "5m" },
      policy: { concurrency: "replace" },
      seed: { strategy: "daily" },
      env: { B: "3" },
      dst: { overlap: "last" },
      constraints: { only: "hours=1" },
    };
    expect(withDefaults(defaults, job)).toMatchObject({
      timezone: "Europe/Berlin",
      window: { mode: "before", durationMs: 300_000 },
      policy: { deadlineMs: 30_000, concurrency: "replace" },
      seed: { strategy: "daily", salt: "all" },
      dst: { gap: "next", overlap: "last" },
      constraints: { only: [{ kind: "hours" }], avoid: [{ kind: "dow" }] },
      target: { env: { A: "1", B: "3" } },
    });
  });

  const rows: readonly [title: string, defaults: unknown, job: Record<string, unknown>, expected: object][] = [
    [
      "a distribution is replaced whole",
      { distribution: { name: "skewEarly", shape: 9 } },
      { distribution: "skewLate" },
      { distribution: { name: "skewLate", shape: 2 } },
    ],
    [
      "shell speaks of texts only",
      { shell: true },
      { command: ["echo"] },
      { target: { argv: ["echo"], shell: false } },
    ],
    ["shell lets a text through", { shell: true }, { command: "a | b" }, { target: { argv: ["a | b"], shell: true } }],
    [
      "max_active gives way to forbid",
      { max_active: 3 },
      { policy: { concurrency: "forbid" } },
      { policy: { maxActive: null } },
    ],
    [
      "the short form of the job wins over the long one",
      { output: { max: "1MB", keep: 2 } },
      { max_output: "2MB" },
      { target: { output: { maxBytes: 2_000_000, keep: 2 } } },
    ],
    [
      "the long form of the job wins over the short one",
      { max_output: "1MB" },
      { output: { max: "2MB" } },
      { target: { output: { maxBytes: 2_000_000 } } },
    ],
    [
      "file: true wins over to",
      { output: { to: "discard" } },
      { output: { file: true } },
      { target: { output: { to: "file" } } },
    ],
    ["tags are replaced", { tags: ["a"] }, { tags: ["b"] }, { tags: ["b"] }],
  ];
  test.each(rows)("%s", (_title, defaults, job, expected) => {
    expect(withDefaults(defaults, job)).toMatchObject(expected);
  });

  test("what belongs to commands does not reach requests", () => {
    const defaults = requireOk(readJobDefaults({ user: "a", shell: true, timeout: "1s", output: { keep: 1 } }));
    const read = readJobDefinition({ identity: "a", schedule: "@daily", http: { url: "http://a.b/" } }, defaults);
    expect(requireOk(read).target.kind).toBe("http");
  });

  test("S11: a window from the defaults that does not fit is told of the schedule", () => {
    const read = readJobDefinition(BASE, requireOk(readJobDefaults({ window: { duration: "2h" } })));
    expect(read.ok ? [] : read.error.map(({ code, path }) => [code, ...path])).toEqual([
      ["window-overlap", "schedule"],
    ]);
  });

  const bad: readonly [title: string, defaults: unknown, problems: readonly string[]][] = [
    ["identity", { identity: "x" }, ["field-unknown identity"]],
    ["a schedule", { schedule: "@daily" }, ["field-unknown schedule"]],
    ["a bad zone", { timezone: "X" }, ["timezone-unknown timezone"]],
    [
      "several things",
      { timezone: 1, window: { duration: "x" }, http: {} },
      ["field-type timezone", "field-unknown http", "duration-syntax window.duration"],
    ],
    ["a list", [], ["field-type "]],
  ];
  test.each(bad)("checked once, by themselves: %s", (_title, defaults, problems) => {
    const read = readJobDefaults(defaults);
    expect(read.ok ? [] : read.error.map(({ code, path }) => `${code} ${path.join(".")}`)).toEqual(problems);
  });
});

describe("keys with a meaning to JavaScript are inert", () => {
  const hostile = JSON.parse(
    '{"identity":"a","schedule":"@daily","command":["x"],"__proto__":{"shell":true},"constructor":1,"env":{"__proto__":"x"}}',
  ) as unknown;

  test("they are refused, and change nothing", () => {
    expect(problemsOf(hostile)).toEqual([
      "field-unknown env.__proto__",
      "field-unknown __proto__",
      "field-unknown constructor",
    ]);
    expect(({} as Record<string, unknown>)["shell"]).toBeUndefined();
  });

  test("a request's headers likewise", () => {
    const raw = JSON.parse(
      '{"identity":"a","schedule":"@daily","http":{"url":"http://a.b/","headers":{"__proto__":"x"}}}',
    );
    expect(problemsOf(raw)).toEqual(["field-unknown http.headers.__proto__"]);
  });
});

test("S37: readers that make reserved identities may use them", () => {
  const raw = { ...BASE, identity: "crontab:root:0123456789ab" };
  expect(requireOk(readJobDefinition(raw, undefined, { mayUseReservedPrefix: true })).identity).toBe(raw.identity);
});
