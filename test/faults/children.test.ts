/** R10: children that do not want to end, and one that fills the disk: of real daemons, by timeout, replace and cancel. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, jobsOf, MARK, type RunningKrond } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";
import { canMount, mounts, NEEDS_MOUNT } from "./mounts.js";
import { type FaultPlace, faultPlaces } from "./place.js";

const newPlace = faultPlaces(builtPrograms(), temporaryDirectories());
const mount = mounts();
const NEVER = "0 0 1 1 *";
const IDENTITY = "r10/child";

const STUBBORN: readonly (readonly [name: string, command: string])[] = [
  ["ignores TERM", "trap '' TERM; sleep 300"],
  ["forks, and all ignore TERM", "trap '' TERM; sleep 300 & sleep 300 & sleep 300 & wait"],
  ["double-forks into a session of its own", "(setsid sh -c 'sleep 300 & sleep 300' &) ; sleep 300"],
  [
    "double-forks, ignores TERM and holds its descriptors",
    "trap '' TERM; (setsid sh -c 'sleep 300' &) ; exec sleep 300",
  ],
  ["forks again whenever a child ends", "trap '' TERM; while :; do sleep 300; done"],
  ["is stopped", "kill -STOP $$; sleep 300"],
];

interface Child {
  readonly command: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

function configured({ command, more = {} }: Child): FaultPlace {
  return newPlace(({ state }) => {
    const job = { identity: IDENTITY, schedule: NEVER, shell: true, command, ...more };
    return JSON.stringify({ kill_grace: "300ms", defaults: { env: { [MARK]: state } }, jobs: [job] });
  });
}

async function begun(place: FaultPlace): Promise<RunningKrond> {
  const krond = place.start();
  await krond.ready();
  expect(await place.kronAsync("run", IDENTITY)).toBe(0);
  await krond.event("started", { identity: IDENTITY });
  return krond;
}

/** 0: it has become the file beside it meanwhile. */
function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The run has ended when its process has; what is left of its tree is ended after that. */
async function noneLeft(place: FaultPlace): Promise<void> {
  await expect.poll(() => jobsOf(place.state), { interval: 20 }).toEqual([]);
}

describe("R10: a stubborn child", () => {
  test.each(STUBBORN)("%s: nothing of it is left after its timeout", async (name, command) => {
    const place = configured({ command, more: { timeout: "500ms" } });
    const krond = await begun(place);
    await krond.event("completed", { identity: IDENTITY, reason: "timeout" });
    await noneLeft(place);
    console.log(`R10: ${name}: 0 survivors`);
    expect(krond.lines.filter(({ error_code }) => error_code === "replace-not-terminated")).toEqual([]);
  });

  test.each(STUBBORN)(
    "%s: nothing of it is left after a cancel, by the daemon that has adopted it",
    async (_, command) => {
      const place = configured({ command });
      const first = await begun(place);
      await first.kill();
      const second = place.start();
      await second.event("adopted", { identity: IDENTITY, outcome: "watching" });
      await second.ready();
      expect(await place.kronAsync("cancel", IDENTITY)).toBe(0);
      await second.event("completed", { identity: IDENTITY });
      expect(jobsOf(place.state)).toEqual([]);
    },
  );
});

describe("R10: a child that floods the disk", () => {
  const CAP_BYTES = 200_000;
  const DISK_BYTES = 16 * 2 ** 20;
  const flood = { output: { max: "200KB" }, timeout: "3s" };

  test.skipIf(!canMount)(
    `is held near its cap on a disk that it would fill within a second, and the daemon goes on${NEEDS_MOUNT}`,
    async () => {
      const place = configured({ command: "while :; do head -c 20000 /dev/zero; sleep 0.001; done", more: flood });
      mount("-t", "tmpfs", "-o", `size=${DISK_BYTES},mode=700`, "tmpfs", place.state);
      const krond = await begun(place);
      let mostBytes = 0;
      const timer = setInterval(() => {
        const { blocks, bfree, bsize } = fs.statfsSync(place.state);
        mostBytes = Math.max(mostBytes, (blocks - bfree) * bsize);
      }, 20);
      await krond.event("completed", { identity: IDENTITY, reason: "timeout" });
      clearInterval(timer);
      const [directory = ""] = fs.readdirSync(path.join(place.state, "output"));
      const kept = path.join(place.state, "output", directory);
      // One that is being cut short lies beside itself under a name of its own for as long.
      const sizeNow = (): number => fs.readdirSync(kept).reduce((sum, name) => sum + sizeOf(path.join(kept, name)), 0);
      await expect.poll(sizeNow, { interval: 20 }).toBeLessThan(1.3 * CAP_BYTES);
      console.log(
        `R10: a flood: the disk held ${mostBytes} bytes at most, the file ${sizeNow()} in the end (cap ${CAP_BYTES})`,
      );
      expect(mostBytes).toBeLessThan(DISK_BYTES);
      expect(await place.kronAsync("run", IDENTITY)).toBe(0);
      expect(krond.lines.filter(({ event }) => event === "fatal")).toEqual([]);
    },
  );
});
