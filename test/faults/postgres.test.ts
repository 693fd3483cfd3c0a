/**
 * A daemon whose state is in a database, while connections break in the middle of commits, the server dies and comes back or
 * is slow, and the daemon is killed or stands still for longer than its lease: no period runs twice, and each is accounted for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { builtPrograms, type RunningKrond } from "../support/krond.js";
import { postgresServer, ROLE } from "../support/postgres.js";
import { type Fault, proxies } from "../support/postgres-proxy.js";
import { temporaryDirectories } from "../support/temporary.js";
import { accountFor, kindsText } from "../torture/account.js";
import { randomFrom } from "../torture/random.js";
import { everySecond, type FaultPlace, faultPlaces, type Load, questionAbout, stopGracefully } from "./place.js";

const newDirectory = temporaryDirectories();
const newPlace = faultPlaces(builtPrograms(), newDirectory);
const server = postgresServer({ isDurable: true });
const newProxy = proxies(newDirectory);
const LOAD: Load = { jobs: 300, deadlineMs: 5 * SECOND_MS, startGraceMs: 5 * SECOND_MS };
const FAULTS: readonly Fault[] = ["before", "within", "unheard", "after"];
/** Three minutes in `KRON_TEST_LONG=1`, and most of one in the gate. */
const CAMPAIGN_MS = process.env["KRON_TEST_LONG"] === "1" ? 3 * MINUTE_MS : 50 * SECOND_MS;
/** Its end has to wait for leases and for what is late. */
const BOUND_MS = CAMPAIGN_MS + 5 * MINUTE_MS;
const LEASE_MS = 5 * SECOND_MS;
const LONGEST_PAUSE_MS = 4 * SECOND_MS;
const EXIT_LEASE_LOST = 5;

/** One that runs, whatever has become of the last one. */
async function running(place: FaultPlace, last: RunningKrond | null, more: readonly string[]): Promise<RunningKrond> {
  if (last !== null && last.child.exitCode === null && last.child.signalCode === null) return last;
  for (;;) {
    const krond = place.start({ more });
    const isReady = krond.ready().then(
      () => true,
      () => false,
    );
    if (await isReady) return krond;
    // The server was away.
    await sleep(200);
  }
}

/** One that stood still for longer than its lease may learn so only now, and ends by it: then the next one is asked. */
async function endGracefully(place: FaultPlace, last: RunningKrond, more: readonly string[]): Promise<EpochMs> {
  try {
    return await stopGracefully(place, await running(place, last, more));
  } catch (error) {
    if ((await last.ended) !== EXIT_LEASE_LOST) throw error;
    return await stopGracefully(place, await running(place, last, more));
  }
}

test(
  "connections, server and daemon fail in turn: nothing runs twice, and every period is accounted for",
  async () => {
    const place = newPlace(everySecond(LOAD));
    const random = randomFrom(14);
    const proxy = await newProxy(server().root);
    const database = await server().newDatabase();
    const address = `postgres:///${database}?host=${proxy.directory}&user=${ROLE}`;
    const more = ["--store", address, "--store-lease", `${LEASE_MS}ms`];
    const done = { broken: 0, reset: 0, died: 0, slow: 0, killed: 0, paused: 0 };
    const fromAt = Date.now();
    let krond = await running(place, null, more);
    proxy.faultOf = () => {
      if (random.next() >= 0.1) return null;
      done.broken += 1;
      return random.pick(FAULTS);
    };
    const acts: Readonly<Record<Exclude<keyof typeof done, "broken">, () => Promise<unknown>>> = {
      reset: async () => proxy.reset(),
      died: async () => {
        await server().stop("SIGQUIT");
        await sleep(random.below(1_000));
        await server().start();
      },
      slow: async () => {
        proxy.delayMs = 200;
        await sleep(2_000);
        proxy.delayMs = 0;
      },
      killed: () => krond.kill(),
      paused: async () => {
        krond.child.kill("SIGSTOP");
        await sleep(random.pick([0.5, 1.5]) * LEASE_MS);
        krond.child.kill("SIGCONT");
      },
    };
    for (const untilAt = fromAt + CAMPAIGN_MS; Date.now() < untilAt; ) {
      await sleep(random.below(LONGEST_PAUSE_MS));
      const name = random.pick(Object.keys(acts) as (keyof typeof acts)[]);
      await acts[name]();
      done[name] += 1;
      krond = await running(place, krond, more);
    }
    proxy.faultOf = () => null;
    const askedAt = await endGracefully(place, krond, more);
    const account = await accountFor(questionAbout(place, LOAD, fromAt, askedAt));
    const { periods, runs, kinds, duplicates, unaccounted, untimely } = account;
    console.log(`PostgreSQL: ${JSON.stringify(done)}: ${periods} periods, ${runs} runs: ${kindsText(kinds)}`);
    expect({ duplicates, unaccounted, untimely }).toEqual({ duplicates: [], unaccounted: [], untimely: [] });
    expect(runs).toBeGreaterThan(periods / 10);
  },
  BOUND_MS,
);
