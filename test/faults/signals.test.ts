/** R15: signals that nobody expects, and processes that stand still or are killed while periods are due. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { SECOND_MS } from "../../src/core/time/instant.js";
import { builtPrograms, childrenOf, type RunningKrond } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";
import { type Account, accountFor, kindsText } from "../torture/account.js";
import { randomFrom } from "../torture/random.js";
import { everySecond, type FaultPlace, faultPlaces, type Load, questionAbout, stopGracefully } from "./place.js";

const newPlace = faultPlaces(builtPrograms(), temporaryDirectories());
const LOAD: Load = { jobs: 240, deadlineMs: 2 * SECOND_MS, startGraceMs: 2 * SECOND_MS };
const STORM_MS = 5_000;
/** Longer than deadline, grace and the lead of gates together. */
const STANDSTILL_MS = 9_000;
const GATES_MS = 3_500;
const AFTERWARDS_MS = 2_000;

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended by itself in between.
    }
  }
}

function expectAllWell(account: Account): void {
  const { duplicates, unaccounted, untimely } = account;
  expect({ duplicates, unaccounted, untimely }).toEqual({ duplicates: [], unaccounted: [], untimely: [] });
}

async function settled(place: FaultPlace, krond: RunningKrond, load: Load, fromAt: number): Promise<Account> {
  const askedAt = await stopGracefully(place, krond);
  expect(krond.lines.filter(({ event }) => event === "fatal")).toEqual([]);
  return accountFor(questionAbout(place, load, fromAt, askedAt));
}

function figure(what: string, { periods, runs, kinds }: Account): void {
  console.log(`R15: ${what}: ${periods} periods, ${runs} runs: ${kindsText(kinds)}; 0 unaccounted, 0 beyond S20`);
}

test("R15: a storm of signals at daemon and launchers: nothing ends, and every period is accounted for", async () => {
  const place = newPlace(everySecond(LOAD));
  const fromAt = Date.now();
  const random = randomFrom(15);
  const krond = place.start();
  await krond.ready();
  const pids = [krond.pid, ...childrenOf(krond.pid)];
  const untilAt = Date.now() + STORM_MS;
  let count = 0;
  for (; Date.now() < untilAt; count += 1) {
    signal(
      [random.pick(pids)],
      random.pick(["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGSTOP"] as const),
    );
    if (count % 20 === 0) {
      signal(pids, "SIGCONT");
      await sleep(random.below(20));
    }
  }
  signal(pids, "SIGCONT");
  await krond.event("completed", { exit_code: 0 }, krond.lines.length);
  expect(childrenOf(krond.pid)).toEqual(pids.slice(1));
  const account = await settled(place, krond, LOAD, fromAt);
  expect(krond.stderr).toBe("");
  figure(`a storm of ${count} signals`, account);
  expectAllWell(account);
});

const STANDING_STILL: readonly (readonly [who: string, pidsOf: (daemon: number) => number[]])[] = [
  ["the daemon", (daemon) => [daemon]],
  ["its launchers", (daemon) => childrenOf(daemon)],
  ["every gate and every job", (daemon) => childrenOf(daemon).flatMap(childrenOf)],
  ["all of them", (daemon) => [daemon, ...childrenOf(daemon), ...childrenOf(daemon).flatMap(childrenOf)]],
];

async function standStill(pidsOf: (daemon: number) => number[]): Promise<Account> {
  const place = newPlace(everySecond(LOAD));
  const fromAt = Date.now();
  const krond = place.start();
  await krond.ready();
  // Until gates are made ahead.
  await sleep(GATES_MS);
  const stopped = pidsOf(krond.pid);
  signal(stopped, "SIGSTOP");
  await sleep(STANDSTILL_MS);
  signal(stopped, "SIGCONT");
  await krond.event("completed", { exit_code: 0 }, krond.lines.length);
  await sleep(AFTERWARDS_MS);
  return settled(place, krond, LOAD, fromAt);
}

describe("R15, S20: processes that stand still for longer than deadline, grace and the lead of gates", () => {
  const accounts = new Map<string, Account>();
  beforeAll(async () => {
    const all = STANDING_STILL.map(async ([who, pidsOf]) => accounts.set(who, await standStill(pidsOf)));
    await Promise.all(all);
  });

  test.each(STANDING_STILL)("SIGSTOP, SIGCONT of %s: what is too late never begins, and says why", (who) => {
    const account = accounts.get(who);
    if (account === undefined) throw new Error("it was not played");
    figure(`${who} stopped for ${STANDSTILL_MS / 1_000} s`, account);
    expectAllWell(account);
    const missed = ["deadline", "stalled", "clock_jump", "late_start"].map((reason) => `missed (${reason})`);
    const tooLate = [...missed, "executed (aborted_late)"];
    expect(tooLate.some((kind) => account.kinds.has(kind))).toBe(true);
  });
});

test("R15: launchers that are killed over and over, also while they arm: what they held is started again or missed", async () => {
  const load = { ...LOAD, deadlineMs: 5 * SECOND_MS, command: "sleep 0.2" };
  const place = newPlace(everySecond(load));
  const fromAt = Date.now();
  const random = randomFrom(29);
  const krond = place.start();
  await krond.ready();
  const untilAt = Date.now() + STORM_MS;
  let count = 0;
  while (Date.now() < untilAt) {
    await sleep(random.below(300));
    const launchers = childrenOf(krond.pid);
    if (launchers.length === 0) continue;
    signal([random.pick(launchers)], "SIGKILL");
    count += 1;
  }
  // What could not be made ready meanwhile is tried again until its deadline: by then it was started, or is missed.
  const decidedAt = untilAt + load.deadlineMs + load.startGraceMs;
  do await krond.event("completed", { exit_code: 0 }, krond.lines.length);
  while (Date.now() < decidedAt);
  const account = await settled(place, krond, load, fromAt);
  figure(`${count} kills of launchers`, account);
  expectAllWell(account);
});
