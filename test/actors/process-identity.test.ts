import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import {
  identityOf,
  type Liveness,
  livenessOf,
  matches,
  type ProcessTable,
  parseStat,
  readBootId,
  readStat,
} from "../../src/actors/process-identity.js";

const TAIL = "1 2 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";

describe("/proc/PID/stat", () => {
  test.each<[name: string, text: string, state: string | null]>([
    ["an ordinary name", `42 (sh) S ${TAIL}`, "S"],
    ["a name with blanks", `42 (my job) R ${TAIL}`, "R"],
    ["a name that imitates the fields", `42 (x) S 9 9 9) Z ${TAIL}`, "Z"],
    ["a name of parentheses", `42 (()) D ${TAIL}`, "D"],
    ["nothing", "", null],
    ["a torn line", "42 (sh) S 1 2", null],
  ])("is read whatever the process is called: %s", (_, text, state) => {
    const stat = parseStat(text);
    expect(stat?.state ?? null).toBe(state);
    expect(
      stat === null || (stat.pid === 42 && stat.parentPid === 1 && stat.processGroup === 2 && stat.session === 3),
    ).toBe(true);
    expect(stat === null || stat.startTicks === 4711).toBe(true);
  });

  test("of this process names its parent and its birth", () => {
    const stat = readStat(process.pid);
    expect(stat).toMatchObject({ pid: process.pid, parentPid: process.ppid });
  });
});

function failing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

const BOOT = "boot-1";

describe("S27: whether a process is still the one that was started", () => {
  const alive = (text: string): ProcessTable => ({ readText: () => text, probe: () => undefined });
  test.each<[name: string, table: ProcessTable, bootId: string, liveness: Liveness]>([
    ["the same birth, the same boot", alive(`42 (sh) S ${TAIL}`), BOOT, "alive"],
    ["stopped is alive", alive(`42 (sh) T ${TAIL}`), BOOT, "alive"],
    ["another birth: the number was reused", alive(`42 (sh) S ${TAIL.replace("4711", "4712")}`), BOOT, "gone"],
    ["another boot", alive(`42 (sh) S ${TAIL}`), "boot-0", "gone"],
    ["a zombie runs no more", alive(`42 (sh) Z ${TAIL}`), BOOT, "gone"],
    ["no such process", { readText: failing("ENOENT"), probe: failing("ESRCH") }, BOOT, "gone"],
    ["ended while it was read", { readText: failing("ESRCH"), probe: failing("ESRCH") }, BOOT, "gone"],
    ["EPERM on /proc means alive", { readText: failing("EPERM"), probe: failing("ESRCH") }, BOOT, "unverifiable"],
    ["EACCES on /proc means alive", { readText: failing("EACCES"), probe: failing("ESRCH") }, BOOT, "unverifiable"],
    [
      "hidden from /proc, alive to a signal",
      { readText: failing("ENOENT"), probe: failing("EPERM") },
      BOOT,
      "unverifiable",
    ],
  ])("%s", (_, table, bootId, liveness) => {
    expect(livenessOf({ pid: 42, startTicks: 4711, bootId }, BOOT, table)).toBe(liveness);
  });

  test("holds for a real process until it ends, and for no other moment of birth", async () => {
    const child = spawn("cat", { stdio: ["pipe", "ignore", "inherit"] });
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    const identity = identityOf(pid);
    const bootId = readBootId();
    expect(bootId).toMatch(/^[0-9a-f-]{36}$/);
    expect(identity).toMatchObject({ pid, bootId });
    const ticks = identity?.startTicks ?? 0;
    expect([matches(pid, ticks, bootId), matches(pid, ticks + 1, bootId), matches(pid, ticks, "other")]).toEqual([
      true,
      false,
      false,
    ]);
    child.stdin.end();
    await once(child, "close");
    expect(matches(pid, ticks, bootId)).toBe(false);
    expect(identityOf(pid)).toBeNull();
  });
});
