/** Launchers die, hang and are replaced: nothing that ran is lost, nothing runs twice (R15). */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { isStillGated } from "../../../src/actors/launcher/child/gate.js";
import { EXIT_UNSEEN } from "../../../src/core/state/ending.js";
import { eventually, isAlive, shellRequest, type TestLauncher, testLaunchers } from "../../support/launcher.js";
import { temporaryDirectories } from "../../support/temporary.js";

const start = testLaunchers();
const temporary = temporaryDirectories();

async function signalAll(launcher: TestLauncher, signal: NodeJS.Signals): Promise<readonly number[]> {
  const pids = await launcher.processes();
  for (const pid of pids) process.kill(pid, signal);
  return pids;
}

async function deathKnown(launcher: TestLauncher): Promise<void> {
  const isDeath = (event: { kind: string }) => event.kind === "trouble";
  await eventually(() => launcher.events.some(isDeath), "the death is known");
}

describe("SIGKILL of the launcher", () => {
  test("S29: what runs goes on; its end is seen, its exit code is not", async () => {
    const launcher = await start();
    const armed = await launcher.run(shellRequest("exec sleep 1000"));
    await signalAll(launcher, "SIGKILL");
    await deathKnown(launcher);
    expect(isAlive(armed.holder.pid)).toBe(true);
    process.kill(armed.holder.pid, "SIGTERM");
    expect(await launcher.exitOf(armed)).toMatchObject({ ending: EXIT_UNSEEN });
  });

  test("a new one takes over: the next run is as good as any, and the trouble has a name", async () => {
    const launcher = await start();
    const before = await signalAll(launcher, "SIGKILL");
    await deathKnown(launcher);
    expect(launcher.events).toMatchObject([{ kind: "trouble", code: "launcher-died" }]);
    expect(await launcher.exitOf(await launcher.run(shellRequest("exit 3")))).toMatchObject({ ending: { code: 3 } });
    expect(await launcher.processes()).not.toEqual(before);
  });

  test("S24: requests under way are refused as a trouble of ours, to be tried again", async () => {
    const launcher = await start();
    const pids = await launcher.processes();
    const answers = Array.from({ length: 300 }, () => launcher.port.arm(shellRequest("exit")));
    await answers[0];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    const codes = new Set((await Promise.all(answers)).map((answer) => (answer.ok ? "armed" : answer.error.code)));
    expect([...codes].filter((code) => !["armed", "launcher-died", "launcher-unavailable"].includes(code))).toEqual([]);
    expect(codes.size).toBeGreaterThan(1);
  });

  test("S28: a termination under way is finished by the next", async () => {
    const launcher = await start();
    const file = path.join(temporary(), "ready");
    const armed = await launcher.run(shellRequest(`trap '' TERM; echo >${file}; while :; do sleep 0.05; done`));
    await eventually(() => fs.existsSync(file), "the trap is set");
    const ended = launcher.port.terminate(armed.attemptId, 500);
    await signalAll(launcher, "SIGKILL");
    expect(await ended).toEqual({ survivors: [], wasKilled: true });
    expect(isAlive(armed.holder.pid)).toBe(false);
  });

  test("S23: GO that was on its way is settled by looking: either it ran and is watched, or it never will", async () => {
    const launcher = await start();
    const file = path.join(temporary(), "witness");
    const requests = Array.from({ length: 60 }, () => shellRequest(`echo $KRON_ATTEMPT_ID >>${file}; exec sleep 1000`));
    const armed = await Promise.all(requests.map(launcher.ready));
    const pids = await launcher.processes();
    const outcomes = armed.map((each) => launcher.port.go(each, Date.now() + 60_000));
    await outcomes[0];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    const settled = await Promise.all(outcomes);
    const started = armed.filter((_, i) => settled[i] === "started");
    await eventually(() => started.every(({ holder: { pid } }) => !isStillGated(pid)), "all commands have begun");
    const alive = armed.filter(({ holder: { pid } }) => isAlive(pid));
    expect(alive).toEqual(started);
    await eventually(() => linesOf(file).length === started.length, "each ran");
    expect(new Set(linesOf(file))).toEqual(new Set(started.map((each) => each.attemptId)));
    expect(new Set(settled).has("late")).toBe(false);
  });
});

