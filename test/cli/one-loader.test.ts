/** Whatever asks for a configuration gets the same jobs and the same findings: there is one loader. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { createDecisionPool } from "../../src/actors/pool/decision-pool.js";
import { KRON } from "../../src/cli/commands/index.js";
import { LIMITS } from "../../src/core/base/limits.js";
import { loadDaemonConfiguration } from "../../src/krond/boot/configuration.js";
import type { ConfigFinding } from "../../src/persist/config-files.js";
import { type CliResult, runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const AT = Date.parse("2026-11-19T12:00:00Z");

function written(files: Readonly<Record<string, string>>): string {
  const directory = newDirectory();
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(directory, name), text);
  return directory;
}

function kron(argv: readonly string[], cwd: string, input = ""): Promise<CliResult> {
  return runCaptured(KRON, argv, { cwd, input, nowAt: AT, env: { HOME: cwd, XDG_CONFIG_HOME: cwd } });
}

const line = (identity: string, more = {}): string =>
  JSON.stringify({ identity, schedule: "0 3 * * *", command: ["/bin/true"], ...more });
const FEW = "limits: { jobs: 2 }\n";
const THREE_JOBS = `${["a", "b", "c"].map((identity) => line(identity)).join("\n")}\n`;

/** What a start of the daemon says of the same files. */
async function daemonFindings(directory: string): Promise<readonly ConfigFinding[]> {
  const pool = createDecisionPool({ threads: 0 });
  const sources = [{ path: directory, name: "conf" }];
  return (await loadDaemonConfiguration({ pool, sources, check: null }, null)).findings;
}

const BROKEN: Readonly<Record<string, string>> = {
  "1.jsonl": `${line("a")}\n{\n${line("a")}\n${line("b", { schedule: "99 * * * *" })}\n`,
  "2.kron": '@daily name=a command="x"\n@daily name=k command="x"\nbad\n',
  "3.yaml": `${FEW}jobs:\n  - { identity: k, schedule: "@daily", command: [x] }\n  - { identity: y, schedule: "@daily", command: [x], color: red }\n`,
  "4.yaml":
    'limits: { jobs: 1 }\njobs:\n  - { identity: p, schedule: "@daily", http: { url: "http://127.0.0.1/" } }\n  - { identity: q, schedule: "@daily", command: [x] }\n',
  "5.yaml":
    'calendars: { c: { file: none.ics } }\njobs:\n  - { identity: r, schedule: "@daily", command: [x], constraints: { avoid: calendar=c } }\n',
};

describe("one loader for the daemon and for every command", () => {
  test("S35: what lint says is what a start says, in the same order and at the same places", async () => {
    const directory = written(BROKEN);
    const { out } = await kron(["lint", ".", "-o", "json"], directory);
    const { errors } = JSON.parse(out) as { errors: { file: string; line: number; column: number; message: string }[] };
    const linted = errors.map(({ file, ...rest }) => `${file}:${rest.line}:${rest.column} ${rest.message}`);
    const started = (await daemonFindings(directory)).map(({ located: { file, line: row, column, problem } }) => {
      return `${file}:${row}:${column} ${problem.message}`.replaceAll("conf/", "");
    });
    expect(linted).toEqual(started);
    expect(linted.map((text) => text.replace(/ .*/, ""))).toEqual([
      "1.jsonl:2:2",
      "1.jsonl:3:1",
      "1.jsonl:4:29",
      "2.kron:1:13",
      "2.kron:3:1",
      "2.kron:3:1",
      "2.kron:3:1",
      "3.yaml:4:54",
      "3.yaml:3:17",
      "4.yaml:1:1",
      "none.ics:1:1",
      "5.yaml:3:85",
      "4.yaml:3:17",
      "4.yaml:3:53",
    ]);
    expect(linted).toContain("4.yaml:3:17 4 jobs are configured, the limit is 2");
  });

  test.each([
    { name: "lint", argv: ["lint", "."] },
    { name: "next", argv: ["next", "--config", "."] },
    { name: "explain", argv: ["explain", "a", "--config", "."] },
    { name: "forecast", argv: ["forecast", "."] },
    { name: "simulate", argv: ["simulate", "."] },
    { name: "tune", argv: ["tune", "."] },
  ])("the limit that the files set holds for $name as for a start", async ({ argv }) => {
    const directory = written({ "a.jsonl": THREE_JOBS, "b.yaml": FEW });
    const { exitCode, out, err } = await kron(argv, directory);
    const said = "a.jsonl:3:1: error: 3 jobs are configured, the limit is 2";
    expect({ exitCode, isSaid: `${out}${err}`.includes(said) }).toEqual({ exitCode: 2, isSaid: true });
    const findings = await daemonFindings(directory);
    expect(findings.map(({ located: { problem } }) => problem.message)).toEqual([
      "3 jobs are configured, the limit is 2",
    ]);
  });

  test("simulate: a reload reads what the command itself would read", async () => {
    const directory = written({ "a.jsonl": `${line("a")}\n`, tab: "0 3 * * * /bin/true\n" });
    const argv = ["simulate", "a.jsonl", "--reload", "+1h,tab", "--horizon", "1d", "-o", "json"];
    const { exitCode, err } = await kron(argv, directory);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  });

  test("standard input may be as large as a file of its kind, and no larger", async () => {
    const table = `${"# a table that has grown\n".repeat(Math.ceil(LIMITS.crontabFileBytes / 25) + 1)}0 3 * * * /bin/true\n`;
    const directory = written({ "big.crontab": table });
    const said = /the file is larger than 16MiB/;
    expect((await kron(["lint", "big.crontab"], directory)).out).toMatch(said);
    expect((await kron(["lint", "-"], directory, `0 3 * * * /bin/true\n${table}`)).out).toMatch(said);
  });

  test("a named pipe that nobody writes to holds up no command", async () => {
    const directory = written({});
    execFileSync("mkfifo", [path.join(directory, "pipe")]);
    expect((await kron(["lint", "pipe"], directory)).out).toContain("is not a configuration file");
  });

  test("S37: a KronJob that stands in two files is one too many", async () => {
    const manifest = `kind: KronJob\nmetadata: { name: report, namespace: team, uid: u-1 }\nspec:\n  schedule: "0 3 * * *"\n  jobTemplate: { spec: { template: { spec: { containers: [] } } } }\n`;
    const directory = written({ "a.yaml": manifest, "b.yaml": manifest });
    const { exitCode, out } = await kron(["lint", "a.yaml", "b.yaml"], directory);
    expect(exitCode).toBe(2);
    expect(out).toContain('b.yaml:1:1: error: identity: the identity "team/report/u-1" is already used at a.yaml:1:1');
  });
});
