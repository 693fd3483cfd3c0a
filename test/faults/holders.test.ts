/** R9: daemons that are started at once on one state directory, by whatever path leads there. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { builtPrograms, type RunningKrond } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";
import { accountFor } from "../torture/account.js";
import { canMount, mounts } from "./mounts.js";
import { everySecond, type FaultPlace, faultPlaces, type Load, questionAbout, stopGracefully } from "./place.js";

const newPlace = faultPlaces(builtPrograms(), temporaryDirectories());
const mount = mounts();
const ROUNDS = Number(process.env["KRON_TORTURE_ROUNDS"] ?? 50);
const ROUND_BOUND_MS = 10_000;
const LOAD: Load = { jobs: 240, deadlineMs: 10_000, startGraceMs: 10_000 };
const LOCK_HELD = 4;

/** Ways to the directory that are spelled differently; a bind mount where one may be made. */
function waysTo({ root, state }: FaultPlace): string[] {
  const [link, parent, bound] = ["link", "parent", "bound"].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  fs.symlinkSync(root, link);
  fs.mkdirSync(parent);
  const ways = [state, path.join(link, "state"), `${parent}/..//./state/`];
  if (!canMount) return ways;
  fs.mkdirSync(bound);
  mount("--bind", state, bound);
  return [...ways, bound];
}

interface Round {
  readonly winner: RunningKrond;
  readonly doubles: number;
}

/** All but one have to give up, and that one has to begin. */
async function race(all: readonly RunningKrond[]): Promise<Round> {
  const ends = all.map(async (krond) => ({ krond, status: await krond.ended }));
  const losers = new Set<RunningKrond>();
  while (losers.size < all.length - 1) {
    const { krond, status } = await Promise.race(ends.filter((_, index) => !losers.has(all[index] as RunningKrond)));
    expect({ status, said: krond.stderr }).toEqual({
      status: LOCK_HELD,
      said: expect.stringContaining("another process holds"),
    });
    losers.add(krond);
  }
  const winner = all.find((krond) => !losers.has(krond));
  if (winner === undefined) throw new Error("nobody holds it");
  await winner.ready();
  return { winner, doubles: [...losers].filter(hasBegun).length };
}

/** That it may not have the directory is all that a loser has to say. */
function hasBegun({ lines }: RunningKrond): boolean {
  return lines.some(({ event }) => event !== "fatal");
}

test(
  "R9: of daemons that start at once one holds the directory, whatever the way to it; SIGKILL of it frees it at once",
  async () => {
    const place = newPlace(everySecond(LOAD));
    const ways = waysTo(place);
    const fromAt = Date.now();
    const won = ways.map(() => 0);
    let doubles = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const pair = [round, round + 1 + (Math.floor(round / ways.length) % (ways.length - 1))].map(
        (it) => it % ways.length,
      );
      const all = pair.map((way) => place.start({ state: ways[way] as string }));
      const played = await race(all);
      doubles += played.doubles;
      const way = pair[all.indexOf(played.winner)] as number;
      won[way] = (won[way] ?? 0) + 1;
      await played.winner.kill();
    }
    const last = place.start();
    await last.ready();
    const askedAt = await stopGracefully(place, last);
    const { duplicates, unaccounted, runs } = await accountFor(questionAbout(place, LOAD, fromAt, askedAt));
    const skipped = canMount ? "" : "; bind mount skipped: it needs root and mount";
    console.log(
      `R9: ${ROUNDS} rounds of 2 simultaneous starts by ${ways.length} ways (won by path ${won[0]}, link ${won[1]}, hard path ${won[2]}, bind mount ${won[3] ?? "-"}): ` +
        `${doubles} double holders, ${runs} runs, ${duplicates.length} duplicates${skipped}`,
    );
    expect({ doubles, duplicates, unaccounted }).toEqual({ doubles: 0, duplicates: [], unaccounted: [] });
  },
  ROUNDS * ROUND_BOUND_MS,
);
