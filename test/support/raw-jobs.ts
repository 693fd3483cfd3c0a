import fc from "fast-check";
import type { RawJob } from "../../src/core/job/schema.js";

/** Definitions as people write them, sound in every field; nothing here is longer than the smallest gap it meets. */
const identity = fc.stringMatching(/^[a-zA-Z0-9/_. @:-]{1,40}$/).map((text) => `job/${text}`);
const anyText = fc.string({ unit: "grapheme", maxLength: 20 });
const printable = anyText.map((text) => text.replace(/[\p{Cc}\p{Cs}]/gu, "?"));
const schedule = fc.constantFrom("0 0 * * *", "@daily", "15 3 * * MON-FRI", "0 12 1,15 * *", " 30 6 * * 0,6 ");
const seconds = (max: number): fc.Arbitrary<string> => fc.integer({ min: 0, max }).map((value) => `${value}s`);

const distribution: fc.Arbitrary<RawJob["distribution"]> = fc.oneof(
  fc.constantFrom("uniform" as const, "skewEarly" as const, "normal" as const, "exponential" as const),
  fc.record({ name: fc.constant("skewLate" as const), shape: fc.double({ min: 0.01, max: 100, noNaN: true }) }),
  fc.record({
    name: fc.constant("normal" as const),
    mu: fc.constantFrom("nominal" as const, "start" as const, "mid" as const, "end" as const),
    sigma: fc.integer({ min: 1, max: 100_000 }).map((ms) => `${ms}ms`),
  }),
  fc.record({
    name: fc.constant("exponential" as const),
    lambda: fc.double({ min: 0.01, max: 100, noNaN: true }),
    dir: fc.constantFrom("early" as const, "late" as const),
  }),
);

const clauses = fc.constantFrom(
  "dow=MON-FRI",
  "hours=0-7,22;between=22:00-06:00",
  ["dates=2026-12-24..2026-12-31", "months=JAN,7"],
  "dom=1;date=2027-01-01",
);

const policy = fc.oneof(
  fc.record(
    {
      concurrency: fc.constantFrom("forbid" as const, "replace" as const),
      deadline: seconds(9999),
      suspend: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  fc.record({ max_active: fc.integer({ min: 1, max: 100 }) }),
);

const envName = fc.stringMatching(/^[A-Z_a-z][A-Z_a-z0-9]{0,8}$/).filter((name) => name !== "__proto__");

const target = fc.oneof(
  fc.record(
    {
      command: fc.array(printable, { maxLength: 4 }).map((rest) => ["/bin/x", ...rest]),
      user: fc.constantFrom("nobody", "1000"),
      group: fc.constantFrom("staff", "100"),
      cwd: fc.constantFrom("/", "/tmp/a b"),
      env: fc.dictionary(envName, printable, { maxKeys: 4 }),
      stdin: fc.constantFrom("line\n", "\0é"),
      umask: fc.constantFrom("022", "0077", "000"),
      timeout: fc.integer({ min: 1, max: 100_000 }).map((ms) => `${ms}ms`),
      output: fc.record(
        { to: fc.constantFrom("file" as const, "discard" as const), max: fc.constantFrom("10MB", "1GiB", "1234B") },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ["command"] },
  ),
  fc.record({ command: printable.map((text) => `echo ${text}`), shell: fc.constant(true) }),
  fc.record({
    http: fc.record(
      {
        url: fc.constantFrom("https://example.org/a?b=c", "http://[::1]:8080/"),
        method: fc.constantFrom("POST" as const, "PUT" as const),
        headers: fc.constantFrom({ "X-B": "2", "X-A": "1" }),
        body: anyText,
        timeout: fc.constantFrom("1s", "1500ms"),
      },
      { requiredKeys: ["url", "method"] },
    ),
  }),
);

const common = fc.record(
  {
    timezone: fc.constantFrom("UTC", "europe/berlin", "Asia/Kolkata", "+05:30"),
    dst: fc.record({ gap: fc.constantFrom("skip" as const, "next" as const) }),
    window: fc.record({
      mode: fc.constantFrom("after" as const, "center" as const, "before" as const),
      duration: seconds(40_000),
    }),
    distribution,
    seed: fc.record(
      { strategy: fc.constantFrom("daily" as const, "weekly" as const), salt: printable },
      { requiredKeys: [] },
    ),
    constraints: fc.record({ only: clauses, avoid: clauses }, { requiredKeys: [] }),
    policy,
    stop: fc.record(
      {
        after_failures: fc.integer({ min: 1, max: 1_000 }),
        after_runs: fc.integer({ min: 1, max: 1_000_000_000 }),
        at: fc.constantFrom("2026-12-31T23:00:00Z", "2027-01-01T00:00:00+01:00"),
      },
      { requiredKeys: ["after_failures"] },
    ),
    min_interval: fc.constantFrom("1s", "90s"),
    max_interval: fc.constantFrom("90s", "1h"),
    description: printable,
    tags: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

export const rawJobs: fc.Arbitrary<RawJob> = fc
  .tuple(fc.record({ identity, schedule }), common, target)
  .map(([must, may, what]) => ({ ...must, ...may, ...what }) as RawJob);
