import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { formatOfText } from "../../src/core/config/text-format.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();

/** Eight jobs at midnight, as tables that have grown over the years have them. */
const TABLE = `SHELL=/bin/bash
${Array.from({ length: 8 }, (_, i) => `0 0 * * * /opt/jobs/night-${i + 1} --quiet`).join("\n")}
`;
const AT = "2026-11-19T12:00:00Z";

function place(name = "tab"): string {
  const cwd = newDirectory();
  fs.writeFileSync(path.join(cwd, name), TABLE);
  return cwd;
}

async function kron(
  argv: readonly string[],
  cwd: string,
  input = "",
): Promise<{ exitCode: number; out: string; err: string }> {
  return runCaptured(KRON, [...argv], { cwd, input, env: { TZ: "UTC", XDG_CONFIG_HOME: cwd, HOME: cwd } });
}

describe("crontabs as input of the commands that look at jobs", () => {
  test.each([
    ["by its content", ["lint", "tab"]],
    ["by the option", ["lint", "--crontab", "tab"]],
    ["twice", ["lint", "tab", "--crontab", "tab"]],
  ])("lint: %s", async (name, argv) => {
    const { exitCode, out } = await kron(argv, place());
    expect([exitCode, /(\d+) jobs?/.exec(out)?.[1]]).toEqual(name === "twice" ? [2, "8"] : [0, "8"]);
  });

  test("lint: what a line says wrong has its place; a file that is nothing is refused as before", async () => {
    const cwd = newDirectory();
    fs.writeFileSync(path.join(cwd, "tab"), "0 25 * * * a\n");
    fs.writeFileSync(path.join(cwd, "notes.txt"), "milk\neggs\n");
    expect((await kron(["lint", "tab"], cwd)).out).toContain("tab:1:3: error: hour field: 25 is out of range");
    expect((await kron(["lint", "notes.txt"], cwd)).out).toContain("is not a configuration file");
  });

  test("next: the line stands beside the identity, and names the job as well", async () => {
    const cwd = place();
    const { out } = await kron(["next", "--crontab", "tab", "--at", AT], cwd);
    expect(out).toMatch(/crontab:tab:[0-9a-f]{12} {2}crontab:tab:2 \/opt\/jobs\/night-1 --quiet/);
    const one = await kron(
      ["next", "crontab:tab:3", "--crontab", "tab", "--at", AT, "-o", "jsonl", "--count", "1"],
      cwd,
    );
    expect(JSON.parse(one.out)).toMatchObject({ chosen_time: "2026-11-20T00:00:00Z" });
  });

  test("explain, forecast, simulate", async () => {
    const cwd = place("crontab");
    const explained = await kron(["explain", "crontab:crontab:2", "--crontab", "crontab", "--at", AT], cwd);
    expect(explained.out).toContain("Chosen: 2026-11-19T00:00:00Z");
    const forecast = await kron(["forecast", "crontab", "--at", AT, "-o", "json"], cwd);
    expect(JSON.parse(forecast.out)).toMatchObject({ jobs: 8 });
    const simulated = await kron(
      ["simulate", "crontab", "--from", AT, "--horizon", "24h", "--expect", "executed=8"],
      cwd,
    );
    expect([simulated.exitCode, simulated.err]).toEqual([0, ""]);
  });

  test("standard input: a crontab, YAML, the line format, JSON Lines", async () => {
    const cwd = newDirectory();
    const yaml = 'jobs: [{ identity: a, schedule: "@daily", command: ["true"] }]\n';
    const inputs = [
      TABLE,
      yaml,
      '@daily name=a command="true"\n',
      '{"identity":"a","schedule":"@daily","command":["true"]}\n',
    ];
    const counts: unknown[] = [];
    for (const input of inputs) {
      const { out } = await kron(["forecast", "-", "--at", AT, "-o", "json"], cwd, input);
      counts.push(JSON.parse(out).jobs);
    }
    expect(counts).toEqual([8, 1, 1, 1]);
  });
});

