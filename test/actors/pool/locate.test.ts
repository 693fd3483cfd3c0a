/** Problems that are found after the reading, such as by `--on-this-host`, stand where the field they are about is written. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfiguration } from "../../../src/actors/pool/load/configuration.js";
import { locateProblems } from "../../../src/actors/pool/load/locate.js";
import type { Problem } from "../../../src/core/base/problem.js";
import type { ConfigSource } from "../../../src/persist/config-files.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();
const CRONTAB = { form: "user", timezone: "UTC", owner: null } as const;

/** Where a problem of the only job in the file comes to stand: `line:column:length`. */
async function placeOf(name: string, text: string, at: Problem["path"], more: Partial<ConfigSource> = {}) {
  const file = path.join(newDirectory(), name);
  fs.writeFileSync(file, text);
  const sources = [{ path: file, name, ...more }];
  const { jobs, findings } = await loadConfiguration(sources);
  expect(findings).toEqual([]);
  const [{ definition, line, column } = { definition: null, line: 0, column: 0 }] = jobs;
  const problem: Problem = { code: "command-not-found", message: "m", path: at };
  const located = { problem, file: name, line, column, length: 1, identity: definition?.identity ?? "" };
  const [placed, ...others] = await locateProblems(sources, [{ located, sourceLine: null }]);
  expect([others, placed?.sourceLine, placed?.located.problem]).toEqual([[], null, problem]);
  return [placed?.located.line, placed?.located.column, placed?.located.length].join(":");
}

const YAML = `defaults:
  user: nobody
  env_file: /etc/jobs.env
jobs:
  - identity: a
    schedule: "@daily"
    command: [ls, -l]
    cwd: /no/such
`;

describe("in YAML", () => {
  test.each<[Problem["path"], string]>([
    [["command", 0], "7:15:2"],
    [["command"], "7:14:1"],
    [["cwd"], "8:10:8"],
    // What the defaults of the file say stands there.
    [["user"], "2:9:6"],
    [["env_file", 0], "3:13:13"],
    // What nobody says stands where the job is.
    [["group"], "5:15:1"],
    [[], "5:15:1"],
  ])("%j", async (at, place) => {
    expect(await placeOf("a.yaml", YAML, at)).toBe(place);
  });

  test("in a list, in quotes, and in a request", async () => {
    const text = 'jobs:\n- { identity: a, schedule: "@daily", command: ["x"], env_file: ["/a", "/b"] }\n';
    expect(await placeOf("a.yaml", text, ["env_file", 1])).toBe("2:71:4");
    expect(await placeOf("a.yaml", text, ["command", 0])).toBe("2:48:3");
    const http = 'jobs:\n- { identity: a, schedule: "@daily", http: { url: "https://x.org", ca_file: /ca } }\n';
    expect(await placeOf("a.yaml", http, ["http", "ca_file"])).toBe("2:77:3");
  });

  test("a file that is larger than wanted keeps the place of the job", async () => {
    const file = path.join(newDirectory(), "a.yaml");
    fs.writeFileSync(file, YAML);
    const problem: Problem = { code: "command-not-found", message: "m", path: ["cwd"] };
    const located = { problem, file: "a.yaml", line: 5, column: 15, length: 1, identity: "a" };
    const found = await locateProblems([{ path: file, name: "a.yaml" }], [{ located, sourceLine: null }], null, 10);
    expect(found).toEqual([{ located, sourceLine: null }]);
  });

  test("a job that is there no more, and a file that is gone, keep theirs", async () => {
    const problem: Problem = { code: "command-not-found", message: "m", path: ["cwd"] };
    const located = { problem, file: "a.yaml", line: 5, column: 15, length: 1, identity: "b" };
    const file = path.join(newDirectory(), "a.yaml");
    for (const text of [YAML, null]) {
      if (text !== null) fs.writeFileSync(file, text);
      else fs.rmSync(file);
      const found = await locateProblems([{ path: file, name: "a.yaml" }], [{ located, sourceLine: null }]);
      expect(found).toEqual([{ located, sourceLine: null }]);
    }
  });
});

describe("in the line format", () => {
  const LINE = '# a comment\n@daily name=a user=bob cwd=/no command="ls -l \'x y\'" env_file="/a /b"\n';
  test.each<[Problem["path"], string]>([
    [["command", 0], "2:41:2"],
    [["user"], "2:20:3"],
    [["cwd"], "2:28:3"],
    [["env_file", 1], "2:67:2"],
    [["group"], "2:1:1"],
  ])("%j", async (at, place) => {
    expect(await placeOf("a.kron", LINE, at)).toBe(place);
  });

  test("also from standard input", async () => {
    const given = { given: { text: LINE, format: "kron" } } as const;
    expect(await placeOf("standard input", LINE, ["user"], given)).toBe("2:20:3");
  });
});

test("in JSON Lines", async () => {
  const line = '{"identity":"a","schedule":"@daily","command":["ls","-l"],"cwd":"/no"}\n';
  expect(await placeOf("a.jsonl", line, ["command", 0])).toBe("1:48:4");
  expect(await placeOf("a.jsonl", line, ["cwd"])).toBe("1:65:5");
});

describe("in a crontab", () => {
  const TAB = "HOME=/no/such\nSHELL=/bin/none\n0 3 * * * ls -l\n";
  test.each<[string, Problem["path"], string]>([
    ["the command", ["command"], "3:11:5"],
    ["its shell", ["command", 0], "2:7:9"],
    ["its directory", ["cwd"], "1:6:8"],
    ["a user form names no user", ["user"], "3:11:5"],
  ])("%s", async (_title, at, place) => {
    expect(await placeOf("tab", TAB, at, { crontab: CRONTAB })).toBe(place);
  });

  test("the user of the system form", async () => {
    const text = "0 3 * * * bob ls\n";
    expect(await placeOf("tab", text, ["user"], { crontab: { ...CRONTAB, form: "system" } })).toBe("1:11:3");
  });
});
