/** R15: descriptors and processes run out while periods are due, and come back. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SECOND_MS } from "../../src/core/time/instant.js";
import { builtPrograms, childrenOf, type RunningKrond } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";
import { accountFor, kindsText } from "../torture/account.js";
import {
  AS_NORMAL_USER,
  asUser,
  everySecond,
  faultPlaces,
  giveAway,
  isRoot,
  type Load,
  questionAbout,
  stopGracefully,
  takeBack,
} from "./place.js";

const newPlace = faultPlaces(builtPrograms(), temporaryDirectories());
const LOAD: Load = { jobs: 300, deadlineMs: 40 * SECOND_MS, startGraceMs: 5 * SECOND_MS };
/** What else a user runs counts towards its limit: root can make one up that runs nothing. */
const NEEDS_OWN_USER = isRoot ? "" : " (skipped: this needs root, for a user with no other process)";
/** Processes and threads that a daemon may have: Node alone needs about eleven. */
const PROCESSES = [8, 11, 16, 22, 28] as const;
const FIRST_USER = 1_000_000;
const EXIT_FATAL = 5;
const STARTED = "started";
const AFTERWARDS_MS = 4_000;

function limit(pid: number, what: string, soft: string): void {
  const [program = "", ...args] = [...AS_NORMAL_USER, "prlimit", "--pid", String(pid), `--${what}=${soft}:`];
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** No more than it has already. */
function openFilesOf(pid: number): string {
  return String(Math.max(...fs.readdirSync(`/proc/${pid}/fd`).map(Number)) + 1);
}

interface Shortage {
  readonly name: string;
  readonly begin: (krond: RunningKrond) => void;
  readonly end: (krond: RunningKrond) => void;
  readonly code: string;
}

const launchersOf = (krond: RunningKrond): number[] => childrenOf(krond.pid);
const SHORTAGES: readonly Shortage[] = [
  {
    name: "EMFILE: no descriptor is free in any launcher",
    begin: (krond) => launchersOf(krond).forEach((pid) => void limit(pid, "nofile", openFilesOf(pid))),
    end: (krond) => launchersOf(krond).forEach((pid) => void limit(pid, "nofile", "1024")),
    code: "descriptors-exhausted",
  },
  {
    name: "EAGAIN: no launcher may create a process",
    begin: (krond) => launchersOf(krond).forEach((pid) => void limit(pid, "nproc", "1")),
    end: (krond) => launchersOf(krond).forEach((pid) => void limit(pid, "nproc", "1000")),
    code: "fork-failed",
  },
];

describe("R15: shortages", () => {
  test.each(SHORTAGES)("S24: $name: told, tried again, and nothing is lost once it is over", async (shortage) => {
    const place = newPlace(everySecond(LOAD));
    giveAway(place.state);
    const fromAt = Date.now();
    const krond = place.start({ wrap: AS_NORMAL_USER });
    await krond.ready();
    await krond.event("completed", { exit_code: 0 });
    shortage.begin(krond);
    const told = await krond.event("error", { error_code: shortage.code }, krond.lines.length);
    expect(told).toMatchObject({ level: "error", operation: "arm" });
    expect(String(told["identity"])).toMatch(/^job-\d+$/);
    await sleep(1_500);
    shortage.end(krond);
    await sleep(AFTERWARDS_MS);
    const askedAt = await stopGracefully(place, krond);
    takeBack(place.state);
    const hadTime = (chosenAt: number): boolean => chosenAt < askedAt - 2_000;
    const account = await accountFor({ ...questionAbout(place, LOAD, fromAt, askedAt), hadTime });
    const { duplicates, unaccounted, untimely, lost } = account;
    console.log(`R15: ${shortage.code}: ${account.runs} runs: ${kindsText(account.kinds)}; lost ${lost.length}`);
    expect({ duplicates, unaccounted, untimely, lost }).toEqual({
      duplicates: [],
      unaccounted: [],
      untimely: [],
      lost: [],
    });
  });

  test("EMFILE in the daemon: it goes on, and answers again when there are descriptors", async () => {
    const place = newPlace(everySecond(LOAD));
    giveAway(place.state);
    const krond = place.start({ wrap: AS_NORMAL_USER });
    await krond.ready();
    limit(krond.pid, "nofile", openFilesOf(krond.pid));
    await krond.event("completed", { exit_code: 0 }, krond.lines.length);
    limit(krond.pid, "nofile", "1024");
    expect(place.krond("status").status).toBe(0);
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.filter(({ event }) => event === "fatal")).toEqual([]);
  });

  test.skipIf(!isRoot)(
    `EAGAIN at the start, wherever it strikes: exit code 5 and a message, and nothing was started${NEEDS_OWN_USER}`,
    async () => {
      const ends = new Map<number | string, number>();
      for (const [row, most] of PROCESSES.entries()) {
        // A user of its own: what an earlier one has left behind would count.
        const user = FIRST_USER + process.pid * PROCESSES.length + row;
        const place = newPlace(everySecond(LOAD));
        giveAway(place.state, user);
        const krond = place.start({ wrap: [...asUser(user), "prlimit", `--nproc=${most}:${most}`, "--"] });
        const isReady = krond.ready().then(() => STARTED);
        const end = await Promise.race([krond.ended, isReady.catch(() => krond.ended)]);
        ends.set(end, (ends.get(end) ?? 0) + 1);
        // Without the threads it wanted, the daemon may just find room for its launchers, and then does its work.
        if (end === STARTED) {
          expect(await krond.kill("SIGTERM")).toBe(0);
          continue;
        }
        // That it has to do without threads is said by then; it is the launchers that cannot be done without.
        const told = krond.lines.filter(({ error_code: code }) => code !== "worker-unavailable");
        // And why there is no daemon, by whoever is still able to say it.
        expect(told.every(({ event, level }) => event === "fatal" && level === "error")).toBe(true);
        expect([told.length <= 1, fs.readdirSync(place.witness)]).toEqual([true, []]);
        // With less than Node itself needs there is nobody yet who could say anything.
        expect(["SIGABRT", EXIT_FATAL]).toContain(end);
        if (end === EXIT_FATAL) expect(krond.stderr).toMatch(/^krond: .*(flock|launcher process|worker ended)/m);
      }
      console.log(`R15: EAGAIN at the start: ${[...ends].map(([end, count]) => `${count} times ${end}`).join(", ")}`);
      expect(ends.get(EXIT_FATAL) ?? 0).toBeGreaterThan(0);
    },
  );
});
