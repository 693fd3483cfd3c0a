import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { readBootId, readStat } from "../../src/actors/process-identity.js";
import { ProcessScanner } from "../../src/actors/process-scan.js";
import { type TreeTarget, terminateTree } from "../../src/actors/process-tree.js";
import { eventually, isAlive, newAttemptId } from "../support/launcher.js";

const scanner = new ProcessScanner();
const started = new Set<number>();

afterEach(() => {
  for (const pid of started) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Ended by the test, as it should be.
    }
  }
  started.clear();
});

/**
 * A run whose shell prints the PIDs of everything that belongs to its tree, one a line, and then waits. `read` never
 * returns, for nobody writes.
 */
async function tree(
  script: string,
  pids: number,
  env: Record<string, string> = {},
): Promise<{ child: ChildProcess; target: TreeTarget; all: readonly number[] }> {
  const attemptId = newAttemptId();
  const child = spawn("/bin/sh", ["-c", script], {
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin", KRON_ATTEMPT_ID: attemptId, ...env },
  });
  const pid = child.pid ?? 0;
  const all = [pid];
  for await (const line of createInterface({ input: child.stdout })) {
    if (all.length < pids && all.push(Number(line)) === pids) break;
  }
  for (const each of all) started.add(each);
  const stat = readStat(pid);
  const startTicks = typeof stat === "object" ? stat.startTicks : 0;
  return { child, target: { attemptId, pid, startTicks, bootId: readBootId(), cgroup: null }, all };
}

const WAIT = "sleep 1000";
/** A grandchild in a session of its own, its parent gone: a group kill misses it. */
const ESCAPE = `setsid sh -c 'echo $$; exec ${WAIT}' &`;

describe("S28: the whole tree", () => {
  test.each<[name: string, script: string, pids: number]>([
    ["one process", `echo $$; exec ${WAIT}`, 2],
    ["children in the group", `${WAIT} & echo $!; ${WAIT} & echo $!; wait`, 3],
    ["a double-forked grandchild in its own session", `(${ESCAPE}); wait; exec ${WAIT}`, 2],
    [
      "an escapee that lost its environment, but not its parent",
      `env -i setsid sh -c 'echo $$; exec ${WAIT}' & wait; ${WAIT}`,
      2,
    ],
    ["a stopped child", `${WAIT} & echo $!; kill -STOP $!; wait`, 2],
    ["a stopped leader", `${WAIT} & echo $!; kill -STOP $$; wait`, 2],
  ])("TERM alone ends %s", async (_, script, pids) => {
    const { target, all } = await tree(script, pids);
    const end = await terminateTree(target, { graceMs: 20_000, killMs: 5_000 }, scanner);
    expect(end).toEqual({ survivors: [], wasKilled: false });
    await eventually(() => !all.some(isAlive), "the tree is gone");
  });

  test.each<[name: string, script: string, pids: number]>([
    ["one that ignores TERM", `trap '' TERM; echo $$; while :; do ${WAIT}; done`, 2],
    ["one whose children ignore TERM", `sh -c 'trap "" TERM; echo $$; while :; do ${WAIT}; done' & wait; ${WAIT}`, 2],
    [
      "an escapee that ignores TERM",
      `(setsid sh -c 'trap "" TERM; echo $$; while :; do ${WAIT}; done' &); exec ${WAIT}`,
      2,
    ],
    [
      "one that answers TERM with more children",
      `trap '(setsid sleep 1000 &)' TERM; echo $$; while :; do ${WAIT}; done`,
      2,
    ],
  ])("R10: KILL ends %s", async (_, script, pids) => {
    const { target } = await tree(script, pids);
    const end = await terminateTree(target, { graceMs: 50, killMs: 20_000 }, scanner);
    expect(end).toEqual({ survivors: [], wasKilled: true });
    const left = (await scanner.scan()).filter((seen) => seen.attemptId === target.attemptId && seen.state !== "Z");
    expect(left).toEqual([]);
  });

  test("a trap that tidies up is given its grace", async () => {
    const { child, target } = await tree(`trap 'exit 7' TERM; echo $$; while :; do sleep 0.01; done`, 2);
    const exited = once(child, "exit");
    expect(await terminateTree(target, { graceMs: 20_000, killMs: 5_000 }, scanner)).toEqual({
      survivors: [],
      wasKilled: false,
    });
    expect(await exited).toEqual([7, null]);
  });

  test("the descendants are found after the leader has ended", async () => {
    const { child, target, all } = await tree(`(${ESCAPE}); exit 0`, 2);
    await eventually(() => child.exitCode === 0, "the leader has ended");
    const escapee = all[1] ?? 0;
    expect(isAlive(escapee)).toBe(true);
    expect((await terminateTree(target, { graceMs: 20_000, killMs: 5_000 }, scanner)).survivors).toEqual([]);
    await eventually(() => !isAlive(escapee), "the escapee is gone");
  });

  test("S27: a process that merely has the same number is left alone, and so is its group", async () => {
    const { child, target } = await tree(`echo $$; exec ${WAIT}`, 2, { KRON_ATTEMPT_ID: newAttemptId() });
    const stranger: TreeTarget = { ...target, startTicks: target.startTicks - 1 };
    expect(await terminateTree(stranger, { graceMs: 0, killMs: 0 }, scanner)).toEqual({
      survivors: [],
      wasKilled: false,
    });
    expect(isAlive(child.pid ?? 0)).toBe(true);
  });

  test("another run's processes are left alone", async () => {
    const mine = await tree(`echo $$; exec ${WAIT}`, 2);
    const other = await tree(`echo $$; exec ${WAIT}`, 2);
    await terminateTree(mine.target, { graceMs: 20_000, killMs: 5_000 }, scanner);
    expect(isAlive(other.target.pid)).toBe(true);
  });

  const cgroups = "/sys/fs/cgroup/unified";
  const canUseCgroups = fs.existsSync(`${cgroups}/cgroup.procs`) && process.geteuid?.() === 0;
  test.skipIf(!canUseCgroups)(
    `a cgroup also holds one that left group, parent and environment behind${canUseCgroups ? "" : " (skipped: no writable cgroup v2)"}`,
    async () => {
      const directory = fs.mkdtempSync(`${cgroups}/kron-test-`);
      const script = `echo $$ > ${directory}/cgroup.procs; (env -i setsid sh -c 'sleep 1000 & echo $!' &); exec ${WAIT}`;
      const { target, all } = await tree(script, 2);
      const escapee = all[1] ?? 0;
      await terminateTree(target, { graceMs: 20_000, killMs: 5_000 }, scanner);
      expect(isAlive(escapee)).toBe(true);
      const end = await terminateTree({ ...target, cgroup: directory }, { graceMs: 20_000, killMs: 5_000 }, scanner);
      expect(end.survivors).toEqual([]);
      await eventually(() => !isAlive(escapee), "the escapee is gone");
      fs.rmdirSync(directory);
    },
  );
});

describe("ProcessScanner", () => {
  test("looks once for everybody who asks at the same time, and again for those who ask later", async () => {
    const several = await Promise.all([scanner.scan(), scanner.scan(), scanner.scan()]);
    expect(new Set(several).size).toBe(1);
    expect(await scanner.scan()).not.toBe(several[0]);
  });
});
