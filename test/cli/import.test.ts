import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { readYamlConfig } from "../../src/core/config/yaml/reader.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();

const TABLE = `MAILTO=root
*/5 * * * * /opt/poll
008 3 * * * /opt/backup
@later /opt/start
`;

function crontabFile(text: string): { readonly cwd: string; readonly file: string } {
  const cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, "tab"), text);
  return { cwd, file: "tab" };
}

describe("kron import crontab", () => {
  test("YAML on standard output, a verdict for every line on standard error; exit 2 when a line is lost", async () => {
    const { cwd, file } = crontabFile(TABLE);
    const { exitCode, out, err } = await runCaptured(KRON, ["import", "crontab", file, "--timezone", "UTC"], { cwd });
    expect(exitCode).toBe(2);
    expect(
      err,
    ).toBe(`tab:1:1: same, but: what a run prints is mailed by sendmail, as with cron, and kept in a file as well, see: kron logs
tab:2:1: same
tab:3:1: same, but: the schedule is written 8 3 * * * here
tab:4:1: error: cron does not know @later
  @later /opt/start
  ^^^^^^
  hint: write one of @hourly @daily @midnight @weekly @monthly @yearly @annually @reboot
2 jobs; lines: 1 same, 2 with a note, 1 not supported
`);
    const { jobs, problems } = readYamlConfig("out.yaml", out);
    expect(problems).toEqual([]);
    expect(jobs.map(({ definition }) => [definition.identity, definition.schedule])).toEqual([
      ["tab/poll", "*/5 * * * *"],
      ["tab/backup", "8 3 * * *"],
    ]);
  });

  test("S44: what runs at boot is taken over, and a random delay of cron's has no effect on it", async () => {
    const input = "RANDOM_DELAY=10\n@reboot /opt/start\n";
    const { exitCode, out } = await runCaptured(KRON, ["import", "crontab", "-", "--run-as", "alice"], { input });
    expect(exitCode).toBe(0);
    const [job] = readYamlConfig("x", out).jobs;
    expect(job?.definition).toMatchObject({ schedule: "@reboot", window: { durationMs: 0 } });
  });

  test("a crontab without losses: exit 0, also from standard input", async () => {
    const input = "0 3 * * * a\n";
    const { exitCode, out } = await runCaptured(KRON, ["import", "crontab", "-", "--run-as", "alice"], { input });
    expect(exitCode).toBe(0);
    expect(readYamlConfig("x", out).jobs[0]?.definition).toMatchObject({
      identity: "crontab/a",
      target: { user: "alice" },
    });
  });

  test("-o json: everything in one document, with both identities and the job as it would be written", async () => {
    const { cwd, file } = crontabFile(TABLE);
    const { exitCode, out, err } = await runCaptured(KRON, ["import", "crontab", file, "-o", "json"], { cwd });
    expect([exitCode, err]).toEqual([2, ""]);
    const { files, jobs, lines, yaml } = JSON.parse(out);
    expect([files, jobs]).toEqual([["tab"], 2]);
    expect(readYamlConfig("x", yaml).problems).toEqual([]);
    expect(lines).toMatchObject([
      { line: 1, kind: "variable", verdict: "noted", job: null, errors: [] },
      { line: 2, kind: "job", verdict: "same", notes: [], job: { identity: "tab/poll", command: "/opt/poll" } },
      { line: 3, kind: "job", verdict: "noted", live_identity: expect.stringMatching(/^crontab:tab:[0-9a-f]{12}$/) },
      { line: 4, verdict: "unsupported", errors: [{ column: 1, code: "cron-syntax", category: "ConfigurationError" }] },
    ]);
  });

  test("-o jsonl: one line of the crontab a line", async () => {
    const { cwd, file } = crontabFile(TABLE);
    const { out } = await runCaptured(KRON, ["import", "crontab", file, "-o", "jsonl"], { cwd });
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).line),
    ).toEqual([1, 2, 3, 4]);
  });

  test("--system reads a user before each command; without it a likely oversight is pointed out", async () => {
    const { cwd, file } = crontabFile("0 3 * * * root /opt/backup\n");
    const user = await runCaptured(KRON, ["import", "crontab", file], { cwd });
    const system = await runCaptured(KRON, ["import", "crontab", file, "--system"], { cwd });
    expect(user.err).toContain('hint: some commands begin with "root"');
    expect(system.err).not.toContain("hint:");
    expect(readYamlConfig("x", system.out).jobs[0]?.definition.target).toMatchObject({
      user: "root",
      argv: ["/opt/backup"],
    });
  });

  test("the schedules are read in the zone of this host, or in --timezone", async () => {
    const { cwd, file } = crontabFile("0 3 * * * a\n");
    const host = await runCaptured(KRON, ["import", "crontab", file], { cwd });
    const given = await runCaptured(KRON, ["import", "crontab", file, "--timezone", "asia/tokyo"], { cwd });
    const zones = [host, given].map(({ out }) => readYamlConfig("x", out).jobs[0]?.definition.timezone);
    expect(zones).toEqual([new Intl.DateTimeFormat().resolvedOptions().timeZone, "Asia/Tokyo"]);
  });

  const refused: readonly [title: string, argv: readonly string[], exitCode: number, message: string][] = [
    ["nothing to import from", [], 1, "import needs to know from what"],
    ["a cronjob without a file", ["cronjob"], 1, "import cronjob needs a file"],
    ["something unknown", ["anacron", "x"], 1, 'cannot import from "anacron"'],
    ["no file", ["crontab"], 1, "import crontab needs a file"],
    ["both forms", ["crontab", "tab", "--user", "--system"], 1, "exclude each other"],
    ["a user for the system form", ["crontab", "tab", "--system", "--run-as", "x"], 1, "--run-as is for user crontabs"],
    ["an unknown zone", ["crontab", "tab", "--timezone", "Mars"], 1, "--timezone:"],
    ["a missing file", ["crontab", "missing"], 2, "missing: there is no such file"],
    ["a directory", ["crontab", "."], 2, ".: it is a directory"],
  ];

  test.each(refused)("%s: refused in one line", async (_title, argv, exitCode, message) => {
    const { cwd } = crontabFile("@daily a\n");
    const result = await runCaptured(KRON, ["import", ...argv], { cwd });
    expect({ exitCode: result.exitCode, out: result.out }).toEqual({ exitCode, out: "" });
    expect(result.err).toMatch(/^kron: /);
    expect(result.err).toContain(message);
  });
});
