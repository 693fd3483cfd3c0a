import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { readYamlConfig } from "../../src/core/config/yaml/reader.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();

const UNITS: Readonly<Record<string, string>> = {
  "backup.timer": "[Unit]\nDescription=Nightly\n[Timer]\nOnCalendar=*-*-* 02:00\nRandomizedDelaySec=1h\n",
  "backup.service": "[Service]\nType=oneshot\nUser=pg\nExecStart=/usr/bin/backup --full\n",
  "dump@.timer": "[Timer]\nOnCalendar=Mon *-*~07/1 04:00\n",
  "dump@.service": "[Service]\nExecStart=/usr/bin/dump %i\nNice=5\n",
  "lonely.timer": "[Timer]\nOnCalendar=daily\n",
  "other.service": "[Service]\nExecStart=/bin/other\n",
};

function units(): string {
  const cwd = newDirectory();
  for (const [name, text] of Object.entries(UNITS)) fs.writeFileSync(path.join(cwd, name), text);
  fs.mkdirSync(path.join(cwd, "backup.timer.d"));
  fs.writeFileSync(path.join(cwd, "backup.timer.d", "10-later.conf"), "[Timer]\nOnCalendar=\nOnCalendar=03:30\n");
  return cwd;
}

describe("kron import systemd", () => {
  test("a timer with its service and drop-ins: YAML on standard output, a verdict for every line on standard error", async () => {
    const args = ["import", "systemd", "backup.timer", "--timezone", "Europe/Berlin"];
    const { exitCode, out, err } = await runCaptured(KRON, args, { cwd: units() });
    expect(exitCode).toBe(0);
    expect(
      err
        .split("\n")
        .slice(0, 5)
        .map((line) => line.replace(/^\/.*?(?=backup)/, "")),
    ).toEqual([
      "backup.timer:2:1: Description=Nightly: same",
      "backup.timer:4:1: OnCalendar=*-*-* 02:00: same, but: taken back by a later line",
      "backup.timer:5:1: RandomizedDelaySec=1h: same",
      "backup.timer.d/10-later.conf:2:1: OnCalendar=: same",
      "backup.timer.d/10-later.conf:3:1: OnCalendar=03:30: same",
    ]);
    expect(err).toMatch(/1 job of 1 timer; lines: 7 same, 1 with a note, 0 not supported\n$/);
    const { jobs, problems } = readYamlConfig("out.yaml", out);
    expect(problems).toEqual([]);
    expect(jobs[0]?.definition).toMatchObject({
      identity: "backup",
      schedule: "30 3 * * *",
      timezone: "Europe/Berlin",
      window: { mode: "after", durationMs: 3_600_000 },
      policy: { concurrency: "forbid", deadlineMs: 3_600_000 },
      target: { argv: ["/usr/bin/backup", "--full"], user: "pg", cwd: "/" },
      description: "Nightly",
    });
  });

  test("a directory: what can be made of it is made, what cannot is an error with its place; exit 2", async () => {
    const { exitCode, out, err } = await runCaptured(KRON, ["import", "systemd", "."], { cwd: units() });
    expect(exitCode).toBe(2);
    expect(readYamlConfig("out.yaml", out).jobs.map(({ definition }) => definition.identity)).toEqual(["backup"]);
    expect(err).toContain(
      "dump@.timer:1:1: error: is a template, which runs nothing by itself\n  hint: name an instance of it, like dump@main.timer",
    );
    expect(err).toContain("lonely.timer:1:1: error: lonely.service is not there");
    expect(err).toContain("1 job of 3 timers; ");
  });

  test("an instance of a template, and as JSON", async () => {
    const args = ["import", "systemd", "./dump@eu-west.timer", "-o", "json"];
    const { exitCode, out, err } = await runCaptured(KRON, args, { cwd: units() });
    expect([exitCode, err]).toEqual([2, ""]);
    const { timers, jobs, yaml } = JSON.parse(out);
    expect(jobs).toBe(1);
    expect(timers[0]).toMatchObject({
      timer: "dump@eu-west.timer",
      jobs: [{ identity: "dump@eu-west", schedule: "0 4 * * MON#L", command: ["/usr/bin/dump", "eu-west"] }],
      errors: [],
    });
    expect(timers[0].lines.at(-1)).toMatchObject({ text: "Nice=5", verdict: "unsupported" });
    expect(yaml).toContain("# not supported: Nice=5: the priority stays as it is");
  });

  test.each([
    ["nothing given", ["import", "systemd"], 1, "import systemd needs a timer or a directory"],
    ["no timer", ["import", "systemd", "other.service"], 2, "no timer in other.service"],
    ["not there", ["import", "systemd", "./gone.timer"], 2, "./gone.timer: there is no such timer"],
    ["something else", ["import", "systemd", "a.yaml"], 1, "a.yaml is neither a timer nor a directory"],
    ["a flag of crontabs", ["import", "systemd", ".", "--system"], 1, "--system and --run-as are for crontabs"],
  ])("%s", async (_, args, exitCode, message) => {
    const result = await runCaptured(KRON, args, { cwd: units() });
    expect(result.exitCode).toBe(exitCode);
    expect(result.err).toContain(message);
  });

  const SYSTEM = "/usr/lib/systemd/system";
  const timers = fs.existsSync(SYSTEM) ? fs.readdirSync(SYSTEM).filter((name) => name.endsWith(".timer")) : [];
  const why = timers.length === 0 ? ` (skipped: no timers in ${SYSTEM})` : "";

  test.skipIf(timers.length === 0)(`the timers of this system: each becomes a job or says why not${why}`, async () => {
    const { out, err } = await runCaptured(KRON, ["import", "systemd", SYSTEM, "-o", "json"], {});
    expect(err).toBe("");
    const result = JSON.parse(out);
    expect(result.timers.map(({ timer }: { timer: string }) => timer)).toEqual(timers.sort());
    for (const { timer, jobs, errors } of result.timers)
      expect([timer, jobs.length + errors.length > 0]).toEqual([timer, true]);
    expect(readYamlConfig("out.yaml", result.yaml).problems).toEqual([]);
  });
});
