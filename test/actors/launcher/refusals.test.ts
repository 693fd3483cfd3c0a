/** S24: what cannot become a process is refused before anything is claimed, for a reason that has a name. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import type { ErrorCode } from "../../../src/core/base/errors/registry.js";
import { isRoot, newAttemptId, ROOT_ONLY, sharedLauncher, shellRequest } from "../../support/launcher.js";
import { temporaryDirectories } from "../../support/temporary.js";

const shared = sharedLauncher();
const temporary = temporaryDirectories();

function command(...argv: string[]): Partial<ProcessArm> {
  return { command: { kind: "argv", argv } };
}

/** With variables beside the attempt's own. */
function variables(given: Record<string, string>): Partial<ProcessArm> {
  const attemptId = newAttemptId();
  return { attemptId, env: { KRON_ATTEMPT_ID: attemptId, PATH: "/usr/bin:/bin", ...given } };
}

function fileOutput(directory: string, name = "out"): ProcessArm["output"] {
  return { to: "file", directory, name, maxBytes: 1e6, keep: 1, onExcess: "drop-middle", killGraceMs: 0 };
}

describe("S24: refused before READY", () => {
  test.each<[name: string, more: Partial<ProcessArm>, code: ErrorCode]>([
    ["a command that does not exist", command("/nonexistent/command"), "command-not-found"],
    ["a command in no directory of PATH", command("kron-no-such-command"), "command-not-found"],
    ["a command without PATH", { ...command("kron-no-such-command"), ...variables({ PATH: "" }) }, "command-not-found"],
    ["a builtin of the shell", command("shift"), "command-not-found"],
    ["a keyword of the shell", command("while"), "command-not-found"],
    ["an option in its place", command("-c", "id"), "command-not-found"],
    ["no command", command(), "command-not-found"],
    ["an empty command", command(""), "command-not-found"],
    ["a directory", command("/usr/bin"), "command-not-found"],
    ["a file that is not executable", command("/etc/passwd"), "command-not-executable"],
    [
      "a file in PATH that is not executable",
      { ...command("passwd"), ...variables({ PATH: "/etc" }) },
      "command-not-executable",
    ],
    ["a NUL in an argument", command("/bin/echo", "a\0b"), "field-range"],
    ["an argument of more than 128 KiB", command("/bin/echo", "x".repeat(131_072)), "command-too-long"],
    ["a directory that does not exist", { cwd: "/nonexistent" }, "cwd-unusable"],
    ["a directory that is a file", { cwd: "/etc/passwd" }, "cwd-unusable"],
    ["a relative directory", { cwd: "tmp" }, "cwd-unusable"],
    ["the previous directory", { cwd: "-" }, "cwd-unusable"],
    ["a NUL in the directory", { cwd: "/tmp\0" }, "cwd-unusable"],
    ["an unknown user", { user: "kron-nobody" }, "user-unknown"],
    ["a user that is an option", { user: "-u" }, "user-unknown"],
    ["a user number beyond all", { user: "4294967295" }, "user-unknown"],
    ["an empty user", { user: "" }, "user-unknown"],
    ["an unknown group", { user: String(process.geteuid?.()), group: "kron-nogroup" }, "user-unknown"],
    ["a number of no database without a group", { user: "54321" }, "user-unknown"],
    ["a variable without a proper name", variables({ "A-B": "1" }), "field-range"],
    ["a variable with no name", variables({ "": "1" }), "field-range"],
    ["a variable of the gate", variables({ KRON_GATE_L: "1" }), "field-range"],
    ["a NUL in a variable", variables({ A: "a\0b" }), "field-range"],
    ["too large an environment", variables({ A: "x".repeat(131_072) }), "command-too-long"],
    ["output into a directory that cannot be", { output: fileOutput("/proc/kron") }, "output-unusable"],
    ["output below a file", { output: fileOutput("/etc/passwd") }, "output-unusable"],
  ])("%s", async (_, more, code) => {
    const launcher = shared();
    const answer = await launcher.port.arm(shellRequest("exit", more));
    expect(answer.ok ? "armed" : answer.error.code).toBe(code);
    expect(answer.ok ? "" : answer.error.message).not.toBe("");
  });

  test.runIf(isRoot).each<[name: string, more: Partial<ProcessArm>, code: ErrorCode]>([
    ["a directory that the user may not enter", { user: "nobody", cwd: "/root" }, "cwd-unusable"],
    ["a command that the user may not reach", { user: "nobody", ...command("/root/command") }, "command-not-found"],
  ])(`judged as the job's user: %s${ROOT_ONLY}`, async (_, more, code) => {
    const launcher = shared();
    const answer = await launcher.port.arm(shellRequest("exit", more));
    expect(answer.ok ? "armed" : answer.error.code).toBe(code);
  });

  test("a command that the shell would take for an option of its own", async () => {
    const directory = temporary();
    fs.writeFileSync(path.join(directory, "-c"), "#!/bin/sh\n", { mode: 0o755 });
    const answer = await shared().port.arm(shellRequest("", { ...command("-c"), ...variables({ PATH: directory }) }));
    expect(answer).toMatchObject({ ok: false, error: { code: "command-not-found" } });
  });

  test("an output file that exists already is refused and left as it is", async () => {
    const launcher = shared();
    const directory = temporary();
    fs.writeFileSync(path.join(directory, "out"), "of another run");
    const answer = await launcher.port.arm(shellRequest("exit", { output: fileOutput(directory) }));
    expect(answer).toMatchObject({ ok: false, error: { code: "output-unusable" } });
    expect(fs.readFileSync(path.join(directory, "out"), "utf8")).toBe("of another run");
  });

  test("an output file that is a link is refused and its target left as it is", async () => {
    const launcher = shared();
    const directory = temporary();
    fs.symlinkSync(path.join(directory, "target"), path.join(directory, "out"));
    const answer = await launcher.port.arm(shellRequest("exit", { output: fileOutput(directory) }));
    expect(answer).toMatchObject({ ok: false, error: { code: "output-unusable" } });
    expect(fs.existsSync(path.join(directory, "target"))).toBe(false);
  });

  test("what is refused leaves no output file behind", async () => {
    const launcher = shared();
    const directory = temporary();
    await launcher.port.arm(shellRequest("exit", { ...command("/nonexistent"), output: fileOutput(directory) }));
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test.each<[name: string, more: Partial<ProcessArm>]>([
    ["that does not carry its id", { env: {} }],
    ["whose id is no name", { attemptId: "../x", env: { KRON_ATTEMPT_ID: "../x" } }],
  ])("an attempt %s is nobody's input: it breaks", async (_, more) => {
    const launcher = shared();
    await expect(launcher.port.arm(shellRequest("exit", more))).rejects.toThrow("invariant broken");
  });
});

describe("S24: exec failing after GO is executed", () => {
  function script(content: string, mode: number): string {
    const file = path.join(temporary(), "script");
    fs.writeFileSync(file, content, { mode });
    return file;
  }

  test.each<[name: string, content: string, code: number, cause: "exec-failed" | null]>([
    ["an interpreter that does not exist", "#!/nonexistent/interpreter\n", 127, "exec-failed"],
    ["a binary of no known format", "\x7fELF and nothing more", 126, "exec-failed"],
    ["a script without a first line is run by sh", "exit 5\n", 5, null],
    ["a command that ends with 127 by itself", "#!/bin/sh\nexit 127\n", 127, null],
  ])("%s", async (_, content, code, cause) => {
    const launcher = shared();
    const armed = await launcher.run(shellRequest("", command(script(content, 0o755))));
    expect(await launcher.exitOf(armed)).toMatchObject({
      ending: { kind: "exited", code, signal: null, reason: cause },
    });
  });

  test("a command that disappears between READY and GO", async () => {
    const launcher = shared();
    const file = script("#!/bin/sh\nexit 0\n", 0o755);
    const armed = await launcher.ready(shellRequest("", command(file)));
    fs.rmSync(file);
    expect(await launcher.port.go(armed, Date.now() + 60_000)).toBe("started");
    expect(await launcher.exitOf(armed)).toMatchObject({ ending: { code: 127, reason: "exec-failed" } });
  });
});
