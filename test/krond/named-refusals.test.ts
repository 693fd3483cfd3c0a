import { describe, expect, test } from "vitest";
import type { Command } from "../../src/actors/launcher/port.js";
import { namedRefusal } from "../../src/actors/supervisor/run/named-refusal.js";
import type { ErrorCode } from "../../src/core/base/errors/registry.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const CANARY = "canary-5up3r";
const argv = (...words: string[]): Command => ({ kind: "argv", argv: words });
const HIDDEN = "was refused: its name is not shown, for it holds more than a name; arguments are elements of their own";

describe("S24: a refused command is named, and nothing but its name is shown", () => {
  test.each<[title: string, code: ErrorCode, command: Command, message: string]>([
    ["a path", "command-not-found", argv("/no/such", "--key", CANARY), "was refused: /no/such"],
    ["a bare name", "command-not-found", argv("backup", CANARY), "was refused: backup"],
    ["not executable", "command-not-executable", argv("/etc/passwd"), "was refused: /etc/passwd"],
    ["too long: what is too long is no name", "command-too-long", argv("/bin/echo", CANARY), "was refused"],
    [
      "letters of any script",
      "command-not-found",
      argv("/opt/Sicherung-für-Ünal"),
      "was refused: /opt/Sicherung-für-Ünal",
    ],
    ["a shell's text is never shown", "command-not-found", { kind: "shell", text: CANARY }, "was refused: /bin/sh"],
    ["a whole line in the place of a name", "command-not-found", argv(`backup --key ${CANARY}`), HIDDEN],
    ["a variable in the place of a name", "command-not-found", argv(`PASSWORD=${CANARY}`), HIDDEN],
    ["what a terminal would obey", "command-not-found", argv("\u001b[2J"), HIDDEN],
    ["longer than any name", "command-not-found", argv("x".repeat(257)), HIDDEN],
    ["no command at all", "command-not-found", argv(), "was refused"],
    ["trouble with something else", "cwd-unusable", argv("/bin/true"), "was refused"],
  ])("%s", (_title, code, command, message) => {
    expect(namedRefusal({ code, message: "was refused" }, command)).toEqual({ code, message });
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

function refusing(identity: string, command: string): string {
  return `  - { identity: ${identity}, schedule: "${NEVER}", command: ${command}, env: { SOME: ${CANARY} } }\n`;
}

describe("kron run", () => {
  test("S24: of a command that is not there names the command, in its answer and in the log, and no argument", async () => {
    const jobs = [
      refusing("t/path", `[/no/such/backup, "--key=${CANARY}"]`),
      refusing("t/name", `[no-such-backup, ${CANARY}]`),
      refusing("t/denied", `[/etc/passwd, ${CANARY}]`),
      refusing("t/line", `["backup --key ${CANARY}"]`),
    ];
    const here = place(jobs.join(""));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const answers = ["path", "name", "denied", "line"].map((name) => here.kron("run", `t/${name}`));
    expect(answers.map(({ status, err }) => [status, err.trim()])).toEqual([
      [1, "kron: the command was not found: /no/such/backup"],
      [1, "kron: the command was not found: no-such-backup"],
      [1, "kron: the command may not be executed by the job's user: /etc/passwd"],
      [1, expect.stringContaining("the command was not found: its name is not shown")],
    ]);
    const told = await krond.event("error", { identity: "t/path" });
    expect(told).toMatchObject({
      error_code: "command-not-found",
      message: "the command was not found: /no/such/backup",
    });
    await krond.event("error", { identity: "t/line" });
    expect(JSON.stringify([answers, krond.lines]) + krond.stderr).not.toContain(CANARY);
  });
});
