/** R15: the disk under the state directory is full, becomes full, or may not be written to any more; and then it may. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SECOND_MS } from "../../src/core/time/instant.js";
import { builtPrograms, type RunningKrond } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";
import { accountFor, kindsText } from "../torture/account.js";
import { canMount, mounts, must, NEEDS_MOUNT } from "./mounts.js";
import {
  AS_NORMAL_USER,
  everySecond,
  type FaultPlace,
  faultPlaces,
  giveAway,
  type Load,
  questionAbout,
  quiet,
  stopGracefully,
  takeBack,
} from "./place.js";

const newPlace = faultPlaces(builtPrograms(), temporaryDirectories());
const LOAD: Load = {
  jobs: 360,
  deadlineMs: 20 * SECOND_MS,
  startGraceMs: 5 * SECOND_MS,
  command: "echo said",
  output: {},
};
const BACKENDS = ["lmdb", "files"] as const;
const DISK = "size=16m,mode=700";

const mount = mounts();

function onSmallDisk(load = LOAD): FaultPlace {
  const place = newPlace(everySecond(load));
  mount("-t", "tmpfs", "-o", DISK, "tmpfs", place.state);
  return place;
}

/** Leaves nothing free but `leftBytes`, as far as whoever writes at the same time lets it. */
function fill(directory: string, leftBytes = 0): string {
  const file = path.join(directory, "filler");
  const { bavail, bsize } = fs.statfsSync(directory);
  try {
    fs.writeFileSync(file, Buffer.alloc(Math.max(bavail * bsize - leftBytes, 0)));
  } catch (error) {
    if (!String(error).includes("ENOSPC")) throw error;
  }
  return file;
}

const FATAL = { level: "error", error_type: "PersistenceError", error_code: "state-write-failed", operation: "commit" };

async function endsFatally(krond: RunningKrond): Promise<void> {
  expect(await krond.event("fatal")).toMatchObject(FATAL);
  expect(await krond.ended).toBe(5);
}

/** Started again, it goes on: nothing has run twice, and what became of every period can be told. */
async function goesOn(place: FaultPlace, fromAt: number, backend: string, wrap: readonly string[] = []): Promise<void> {
  const krond = place.start({ more: ["--store", backend], wrap });
  await krond.ready();
  await krond.event("completed", { exit_code: 0 }, krond.lines.length);
  const askedAt = await stopGracefully(place, krond);
  takeBack(place.state);
  const { duplicates, unaccounted, untimely, runs, kinds } = await accountFor(
    questionAbout(place, LOAD, fromAt, askedAt),
  );
  console.log(
    `${expect.getState().currentTestName}: ${runs} runs: ${kindsText(kinds)}; duplicates ${duplicates.length}`,
  );
  expect({ duplicates, unaccounted, untimely }).toEqual({ duplicates: [], unaccounted: [], untimely: [] });
}

describe("R15: a full disk", () => {
  test.skipIf(!canMount).each(BACKENDS)(
    `%s: it becomes full: fatal, exit code 5; with room again nothing runs twice${NEEDS_MOUNT}`,
    async (backend) => {
      const place = onSmallDisk();
      const fromAt = Date.now();
      const krond = place.start({ more: ["--store", backend] });
      await krond.ready();
      await krond.event("completed", { exit_code: 0 });
      const filler = fill(place.state);
      await endsFatally(krond);
      fs.rmSync(filler);
      await goesOn(place, fromAt, backend);
    },
  );

  test
    .skipIf(!canMount)
    .each(BACKENDS.flatMap((backend) => [0, 8_192, 65_536].map((left) => [backend, left] as const)))(
    `%s: %d bytes are left at the very first start: exit code 5 and a message; with room again it starts${NEEDS_MOUNT}`,
    async (backend, leftBytes) => {
      const place = onSmallDisk();
      const fromAt = Date.now();
      const filler = fill(place.state, leftBytes);
      const krond = place.start({ more: ["--store", backend] });
      expect(await krond.ended).toBe(5);
      expect(krond.stderr).toMatch(/krond: .*(no space left|Input\/output error)/i);
      fs.rmSync(filler);
      await goesOn(place, fromAt, backend);
    },
  );

  test.skipIf(!canMount).each(BACKENDS)(
    `%s: nothing is left at a later start: exit code 5 and a message; with room again it starts${NEEDS_MOUNT}`,
    async (backend) => {
      const place = onSmallDisk();
      const fromAt = Date.now();
      const first = place.start({ more: ["--store", backend] });
      await first.event("completed", { exit_code: 0 });
      await first.kill();
      await quiet(place);
      const filler = fill(place.state);
      const second = place.start({ more: ["--store", backend] });
      expect(await second.ended).toBe(5);
      expect(second.stderr).toContain("no space left on device");
      fs.rmSync(filler);
      await goesOn(place, fromAt, backend);
    },
  );

  test("a file that may not be that large any more, as under a quota: fatal, exit code 5; with the limit lifted nothing runs twice", async () => {
    const place = newPlace(everySecond(LOAD));
    const fromAt = Date.now();
    const krond = place.start();
    await krond.ready();
    await krond.event("completed", { exit_code: 0 });
    const { size } = fs.statSync(path.join(place.state, "kron.mdb"));
    must("prlimit", "--pid", String(krond.pid), `--fsize=${Math.floor(size / 2)}:`);
    await endsFatally(krond);
    await goesOn(place, fromAt, "lmdb");
  });
});

describe("R15: a state directory that may not be written to", () => {
  test.skipIf(!canMount)(`files: mounted read-only while it runs: fatal, exit code 5${NEEDS_MOUNT}`, async () => {
    // Output that is being written would keep the mount as it is, and so does a commit.
    const place = onSmallDisk({ ...LOAD, output: { to: "discard" } });
    const fromAt = Date.now();
    const krond = place.start({ more: ["--store", "files"] });
    await krond.ready();
    await krond.event("completed", { exit_code: 0 });
    while (spawnSync("mount", ["-o", "remount,ro", place.state]).status !== 0) await sleep(1);
    await endsFatally(krond);
    const refused = place.start({ more: ["--store", "files"] });
    expect(await refused.ended).toBe(5);
    expect(refused.stderr).toContain("read-only file system");
    must("mount", "-o", `remount,rw,${DISK}`, place.state);
    await goesOn(place, fromAt, "files");
  });

  test("files: its mode is taken away while it runs: fatal, exit code 5; the next start names the mode", async () => {
    const place = newPlace(everySecond(LOAD));
    giveAway(place.state);
    const fromAt = Date.now();
    const more = ["--store", "files"];
    const krond = place.start({ more, wrap: AS_NORMAL_USER });
    await krond.ready();
    await krond.event("completed", { exit_code: 0 });
    fs.chmodSync(place.state, 0o500);
    await endsFatally(krond);
    const refused = place.start({ more, wrap: AS_NORMAL_USER });
    expect(await refused.ended).toBe(3);
    expect(refused.stderr).toContain("it must be 0700");
    fs.chmodSync(place.state, 0o700);
    await goesOn(place, fromAt, "files", AS_NORMAL_USER);
  });
});
