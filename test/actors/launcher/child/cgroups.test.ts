import * as fs from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { eventually, isAlive, isRoot, shellRequest, testLaunchers } from "../../../support/launcher.js";

const MOUNTED = "/sys/fs/cgroup/unified";
const canUse = isRoot && fs.existsSync(`${MOUNTED}/cgroup.procs`);
const start = testLaunchers();
const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) fs.rmdirSync(root);
});

function delegatedRoot(): string {
  const root = fs.mkdtempSync(`${MOUNTED}/kron-test-`);
  roots.push(root);
  return root;
}

describe(`S28: a delegated cgroup${canUse ? "" : " (skipped: no writable cgroup v2)"}`, () => {
  test.skipIf(!canUse)("holds the whole run, also what left group, parent and environment behind", async () => {
    const root = delegatedRoot();
    const launcher = await start({ cgroupRoot: root });
    const armed = await launcher.run(
      shellRequest("(env -i setsid sh -c 'sleep 1000 & sleep 1000' &); exec sleep 1000"),
    );
    const members = () =>
      fs.readFileSync(`${root}/kron-${armed.attemptId}/cgroup.procs`, "utf8").split("\n").filter(Boolean);
    await eventually(() => members().length === 4, "all four processes have begun");
    const pids = members().map(Number);
    expect(await launcher.port.terminate(armed.attemptId, 10_000)).toEqual({ survivors: [], wasKilled: false });
    expect(pids.filter(isAlive)).toEqual([]);
    await launcher.exitOf(armed);
    await eventually(() => directoriesIn(root).length === 0, "the group is removed");
  });

  test.skipIf(!canUse)("of a gate that never runs is removed with it", async () => {
    const root = delegatedRoot();
    const launcher = await start({ cgroupRoot: root });
    const armed = await launcher.ready(shellRequest("exit"));
    expect(directoriesIn(root)).toEqual([`kron-${armed.attemptId}`]);
    await launcher.port.abort(armed);
    expect(directoriesIn(root)).toEqual([]);
  });

  test("that cannot be used is done without", async () => {
    const launcher = await start({ cgroupRoot: "/nonexistent" });
    expect(await launcher.exitOf(await launcher.run(shellRequest("exit 3")))).toMatchObject({ ending: { code: 3 } });
  });
});

function directoriesIn(root: string): readonly string[] {
  return fs
    .readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}
