import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../../src/cli/commands/index.js";
import { runCaptured } from "../../support/cli.js";
import { temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories();

const FLEET = "test/cli/files/fleet.yaml";
/** The evening before the clocks of Berlin go forward, until noon. */
const NIGHT = ["--from", "2026-03-28T20:00:00Z", "--to", "2026-03-29T12:00:00Z"];

async function forecast(...argv: readonly string[]) {
  return runCaptured(KRON, ["forecast", FLEET, ...NIGHT, ...argv]);
}

describe("kron forecast", () => {
  test("text: totals, and the fullest buckets with those who make them", async () => {
    const { exitCode, out, err } = await forecast("--top", "2");
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(out).toBe(`2026-03-28T20:00:00Z to 2026-03-29T12:00:00Z by 1m: 5 jobs, 1 suspended left out

                 STARTS  BUSY BUCKETS  PEAK  AT (UTC)
with windows         68            65     4  2026-03-28T23:00:00Z
without windows      68            64     5  2026-03-28T23:00:00Z

Fullest buckets
BUCKET (UTC)          STARTS  BY IDENTITY
2026-03-28T23:00:00Z       4  db/vacuum, shop/invoices, shop/mail, shop/report
2026-03-28T20:00:00Z       1  shop/mail

Fullest buckets without windows
BUCKET (UTC)          STARTS  BY IDENTITY
2026-03-28T23:00:00Z       5  db/backup, db/vacuum, shop/invoices, shop/mail, shop/report
2026-03-28T20:00:00Z       1  shop/mail
`);
  });

  test("jobs of a crontab are told by their line and what it runs; as data, beside their names", async () => {
    const cwd = temporary();
    fs.writeFileSync(path.join(cwd, "live.crontab"), "# nightly\n0 * * * * df -h /\n");
    const argv = ["forecast", "--crontab", "live.crontab", ...NIGHT, "--top", "1"];
    const { out, err } = await runCaptured(KRON, argv, { cwd });
    expect(err).toBe("");
    expect(out).toMatch(/^2026-03-28T20:00:00Z +1 {2}crontab:live\.crontab:2 df -h \/$/m);
    const report = JSON.parse((await runCaptured(KRON, [...argv, "-o", "json"], { cwd })).out);
    expect(report.with_windows.peaks[0].contributors).toEqual([
      {
        name: expect.stringMatching(/^crontab:live\.crontab:[0-9a-f]+$/),
        called: "crontab:live.crontab:2 df -h /",
        starts: 1,
      },
    ]);
  });

  test("--by tag: a table of the groups", async () => {
    const { out } = await forecast("--by", "tag", "--top", "3");
    expect(out).toContain(`By tag
TAG    JOBS  STARTS  PEAK  AT (UTC)              PEAK WITHOUT WINDOWS  AT (UTC)
shop      3      66     3  2026-03-28T23:00:00Z                     3  2026-03-28T23:00:00Z
db        2       2     1  2026-03-28T23:00:00Z                     2  2026-03-28T23:00:00Z
fixed     1       1     1  2026-03-28T23:00:00Z                     1  2026-03-28T23:00:00Z
`);
  });

  test("-o json: stable fields, every bucket", async () => {
    const report = JSON.parse((await forecast("-o", "json", "--bucket", "4h", "--assume-duration", "20m")).out);
    expect(Object.keys(report)).toEqual([
      "format",
      "engine_version",
      "tz_version",
      "from",
      "to",
      "bucket_seconds",
      "jobs",
      "suspended",
      "unschedulable",
      "with_windows",
      "without_windows",
      "by",
      "groups",
      "groups_total",
      "overlap",
      "gate",
      "buckets",
    ]);
    expect(report).toMatchObject({
      format: 1,
      bucket_seconds: 14_400,
      with_windows: { starts: 68, busy_buckets: 4 },
      // Of mail a run takes 20 minutes and forbids the next: every second one is skipped.
      overlap: {
        jobs: 5,
        jobs_without_duration: 0,
        with_windows: { peak: 4, skipped: 32 },
        without_windows: { peak: 5 },
      },
      gate: null,
    });
    expect(
      report.buckets.map(({ starts, starts_without_windows }: Record<string, number>) => [
        starts,
        starts_without_windows,
      ]),
    ).toEqual([
      [19, 20],
      [17, 16],
      [16, 16],
      [16, 16],
    ]);
  });

  test("-o jsonl and -o csv: the same numbers, a line for each bucket", async () => {
    const lines = (await forecast("-o", "jsonl", "--bucket", "8h")).out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { start: "2026-03-28T20:00:00Z", starts: 36, starts_without_windows: 36 },
      { start: "2026-03-29T04:00:00Z", starts: 32, starts_without_windows: 32 },
    ]);
    expect((await forecast("-o", "csv", "--bucket", "8h", "--assume-duration", "1m")).out).toBe(
      `start,starts,starts_without_windows,running,running_peak,running_without_windows,running_peak_without_windows
2026-03-28T20:00:00Z,36,36,0.075,4,0.075,5
2026-03-29T04:00:00Z,32,32,0.067,1,0.067,1
`,
    );
  });

  test("-o plot: both series on one scale, round times below; a peak of one bucket does not vanish", async () => {
    const { out } = await forecast("-o", "plot", "--width", "40");
    expect(out).toBe(`with windows: peak 4
5 ┤
  ┤      ▃
  ┤      █
  ┤      █
  ┤      █
  ┤      █
  ┤▅▅▅▅▅▅█▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
0 ┤█████████████████████████████████████
  └─────────────────────────────────────
   20:00    00:00    04:00    08:00

without windows: peak 5
5 ┤      █
  ┤      █
  ┤      █
  ┤      █
  ┤      █
  ┤      █
  ┤▅▅▅▅▅▅█▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
0 ┤█████████████████████████████████████
  └─────────────────────────────────────
   20:00    00:00    04:00    08:00

2026-03-28T20:00:00Z to 2026-03-29T12:00:00Z (UTC); a column is the fullest of about 26 buckets
`);
  });

  test("colours only on a terminal, and not where NO_COLOR asks for none", async () => {
    const argv = ["forecast", FLEET, ...NIGHT, "-o", "plot"];
    const coloured = await runCaptured(KRON, argv, { isOutTerminal: true });
    const plain = await runCaptured(KRON, argv, { isOutTerminal: true, env: { NO_COLOR: "1" } });
    expect([coloured.out.includes("\u001b["), plain.out.includes("\u001b[")]).toEqual([true, false]);
    expect((await runCaptured(KRON, argv)).out).toBe(plain.out);
  });

  test("a configuration with errors: all of them on standard error, exit 2, no forecast", async () => {
    const { exitCode, out, err } = await runCaptured(KRON, ["forecast", "test/cli/files/broken.yaml"]);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toContain("broken.yaml:3:18: error: schedule");
  });
});

