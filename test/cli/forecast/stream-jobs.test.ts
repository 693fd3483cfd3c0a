import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../../src/cli/commands/index.js";
import { streamJobs } from "../../../src/cli/forecast/stream-jobs.js";
import { loadConfiguration } from "../../../src/persist/configuration.js";
import { runCaptured } from "../../support/cli.js";
import { temporaryDirectories } from "../../support/temporary.js";

const directory = temporaryDirectories();
const YAML = 'defaults: { timezone: Asia/Kathmandu }\njobs:\n  - { identity: a, schedule: "@daily", command: [x] }\n';
const LINES = '\ufeff# comment\n@daily name=b command="x"\r\n\n@hourly name=c command="x"';
const JSON_LINES = '{"identity":"d","schedule":"@daily","command":["x"]}\n';

interface Row {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly isSound: boolean;
}

function written(files: Readonly<Record<string, string>>): string {
  const home = directory();
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(home, name), text);
  return home;
}

describe("jobs are given one by one exactly as the loader has them, or the loader says what is wrong", () => {
  const rows: readonly Row[] = [
    {
      name: "all formats",
      files: { "a.yaml": YAML, "b.kron": LINES, "c.jsonl": JSON_LINES, "notes.txt": "?" },
      isSound: true,
    },
    { name: "nothing", files: {}, isSound: true },
    { name: "an error in YAML", files: { "a.yaml": "jobs: 3\n" }, isSound: false },
    { name: "an error in a line", files: { "b.kron": `${LINES}\n@daily` }, isSound: false },
    {
      name: "one identity in two files",
      files: { "b.kron": LINES, "c.jsonl": JSON_LINES.replace('"d"', '"b"') },
      isSound: false,
    },
    {
      name: "one setting in two files",
      files: { "a.yaml": "kill_grace: 3s\n", "b.yaml": "kill_grace: 3s\n" },
      isSound: false,
    },
  ];
  test.each(rows)("$name", async ({ files, isSound }) => {
    const home = written(files);
    const identities: string[] = [];
    expect(await streamJobs([{ path: home, name: home }], (job) => void identities.push(job.identity))).toBe(isSound);
    const { jobs, findings } = await loadConfiguration([{ path: home, name: home }]);
    expect(findings.length === 0).toBe(isSound);
    expect(isSound ? identities : []).toEqual(isSound ? jobs.map(({ definition }) => definition.identity) : []);
  });

  test("the command ends with exit code 2 and every error with its place", async () => {
    const home = written({ "b.kron": LINES, "c.jsonl": JSON_LINES.replace('"d"', '"b"') });
    const { exitCode, out, err } = await runCaptured(KRON, ["forecast", "."], { cwd: home });
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toContain('c.jsonl:1:1: error: identity: the identity "b" is already used at b.kron:2:13');
  });
});
