import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/actors/clock.js";
import { environmentBlock, gateArgv, goLine, isStillGated } from "../../../../src/actors/launcher/child/gate.js";
import type { ProcessArm } from "../../../../src/actors/launcher/port.js";
import { readStat } from "../../../../src/actors/process-identity.js";
import type { Armed, RunnerEvent } from "../../../../src/actors/runner/port.js";
import { EXIT_UNSEEN, type ProcessHolder } from "../../../../src/core/state/ending.js";
import { bundleEntry } from "../../../support/bundle.js";
import { childrenOf } from "../../../support/krond.js";
import {
  eventually,
  isAlive,
  launcherEntry,
  newAttemptId,
  sharedLauncher,
  shellRequest,
  type TestLauncher,
  testLaunchers,
} from "../../../support/launcher.js";
import type { DaemonCommand } from "../../../support/launcher-daemon.js";
import { testProcesses } from "../../../support/process.js";
import { temporaryDirectories } from "../../../support/temporary.js";

const start = testLaunchers();
const shared = sharedLauncher();
const temporary = temporaryDirectories();
const spawnDaemon = testProcesses();
let daemonBundle: Awaited<ReturnType<typeof bundleEntry>>;

beforeAll(async () => {
  daemonBundle = await bundleEntry("test/support/launcher-daemon.ts");
});
afterAll(() => {
  daemonBundle.remove();
});

const launcherPids: number[] = [];
// A stopped launcher would never end by itself, and holds the output of its daemon.
afterEach(() => {
  for (const pid of launcherPids.splice(0).filter(isAlive)) process.kill(pid, "SIGKILL");
});