describe("--max-peak, the gate", () => {
  test("within the limit: exit 0", async () => {
    expect(await forecast("--max-peak", "4", "-o", "csv")).toMatchObject({ exitCode: 0, err: "" });
  });

  test("over it: exit 2, and the culprits on standard error, whatever the form", async () => {
    const culprits = `kron: 1 bucket exceeds the limit of 3 starts
  2026-03-28T23:00:00Z  4 starts: db/vacuum, shop/invoices, shop/mail, shop/report
`;
    for (const form of ["text", "json", "jsonl", "csv", "html", "plot"]) {
      expect(await forecast("--max-peak", "3", "-o", form)).toMatchObject({ exitCode: 2, err: culprits });
    }
  });

  test("-o json names them too", async () => {
    const { gate } = JSON.parse((await forecast("--max-peak", "3", "-o", "json")).out);
    expect(gate).toMatchObject({
      max_peak: 3,
      exceeded: true,
      buckets_over: 1,
      culprits: [{ start: "2026-03-28T23:00:00Z", starts: 4, other_contributors: 0 }],
    });
  });
});

describe("what cannot be forecast is said in one line, exit 1", () => {
  const rows: readonly (readonly [argv: readonly string[], message: string])[] = [
    [["-o", "xml"], '--output: unknown "xml"'],
    [["--by", "colour"], '--by: unknown "colour"'],
    [["--horizon", "1h"], "--to and --horizon say the same"],
    [["--bucket", "0s"], "--bucket: must be longer than 0s"],
    [["--bucket", "1500ms"], "a bucket is a whole number of seconds, at least one"],
    [["--bucket", "hour"], "--bucket: not a duration"],
    [["--bucket", "7x"], '--bucket: unknown unit "x" in duration\n  units are d, h, m, s and ms'],
    [["--bucket", "1h2d"], '--bucket: unknown unit "d" in duration\n  write whole days first: 1d12h'],
    [["--max-peak", "none"], '--max-peak: "none" is not a whole number'],
    [["--config", FLEET], "files are given twice"],
    [["--state", "/nonexistent"], "there is no state in /nonexistent"],
  ];
  test.each(rows)("%j", async (argv, message) => {
    const { exitCode, out, err } = await forecast(...argv);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(err).toContain(`kron: ${message}`);
  });

  test("too many buckets, and too many for a page", async () => {
    const long = ["forecast", FLEET, "--from", "2026-01-01T00:00:00Z", "--horizon"];
    const second = await runCaptured(KRON, [...long, "8760h", "--bucket", "1s"]);
    const page = await runCaptured(KRON, [...long, "8760h", "-o", "html"]);
    expect([second.exitCode, page.exitCode]).toEqual([1, 1]);
    expect(second.err).toContain("31536000 buckets of 1s, more than the limit of 1000000");
    expect(page.err).toContain("a page shows at most 20160 buckets");
  });
});
