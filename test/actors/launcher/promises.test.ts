/** What a job is promised to see: exactly that, and nothing else (R11). */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import { bundleEntry } from "../../support/bundle.js";
import {
  eventually,
  isAlive,
  isRoot,
  launcherEntry,
  newAttemptId,
  ROOT_ONLY,
  sharedLauncher,
  shellRequest,
  testLaunchers,
} from "../../support/launcher.js";
import { temporaryDirectories } from "../../support/temporary.js";

const start = testLaunchers();
const shared = sharedLauncher();
const temporary = temporaryDirectories();

/** Runs and returns what it wrote. */
async function outputOf(request: ProcessArm): Promise<string> {
  const launcher = shared();
  const directory = temporary();
  const output = {
    to: "file",
    directory,
    name: "out",
    maxBytes: 1e6,
    keep: 1,
    onExcess: "drop-middle",
    killGraceMs: 0,
  } as const;
  const armed = await launcher.run({ ...request, output });
  await launcher.exitOf(armed);
  return fs.readFileSync(path.join(directory, "out"), "utf8");
}

function environmentOf(text: string): Record<string, string> {
  const entries = text.split("\0").filter((entry) => entry !== "");
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

const PRINT_ENVIRONMENT = { kind: "argv", argv: ["/bin/cat", "/proc/self/environ"] } as const;

describe("S34 and the environment: it starts empty", () => {
  test.each<[name: string, env: Record<string, string>]>([
    ["nothing but the attempt", {}],
    ["blanks, quotes, substitutions", { A: "  a  'b' \"c\" $(id) `id` \\ ", B: "$A", C: "~", D: "*" }],
    ["newlines anywhere", { A: "\n", B: "\n\nb\n\n", C: "c\n", D: "=d\n=e\n+f\n." }],
    ["an empty value", { A: "" }],
    [
      "names that shells care for",
      { IFS: "x", PWD: "/weird", OLDPWD: "/o", ENV: "/nonexistent", CDPATH: "/", PS4: "$(id)", HOME: "/h" },
    ],
    ["what would change how programs load", { LD_LIBRARY_PATH: "/nonexistent", GLIBC_TUNABLES: "x=1" }],
    ["every character", { A: Array.from({ length: 0x2fff }, (_, i) => String.fromCodePoint(i + 1)).join("") }],
    ["much", { A: "x".repeat(100_000) }],
  ])("a job gets exactly what was given: %s", async (_, given) => {
    const attemptId = newAttemptId();
    const env = { KRON_ATTEMPT_ID: attemptId, ...given };
    expect(environmentOf(await outputOf(shellRequest("", { attemptId, env, command: PRINT_ENVIRONMENT })))).toEqual(
      env,
    );
  });

  test.runIf(isRoot)(`the same as another user${ROOT_ONLY}`, async () => {
    const attemptId = newAttemptId();
    const env = { KRON_ATTEMPT_ID: attemptId, A: "a\nb", LD_LIBRARY_PATH: "/nonexistent" };
    const request = shellRequest("", { attemptId, env, user: "nobody", command: PRINT_ENVIRONMENT });
    expect(environmentOf(await outputOf(request))).toEqual(env);
  });

  test("what still waits, and may still be root, has no environment at all: nothing of a job's reaches its loader", async () => {
    const launcher = shared();
    const attemptId = newAttemptId();
    const env = { KRON_ATTEMPT_ID: attemptId, LD_PRELOAD: "/nonexistent.so" };
    const armed = await launcher.ready(shellRequest("exit", { attemptId, env }));
    expect(fs.readFileSync(`/proc/${armed.holder.pid}/environ`, "utf8")).toBe("");
  });

  test("the account's variables are added on request, and give way to those of the job", async () => {
    const attemptId = newAttemptId();
    const env = { KRON_ATTEMPT_ID: attemptId, HOME: "/elsewhere" };
    const seen = environmentOf(
      await outputOf(shellRequest("", { attemptId, env, accountEnv: true, command: PRINT_ENVIRONMENT })),
    );
    expect(Object.keys(seen).sort()).toEqual(["HOME", "KRON_ATTEMPT_ID", "LOGNAME", "SHELL", "USER"]);
    expect([seen["HOME"], seen["SHELL"]]).toEqual(["/elsewhere", "/bin/sh"]);
  });
});

describe("R11: what a job finds itself in", () => {
  test.each<[name: string, text: string, more: Partial<ProcessArm>, seen: string]>([
    ["its umask", "umask", { umask: 0o077 }, "0077"],
    ["the usual umask when none is given", "umask", {}, "0022"],
    ["its directory", "pwd -P", { cwd: "/usr/bin" }, "/usr/bin"],
    ["a directory that is written strangely", "pwd -P", { cwd: "/usr//share/../share/" }, "/usr/share"],
    ["its soft limit of open files", "ulimit -Sn", { openFiles: 300 }, "300"],
    [
      "no more open files than the system allows",
      "[ $(ulimit -Sn) = $(ulimit -Hn) ] && echo yes",
      { openFiles: 1e9 },
      "yes",
    ],
    ["nothing to read", "cat; echo end", {}, "end"],
    ["its standard input", "cat", { stdin: "one\ntwo%" }, "one\ntwo%"],
    ["its standard error among its output", "echo here >&2", {}, "here"],
    ["output that can be opened again", "echo a; echo b >>/dev/stderr", {}, "a\nb"],
    [
      "no terminal, its own session",
      "ps -o tty=,sid= -p $$ | { read t s; [ $t = '?' ] && [ $s = $$ ] && echo yes; }",
      {},
      "yes",
    ],
  ])("%s", async (_, text, more, seen) => {
    expect((await outputOf(shellRequest(text, more))).trim()).toBe(seen);
  });

  test.runIf(isRoot).each<[name: string, more: Partial<ProcessArm>, seen: string]>([
    ["its user, with that user's groups", { user: "nobody" }, "65534 65534 65534 65534 65534"],
    ["a user by number", { user: "65534" }, "65534 65534 65534 65534 65534"],
    ["another group", { user: "nobody", group: "daemon" }, "65534 65534 1 1 1"],
    [
      "a user that is in no database, with no groups at all",
      { user: "54321", group: "54322" },
      "54321 54321 54322 54322 54322",
    ],
    ["a group alone", { group: "daemon" }, "0 0 1 1 1 0"],
    ["root, when that is asked for", { user: "root" }, "0 0 0 0 0"],
  ])(`S23: verified before READY: %s${ROOT_ONLY}`, async (_, more, seen) => {
    const ids = await outputOf(shellRequest("echo $(id -ru) $(id -u) $(id -rg) $(id -g) $(id -G)", more));
    expect(new Set(ids.trim().split(" "))).toEqual(new Set(seen.split(" ")));
  });

  test.runIf(isRoot).each<[name: string, user: string, seen: string]>([
    ["the home of its user", "root", "/root\n"],
    ["the root where that does not exist", "nobody", "/\n"],
  ])(`no directory is given: %s${ROOT_ONLY}`, async (_, user, seen) => {
    expect(await outputOf(shellRequest("pwd -P", { user, cwd: null }))).toBe(seen);
  });

  test.runIf(isRoot)(`a dropped process has no capability and cannot come back${ROOT_ONLY}`, async () => {
    const text =
      "grep -E '^Cap(Prm|Eff|Amb)' /proc/self/status | grep -vc 0000000000000000; cat /etc/shadow 2>&1 | tail -c 18";
    expect(await outputOf(shellRequest(text, { user: "nobody" }))).toBe("0\nPermission denied\n");
  });

  test.runIf(isRoot)(`a job of another user can open its own output again${ROOT_ONLY}`, async () => {
    expect(await outputOf(shellRequest("echo a; echo b >>/dev/stdout", { user: "nobody" }))).toBe("a\nb\n");
  });
});

describe("R10: a child that stays behind", () => {
  test.each<[name: string, output: ProcessArm["output"]]>([
    ["nowhere", { to: "discard" }],
    ["into the daemon's output", { to: "inherit" }],
  ])("does not hold back the end of its run, though it holds the descriptors: %s", async (_, output) => {
    const launcher = shared();
    const armed = await launcher.run(shellRequest("sleep 1000 & exit 3", { output }));
    expect(await launcher.exitOf(armed)).toMatchObject({ ending: { code: 3 } });
  });
});

describe("S23: a drop that did not happen is noticed before READY", () => {
  const canPretend = isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;
  test.skipIf(!canPretend).each<[name: string, drop: string, message: RegExp]>([
    ["nothing was dropped", "exec", /its uids are 0/],
    ["the user alone", 'exec "$REAL" --reuid=65534 --clear-groups --', /its gids are 0/],
    ["all but the groups", 'exec "$REAL" --reuid=65534 --regid=65534 --groups=0,65534 --', /its groups are 0 65534/],
    [
      "all but a capability",
      'exec "$REAL" --reuid=65534 --regid=65534 --init-groups --inh-caps=+kill --ambient-caps=+kill --',
      /CapPrm/,
    ],
  ])(`%s${canPretend ? "" : " (skipped: this needs root and mount namespaces)"}`, async (_, drop, message) => {
    const directory = temporary();
    const real = path.join(directory, "real");
    const fake = path.join(directory, "fake");
    fs.copyFileSync("/usr/bin/setpriv", real);
    fs.writeFileSync(
      fake,
      `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\n${drop.replace("$REAL", real)} "$@"\n`,
    );
    for (const file of [real, fake]) fs.chmodSync(file, 0o755);
    const launcher = await start({ entry: entryWith(directory, `mount --bind ${fake} /usr/bin/setpriv`) });
    const answer = await launcher.port.arm(shellRequest("exit", { user: "nobody" }));
    expect(answer.ok ? "armed" : answer.error.code).toBe("privilege-drop-failed");
    expect(answer.ok ? "" : answer.error.message).toMatch(message);
  });

  /** A launcher in a mount namespace of its own, after some preparation there. */
  function entryWith(directory: string, preparation: string): string {
    const entry = path.join(directory, "entry.mjs");
    const command = JSON.stringify(`${preparation} && exec ${process.execPath} ${shared().entry}`);
    fs.writeFileSync(
      entry,
      `import { spawn, spawnSync } from "node:child_process";
       spawn("unshare", ["-m", "sh", "-c", ${command}], { stdio: ["ignore", "inherit", "inherit", 3] });`,
    );
    return entry;
  }
});

/** The descriptors of a process, seen from outside. */
function descriptorsOf(pid: number): readonly number[] {
  return fs
    .readdirSync(`/proc/${pid}/fd`)
    .map(Number)
    .sort((a, b) => a - b);
}

describe("S34: a job sees descriptors 0, 1, 2 and nothing else", () => {
  test("with other gates open, and after the launcher was killed and started again", async () => {
    const launcher = await start();
    const others = await Promise.all(Array.from({ length: 20 }, () => launcher.ready(shellRequest("exit"))));
    const first = await launcher.run(shellRequest("exec sleep 1000"));
    await eventually(() => descriptorsOf(first.holder.pid).join() === "0,1,2", "the command has begun");
    for (const pid of await launcher.processes()) process.kill(pid, "SIGKILL");
    await eventually(() => !others.some(({ holder: { pid } }) => isAlive(pid)), "the gates are closed");
    await eventually(() => launcher.events.length > 0, "the death is known");
    const second = await launcher.run(shellRequest("exec sleep 1000"));
    await eventually(() => descriptorsOf(second.holder.pid).join() === "0,1,2", "the command has begun");
  });

  test("whatever the daemon itself has inherited", async () => {
    const daemonBundle = await bundleEntry("test/support/launcher-daemon.ts");
    const file = path.join(temporary(), "secret");
    // A caller that leaves descriptors open, also above 9, where a shell could not close them.
    const hostile = `exec 4>"${file}" 7</etc/passwd; exec "$0" "$@"`;
    const child = spawn("/bin/bash", ["-c", hostile, process.execPath, daemonBundle.file, await launcherEntry()], {
      stdio: [
        "pipe",
        "pipe",
        "inherit",
        fs.openSync("/dev/null", "r"),
        ...Array.from({ length: 40 }, () => "pipe" as const),
      ],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const line = lineReader(child.stdout);
    await line();
    const ask = async (command: unknown) => {
      child.stdin?.write(`${JSON.stringify(command)}\n`);
      return JSON.parse(await line());
    };
    const [armed] = await ask({ do: "arm", requests: [shellRequest("exec sleep 1000")] });
    await ask({ do: "go", armed, latestAt: Date.now() + 60_000 });
    expect(descriptorsOf(child.pid ?? 0)).toEqual(expect.arrayContaining([4, 7, 43]));
    await eventually(() => descriptorsOf(armed.holder.pid).join() === "0,1,2", "the command has begun");
    daemonBundle.remove();
  });
});

function lineReader(stream: NodeJS.ReadableStream | null): () => Promise<string> {
  let text = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    text += chunk;
  });
  return async () => {
    await eventually(() => text.includes("\n"), "a line");
    const line = text.slice(0, text.indexOf("\n"));
    text = text.slice(line.length + 1);
    return line;
  };
}