/** Requests that leave a trace when they run, and whether any did. */
function witnessed(count: number): { readonly requests: readonly ProcessArm[]; ran(): number } {
  const file = path.join(temporary(), "witness");
  const requests = Array.from({ length: count }, () => shellRequest(`echo $KRON_ATTEMPT_ID >>${file}`));
  return { requests, ran: () => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n").length : 0) };
}

function eventsOf(launcher: TestLauncher, armed: readonly Armed[]): readonly RunnerEvent[] {
  const ids = new Set(armed.map((each) => each.attemptId));
  return launcher.events.filter((event) => "attemptId" in event && ids.has(event.attemptId));
}

async function allEnded(armed: readonly Armed[]): Promise<void> {
  await eventually(() => !armed.some(({ holder }) => isAlive(holder.pid)), "all gates have ended");
}

/** A daemon of its own process, so that it can be killed. */
async function daemon(): Promise<{
  readonly launcherPid: number;
  killDaemon(): Promise<void>;
  ask(command: DaemonCommand): Promise<unknown>;
}> {
  const it = spawnDaemon(daemonBundle.file, [await launcherEntry()]);
  await it.line();
  const launcherPid = childOf(it.pid);
  launcherPids.push(launcherPid);
  return {
    launcherPid,
    killDaemon: async () => {
      it.child.kill("SIGKILL");
      await eventually(() => !isAlive(it.pid), "the daemon is gone");
    },
    ask: async (command) => {
      it.child.stdin?.write(`${JSON.stringify(command)}\n`);
      return JSON.parse((await it.line()) ?? "null");
    },
  };
}

function childOf(pid: number): number {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return Number(children[0]);
}

function stop(pid: number): void {
  process.kill(pid, "SIGSTOP");
}

describe("S23: the gate", () => {
  test("keeps its PID, its birth and its session when it becomes the command", async () => {
    const launcher = shared();
    const armed = await launcher.ready(shellRequest("exec sleep 1000"));
    expect(isStillGated(armed.holder.pid)).toBe(true);
    expect(await launcher.port.go(armed, Date.now() + 60_000)).toBe("started");
    await eventually(() => !isStillGated(armed.holder.pid), "the command has begun");
    const { pid } = armed.holder;
    const { startTicks } = armed.holder as ProcessHolder;
    expect(readStat(pid)).toMatchObject({ pid, startTicks, processGroup: pid, session: pid });
  });

  test("R2: 200 gates aborted at once: all gone, none ran", async () => {
    const launcher = shared();
    const { requests, ran } = witnessed(200);
    const armed = await Promise.all(requests.map(launcher.ready));
    await Promise.all(armed.map((each) => launcher.port.abort(each)));
    await allEnded(armed);
    expect([ran(), eventsOf(launcher, armed)]).toEqual([0, []]);
  });

  test("of 200 gates exactly those that get GO run, each once", async () => {
    const launcher = await start({ count: 2 });
    const { requests, ran } = witnessed(200);
    const armed = await Promise.all(requests.map(launcher.ready));
    const released = armed.filter((_, i) => i % 2 === 0);
    const outcomes = await Promise.all(released.map((each) => launcher.port.go(each, Date.now() + 60_000)));
    expect(new Set(outcomes)).toEqual(new Set(["started"]));
    await Promise.all(released.map(launcher.exitOf));
    expect([ran(), armed.filter(({ holder }) => isStillGated(holder.pid)).length]).toEqual([100, 100]);
  });

  test("S20: a gate that is stopped until its latest instant has passed exits without running", async () => {
    const launcher = shared();
    const { requests, ran } = witnessed(1);
    const armed = await launcher.ready(requests[0] as ProcessArm);
    stop(armed.holder.pid);
    const latestAt = Math.floor(Date.now() / 1_000) * 1_000;
    const outcome = launcher.port.go(armed, latestAt);
    await eventually(() => Date.now() >= latestAt + 1_020, "the second has passed");
    process.kill(armed.holder.pid, "SIGCONT");
    expect(await outcome).toBe("late");
    expect([ran(), isAlive(armed.holder.pid)]).toEqual([0, false]);
  });

  test("S20: whether a start is in time goes by the daemon's clock, whatever this machine's says", async () => {
    const hourMs = 3_600_000;
    const clock = { ...systemClock, now: () => Date.now() + hourMs };
    const launcher = await start({ clock });
    const { requests, ran } = witnessed(2);
    const [early, late] = await Promise.all(requests.map(launcher.ready));
    const outcomes = [
      await launcher.port.go(late as Armed, Date.now() + hourMs - 2_000),
      await launcher.port.go(early as Armed, clock.now() + 60_000),
    ];
    expect(outcomes).toEqual(["late", "started"]);
    await launcher.exitOf(early as Armed);
    expect(ran()).toBe(1);
  });

  test("S20: a launcher that is stopped on the way of GO does not move the latest instant", async () => {
    const launcher = await start({ count: 1 });
    const { requests, ran } = witnessed(1);
    const armed = await launcher.ready(requests[0] as ProcessArm);
    const [pid = 0] = childrenOf(process.pid).filter((each) => childrenOf(each).includes(armed.holder.pid));
    stop(pid);
    const latestAt = Math.floor(Date.now() / 1_000) * 1_000;
    const outcome = launcher.port.go(armed, latestAt);
    await eventually(() => Date.now() >= latestAt + 1_020, "the second has passed");
    process.kill(pid, "SIGCONT");
    expect([await outcome, ran()]).toEqual(["late", 0]);
  });

  test("a gate that somebody kills is reported lost, and GO finds it gone", async () => {
    const launcher = shared();
    const armed = await launcher.ready(witnessed(1).requests[0] as ProcessArm);
    process.kill(armed.holder.pid, "SIGKILL");
    await eventually(() => eventsOf(launcher, [armed]).length > 0, "the loss is told");
    expect(eventsOf(launcher, [armed])).toEqual([{ kind: "gate-lost", attemptId: armed.attemptId }]);
    expect(await launcher.port.go(armed, Date.now() + 60_000)).toBe("gone");
  });

  test("a gate that somebody kills after GO, before it obeyed, never ran", async () => {
    const launcher = shared();
    const { requests, ran } = witnessed(1);
    const armed = await launcher.ready(requests[0] as ProcessArm);
    stop(armed.holder.pid);
    const outcome = launcher.port.go(armed, Date.now() + 60_000);
    process.kill(armed.holder.pid, "SIGKILL");
    expect(await outcome).toBe("gone");
    expect([ran(), eventsOf(launcher, [armed])]).toEqual([0, []]);
  });
});

describe("S23: nobody is left to say GO", () => {
  test("SIGKILL of the launcher: 200 gates gone, none ran, each reported lost", async () => {
    const launcher = await start();
    const { requests, ran } = witnessed(200);
    const armed = await Promise.all(requests.map(launcher.ready));
    for (const pid of await launcher.processes()) process.kill(pid, "SIGKILL");
    await allEnded(armed);
    await eventually(() => launcher.events.length === 201, "every loss is told");
    expect(ran()).toBe(0);
    const lost = launcher.events.flatMap((event) => (event.kind === "gate-lost" ? [event.attemptId] : []));
    expect(new Set(lost)).toEqual(new Set(armed.map((each) => each.attemptId)));
    expect(await launcher.port.go(armed[0] as Armed, Date.now() + 60_000)).toBe("gone");
  });

  test("SIGKILL of the daemon: launcher and 100 gates gone, none ran", async () => {
    const it = await daemon();
    const { requests, ran } = witnessed(100);
    const armed = (await it.ask({ do: "arm", requests })) as readonly Armed[];
    expect(armed.filter(({ holder }) => isStillGated(holder.pid))).toHaveLength(100);
    await it.killDaemon();
    await allEnded(armed);
    await eventually(() => !isAlive(it.launcherPid), "the launcher has ended");
    expect(ran()).toBe(0);
  });

  test("G3: with the launcher stopped when the daemon dies, gates wait, and end without running when it goes on", async () => {
    const it = await daemon();
    const { requests, ran } = witnessed(20);
    const armed = (await it.ask({ do: "arm", requests })) as readonly Armed[];
    stop(it.launcherPid);
    await it.killDaemon();
    expect(armed.filter(({ holder }) => isStillGated(holder.pid))).toHaveLength(20);
    process.kill(it.launcherPid, "SIGCONT");
    await allEnded(armed);
    expect(ran()).toBe(0);
  });

  test("a gate found by the next daemon is ended, never having run", async () => {
    const it = await daemon();
    const { requests, ran } = witnessed(1);
    const [armed] = (await it.ask({ do: "arm", requests })) as readonly [Armed];
    stop(it.launcherPid);
    await it.killDaemon();
    const launcher = await start();
    // Stopped, so that the end of the launcher cannot be what ends it.
    stop(armed.holder.pid);
    expect(await launcher.port.adopt({ ...armed, output: null })).toBe("never-ran");
    await allEnded([armed]);
    process.kill(it.launcherPid, "SIGKILL");
    expect(ran()).toBe(0);
  });

  test("S29: SIGKILL of the daemon leaves a released run alone, and the next daemon adopts it", async () => {
    const it = await daemon();
    const request = shellRequest("exec sleep 1000");
    const [armed] = (await it.ask({ do: "arm", requests: [request] })) as readonly [Armed];
    expect(await it.ask({ do: "go", armed, latestAt: Date.now() + 60_000 })).toBe("started");
    await it.killDaemon();
    await eventually(() => !isAlive(it.launcherPid), "the launcher has ended");
    expect(isAlive(armed.holder.pid)).toBe(true);
    const launcher = await start();
    expect(await launcher.port.adopt({ ...armed, output: null })).toBe("watching");
    await launcher.port.terminate(armed.attemptId, 20_000);
    expect(await launcher.exitOf(armed)).toMatchObject({ ending: EXIT_UNSEEN });
  });
});

const hasBash = fs.existsSync("/bin/bash");

describe(`the gate's script in another shell${hasBash ? "" : " (skipped: there is no bash)"}`, () => {
  test.skipIf(!hasBash).each<[name: string, line: string, code: number, said: string]>([
    ["GO in time", goLine(Number.MAX_SAFE_INTEGER), 0, "READY\nEXEC\n"],
    ["GO too late", goLine(0), 125, "READY\nLATE\n"],
    ["another word", "NO 9999999999999\n", 125, "READY\n"],
    ["a word that only begins like it", "GO\n", 125, "READY\n"],
    ["no moment at all", "GO \n", 125, "READY\n"],
    ["a moment that is no number", "GO soon\n", 125, "READY\nLATE\n"],
    ["half a word", "GO 99999999", 125, "READY\n"],
    ["nothing", "", 125, "READY\n"],
  ])(`bash as sh: %s${hasBash ? "" : " (skipped: no bash)"}`, async (_, line, code, said) => {
    const env = { KRON_ATTEMPT_ID: "a", A: " b\n\n", IFS: "x" };
    const settings = { umask: null, openFiles: 100, cwd: "/", argv: ["cat", "/proc/self/environ"] };
    const [, ...args] = gateArgv({ shell: "/bin/bash", ...settings });
    const child = spawn("/bin/bash", ["--posix", ...args], { env: {}, stdio: ["ignore", "pipe", "ignore", "pipe"] });
    const pipe = child.stdio[3] as Duplex;
    let heard = "";
    let seen = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      seen += text;
    });
    pipe.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
      if (heard === "READY\n") pipe.end(line);
    });
    pipe.write(environmentBlock(env));
    const [status] = await once(child, "close");
    expect([status, heard]).toEqual([code, said]);
    // bash adds this one whatever is done; dash, which is preferred, adds nothing.
    const given = Object.entries({ ...env, SHLVL: "0" }).map(([name, value]) => `${name}=${value}`);
    expect(seen.split("\0").filter(Boolean).sort()).toEqual(code === 0 ? given.sort() : []);
  });
});

describe("the command's words are arguments and nothing else", () => {
  test.each<[name: string, argument: string]>([
    ["a substitution", "$(touch /tmp/kron-was-here)"],
    ["quotes", `'"\\`],
    ["nothing", ""],
    ["an option", "-n"],
    ["a newline", "a\nb"],
    ["every other character", Array.from({ length: 0x2ff }, (_, i) => String.fromCodePoint(i + 1)).join("")],
  ])("%s arrives as it was written", async (_, argument) => {
    const launcher = shared();
    const file = path.join(temporary(), "seen");
    const attemptId = newAttemptId();
    const argv = ["/bin/sh", "-c", 'printf %s "$1" >"$0"', file, argument];
    const armed = await launcher.run(shellRequest("", { attemptId, command: { kind: "argv", argv } }));
    expect(await launcher.exitOf(armed)).toMatchObject({ ending: { code: 0 } });
    expect(fs.readFileSync(file, "utf8")).toBe(argument);
  });
});