function linesOf(file: string): readonly string[] {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

describe("a launcher that does not answer", () => {
  test("is killed after a while of silence, and what was asked is answered", async () => {
    const launcher = await start({ silenceMs: 50 });
    const armed = await launcher.ready(shellRequest("exit"));
    const before = await signalAll(launcher, "SIGSTOP");
    expect(["gone", "unconfirmed"]).toContain(await launcher.port.go(armed, Date.now() + 60_000));
    expect(before.filter(isAlive)).toEqual([]);
    expect(await launcher.exitOf(await launcher.run(shellRequest("exit 3")))).toMatchObject({ ending: { code: 3 } });
  });

  test("is left alone as long as nothing is asked of it", async () => {
    const launcher = await start({ silenceMs: 5 });
    const stopped = await signalAll(launcher, "SIGSTOP");
    let looks = 0;
    await eventually(() => ++looks > 20, "several looks have passed");
    expect([stopped.filter(isAlive), launcher.events]).toEqual([stopped, []]);
    await signalAll(launcher, "SIGCONT");
  });

  test("a stop of launcher and daemon that ends is forgiven", async () => {
    const launcher = await start();
    const armed = await launcher.ready(shellRequest("exit 3"));
    await signalAll(launcher, "SIGSTOP");
    const outcome = launcher.port.go(armed, Date.now() + 60_000);
    await signalAll(launcher, "SIGCONT");
    expect(await outcome).toBe("started");
    expect(launcher.events.filter((event) => event.kind === "trouble")).toEqual([]);
  });
});

describe("a launcher that cannot be started", () => {
  test.each<[name: string, text: string]>([
    ["one that ends at once", "process.exit(7);"],
    [
      "one that speaks another version",
      'import net from "node:net"; new net.Socket({ fd: 3 }).write(\'{"t":"hello","version":0}\\n\');',
    ],
    ["one that speaks no protocol at all", 'import net from "node:net"; new net.Socket({ fd: 3 }).write("hello\\n");'],
  ])("is an error with a name: %s", async (_, text) => {
    const entry = path.join(temporary(), "entry.mjs");
    fs.writeFileSync(entry, text);
    await expect(start({ entry })).rejects.toMatchObject({ name: "KronError", code: "launcher-unavailable" });
  });
});

describe("several launchers", () => {
  test("share the work, and the death of one does not touch the gates of the others", async () => {
    const launcher = await start({ count: 3 });
    const armed = await Promise.all(Array.from({ length: 60 }, () => launcher.ready(shellRequest("exit 3"))));
    const [victim = 0, ...others] = await launcher.processes();
    expect(others).toHaveLength(2);
    process.kill(victim, "SIGKILL");
    await deathKnown(launcher);
    const left = armed.filter(({ holder: { pid } }) => isAlive(pid));
    expect(left.length).toBeGreaterThan(10);
    expect(left.length).toBeLessThan(60);
    const outcomes = await Promise.all(left.map((each) => launcher.port.go(each, Date.now() + 60_000)));
    expect(new Set(outcomes)).toEqual(new Set(["started"]));
  });
});

describe("SystemError: resources run out", () => {
  test("EMFILE: refused by name, and possible again when gates are gone", async () => {
    const launcher = await start();
    const [pid] = await launcher.processes();
    expect(spawnSync("prlimit", ["--nofile=64:64", "--pid", String(pid)]).status).toBe(0);
    const request = () => shellRequest("exit 3", { openFiles: 32 });
    const answers = await Promise.all(Array.from({ length: 80 }, () => launcher.port.arm(request())));
    const codes = new Set(answers.flatMap((answer) => (answer.ok ? [] : [answer.error.code])));
    expect([...codes]).toEqual(["descriptors-exhausted"]);
    const armed = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
    expect(armed.length).toBeGreaterThan(10);
    await Promise.all(armed.map((each) => launcher.port.abort(each)));
    expect(await launcher.exitOf(await launcher.run(request()))).toMatchObject({ ending: { code: 3 } });
  });
});
