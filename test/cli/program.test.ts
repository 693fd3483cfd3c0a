import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { KROND } from "../../src/cli/commands/krond/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();
const JOBS = ["--config", "test/cli/files/jobs.yaml"];

describe("what was probably meant", () => {
  test.each([
    ["lst", "did you mean 'kron list'?"],
    ["lits", "did you mean 'kron list'?"],
    ["nxt", "did you mean 'kron next'?"],
    ["histroy", "did you mean 'kron history'?"],
    ["version", "did you mean 'kron --version'?"],
    ["hlep", "did you mean 'kron help'?"],
    ["doctor", "did you mean 'krond doctor'?"],
    ["key", "did you mean 'kron keys'?"],
    ["frobnicate", "see 'kron --help'"],
  ])("the command %s: %s", async (verb, hint) => {
    const { exitCode, out, err } = await runCaptured(KRON, [verb]);
    expect([exitCode, out, err]).toEqual([1, "", `kron: unknown command "${verb}"\n  ${hint}\n`]);
  });

  test.each([
    [["next", "--cofnig", "x"], 'kron: unknown option "--cofnig"\n  did you mean --config?\n'],
    [["--cofnig", "x", "list"], 'kron: unknown option "--cofnig"\n  did you mean --config?\n'],
    [["import", "systmd", "x"], "kron: cannot import from \"systmd\"\n  did you mean 'kron import systemd'?\n"],
    [["list", "--stnading=paused"], 'kron: unknown option "--stnading"\n  did you mean --standing?\n'],
    [["list", "--frobnicate"], 'kron: unknown option "--frobnicate"\n  --help lists them\n'],
    [["list", "--sort", "nxet"], "kron: --sort: it is one of name, next, last, duration, lateness, failures\n"],
    [["list", "--due=soon"], "kron: --due: not a duration\n  --due, or --due 1h\n"],
  ])("%j", async (argv, message) => {
    const state = temporary();
    const { exitCode, err } = await runCaptured(KRON, argv, { env: { KRON_STATE: state } });
    expect([exitCode, err]).toEqual([1, message]);
  });
});

describe("values of options", () => {
  test.each([
    [["next", "-n", "-1", ...JOBS], 'kron: --count: "-1" is not a whole number from 1 to 1000000\n'],
    [["next", "--count", "-1", ...JOBS], 'kron: --count: "-1" is not a whole number from 1 to 1000000\n'],
    [["next", ...JOBS, "-n"], "kron: -n needs a value: N\n"],
    [["next", "--at", ...JOBS], "kron: --at needs a value: WHEN\n"],
  ])("%j", async (argv, message) => {
    const { exitCode, err } = await runCaptured(KRON, argv);
    expect([exitCode, err.startsWith(message)]).toEqual([1, true]);
  });

  test("a time that has passed is a value", async () => {
    const { exitCode, out } = await runCaptured(KRON, [
      "next",
      "prod/db-backup",
      ...JOBS,
      "--at",
      "-2h",
      "-o",
      "jsonl",
    ]);
    expect([exitCode, out === ""]).toEqual([0, false]);
  });

  test("a moment is read where the viewer is, or where --tz says, and told", async () => {
    const argv = ["next", "prod/db-backup", ...JOBS, "-n", "1", "--at", "tomorrow 09:00"];
    const there = await runCaptured(KRON, [...argv, "--tz", "Europe/Berlin"]);
    expect(there.err).toBe("--at tomorrow 09:00 is 2026-03-01T08:00:00Z (2026-03-01 09:00:00 +01:00 Europe/Berlin)\n");
    expect(there.out).toBe((await runCaptured(KRON, [...argv.slice(0, -1), "2026-03-01T08:00:00Z"])).out);
    const nowhere = await runCaptured(KRON, [...argv, "--tz", "Europe/Berlim"]);
    expect([nowhere.exitCode, nowhere.err]).toEqual([1, expect.stringContaining("kron: --tz: ")]);
  });
});

describe("options before the verb", () => {
  test.each([
    [["--no-color", "next", "prod/db-backup", ...JOBS]],
    [[...JOBS, "next", "prod/db-backup"]],
    [["-c", "test/cli/files/jobs.yaml", "next", "prod/db-backup"]],
    [["--config=test/cli/files/jobs.yaml", "next", "prod/db-backup"]],
  ])("%j", async (argv) => {
    const usual = await runCaptured(KRON, ["next", "prod/db-backup", ...JOBS]);
    expect(await runCaptured(KRON, argv)).toEqual(usual);
    expect(usual.exitCode).toBe(0);
  });

  test("one that the verb does not know is refused", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["-s", "x", "explain"]);
    expect([exitCode, err]).toEqual([1, expect.stringContaining("-s")]);
  });

  test("of a command with verbs --help is short, and that of a verb has its own options alone", async () => {
    const whole = (await runCaptured(KRON, ["endpoint", "--help"])).out;
    expect(whole).toMatch(/^Usage: kron endpoint COMMAND \[OPTIONS\]\n/);
    expect([whole.includes("  apply FILE "), whole.includes("--tenant"), whole.includes("--if-match")]).toEqual([
      true,
      true,
      false,
    ]);
    const one = (await runCaptured(KRON, ["endpoint", "pause", "--help"])).out;
    expect(one).toMatch(/^Usage: kron endpoint pause ENDPOINT\.\.\. \[OPTIONS\]\n\nStarts nothing until --until\.\n/);
    expect([one.includes("--until"), one.includes("--tenant"), one.includes("--if-match")]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await runCaptured(KRON, ["job", "list", "-h"])).out).toMatch(/^Usage: kron job list \[OPTIONS\]\n/);
    expect((await runCaptured(KRON, ["endpoint", "constructor", "--help"])).out).toBe(whole);
  });

  test("--help with a verb is that verb's, and --version needs none", async () => {
    expect((await runCaptured(KRON, ["--help", "list"])).out).toMatch(/^Usage: kron list /);
    expect((await runCaptured(KRON, ["-h"])).out).toContain("Commands:");
    expect((await runCaptured(KROND, ["--no-color", "--version"])).out).toMatch(/^krond \d/);
  });
});