describe("import, then tune: an imported crontab is flattened out of the box", () => {
  const PEAK = /peak 8 at .* becomes (\d+)/;

  test("by a pipe; the deadline goes along with the window", async () => {
    const cwd = place();
    const imported = await kron(["import", "crontab", "tab"], cwd);
    const tuned = await kron(["tune", "-", "--at", AT], cwd, imported.out);
    expect(tuned.err).toBe("");
    expect(Number(PEAK.exec(tuned.out)?.[1])).toBeLessThanOrEqual(3);
    const { out: diff } = await kron(["tune", "-", "--at", AT, "-o", "diff"], cwd, imported.out);
    const [, duration] = /\+ +window: \{ mode: after, duration: (\w+) \}/.exec(diff) ?? [];
    expect([duration, diff]).toEqual([expect.stringMatching(/m$/), expect.not.stringContaining("deadline")]);
    expect(imported.out).toContain("deadline: window");
  });

  test("the crontab itself: as the YAML that an import prints; it cannot be written", async () => {
    const cwd = place();
    const tuned = await kron(["tune", "--crontab", "tab", "--at", AT], cwd);
    expect(Number(PEAK.exec(tuned.out)?.[1])).toBeLessThanOrEqual(3);
    const refused = await kron(["tune", "tab", "--write", "--at", AT], cwd);
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining("--write: tab cannot be written")]);
    expect(fs.readFileSync(path.join(cwd, "tab"), "utf8")).toBe(TABLE);
  });

  test.each([
    [
      "YAML",
      "jobs.yaml",
      (i: number) =>
        `${i === 0 ? "jobs:\n" : ""}  - identity: j${i}\n    schedule: "0 0 * * *"\n    policy:\n      concurrency: forbid\n      deadline: window\n    command: [a]\n`,
    ],
    [
      "YAML in braces",
      "jobs.yaml",
      (i: number) =>
        `${i === 0 ? "defaults: { policy: { deadline: window } }\njobs:\n" : ""}  - { identity: j${i}, schedule: "0 0 * * *", policy: { concurrency: forbid }, command: [a] }\n`,
    ],
    [
      "line format",
      "jobs.kron",
      (i: number) => `0 0 * * * @policy(concurrency=forbid,deadline=window) name=j${i} command="a"\n`,
    ],
    [
      "JSON Lines",
      "jobs.jsonl",
      (i: number) => `{"identity":"j${i}","schedule":"0 0 * * *","policy":{"deadline":"window"},"command":["a"]}\n`,
    ],
  ])("written in place, %s: nothing but the window changes", async (_, name, lineOf) => {
    const cwd = newDirectory();
    fs.writeFileSync(path.join(cwd, name), Array.from({ length: 8 }, (__, i) => lineOf(i)).join(""));
    const { exitCode, err } = await kron(["tune", name, "--write", "--at", AT], cwd);
    expect([exitCode, err]).toEqual([0, ""]);
    const { out } = await kron(["next", "--config", name, "--at", AT, "-o", "jsonl", "--count", "8"], cwd);
    const windows = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).window_duration);
    expect(windows.filter((window) => window !== "0s").length).toBeGreaterThan(4);
    expect(fs.readFileSync(path.join(cwd, name), "utf8")).toMatch(/deadline\W+window/);
  });
});

test.each([
  ["# nothing\n\n", "yaml"],
  ["MAILTO=a\nPATH=/bin\n", "crontab"],
  ["@reboot /opt/start\n", "crontab"],
  ["*/5 * * * * root run\n", "crontab"],
  ["jobs:\n  - identity: a\n", "yaml"],
  ['# c\n{"identity":"a"}\n', "jsonl"],
  ['0 0 * * * @win(after,1h) name=a command="x"\n', "kron"],
  ["0 0 * * * env name=a sh -c command\n", "crontab"],
  ["some words\n", "yaml"],
])("what a text is without a name: %j is %s", (text, format) => {
  expect(formatOfText(text)).toBe(format);
});
