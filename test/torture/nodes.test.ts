/**
 * K3: three daemons on one database through everything that can happen to them: no occasion is started twice, and all of them
 * are accounted for.
 */
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { postgresServer } from "../support/postgres.js";
import { proxies } from "../support/postgres-proxy.js";
import { temporaryDirectories } from "../support/temporary.js";
import { accountOf, accountOfNodes } from "./nodes-account.js";
import { NodesCampaign } from "./nodes-campaign.js";
import { randomFrom } from "./random.js";

const programs = builtPrograms();
const start = krondProcesses(programs);
const temporary = temporaryDirectories();
const server = postgresServer();
const proxyTo = proxies(temporary);

const CLAIMS = Number(process.env["KRON_TORTURE_CLAIMS"] ?? 250);
const SEED = Number(process.env["KRON_TORTURE_SEED"] ?? 20_261_119);
const JOBS = Number(process.env["KRON_TORTURE_JOBS"] ?? 40);
/** A long run begins anew from time to time: what is asked after stays bounded. A round ends when the longest run has. */
const CLAIMS_PER_ROUND = 10_000;

async function play(claims: number, seed: number): Promise<number> {
  const database = await server().newDatabase();
  const root = temporary();
  const behind = await Promise.all([1, 2, 3].map(() => proxyTo(server().root)));
  const random = randomFrom(seed);
  const parts = { root, database, programs, start, random, server: server(), proxies: behind, jobs: JOBS };
  const campaign = new NodesCampaign(parts);
  const begunMs = performance.now();
  await campaign.run(() => campaign.witness.length < claims);
  const account = await accountOfNodes(server(), database, campaign);
  const seconds = Math.round((performance.now() - begunMs) / 1_000);
  const list = (of: ReadonlyMap<string, number>): string =>
    [...of].map(([what, count]) => `${count} ${what}`).join(", ");
  const took = campaign.takeoverMs.toSorted((one, other) => one - other);
  console.log(
    [
      `K3: ${account.claims} claims, ${campaign.witness.length} runs in ${seconds} s, wall clocks off by +5, -5 and 0 s; ${list(campaign.deeds)}; daemons ended: ${list(campaign.ends)}`,
      `K3: ${list(account.endings)}; ${account.periods} periods asked after; duplicates ${account.duplicates.length}, unaccounted ${account.unaccounted.length}`,
      `K3: takeover after SIGKILL p50 ${Math.round(took[Math.floor(took.length / 2)] ?? 0)} ms, max ${Math.round(took.at(-1) ?? 0)} ms of ${took.length}`,
    ].join("\n"),
  );
  expect(account.duplicates).toEqual([]);
  expect(account.unaccounted).toEqual([]);
  return account.claims;
}

const RUN = { attempt_id: "x", ended_at: "2026-03-01T00:00:10Z", exit_code: 0, signal: null, reason: null };

test.each([
  ["two runs of one occasion", [RUN, { ...RUN, attempt_id: "y" }], ["a p x", "a p y"], { duplicates: ["a p"] }],
  ["a run that is not on record", [RUN], ["a p x", "a q y"], { unaccounted: ["a q y has run, and is not on record"] }],
  ["a success without a run", [RUN], [], { unaccounted: ["a x is on record as a success, and has left no witness"] }],
  ["an end that is missing", [{ ...RUN, ended_at: null }], ["a p x"], { unaccounted: ["a x has no end on record"] }],
  [
    "a run that was too late",
    [{ ...RUN, exit_code: null, reason: "aborted_late" }],
    ["a p x"],
    {
      unaccounted: ["a p x has run, and is on record as too late"],
    },
  ],
] as const)("control: %s is found", (_, runs, witness, found) => {
  const rows = runs.map((run) => ({ identity: "a", text: JSON.stringify(run) }));
  expect(accountOf(rows, witness)).toMatchObject(found);
});

test("K3: whatever happens to nodes, their server and what is between: no occasion is started twice, and all are accounted for", async () => {
  for (let done = 0, round = 0; done < CLAIMS; round += 1) {
    done += await play(Math.min(CLAIMS_PER_ROUND, CLAIMS - done), SEED + round);
    console.log(`K3: ${done} claims of ${CLAIMS}`);
  }
});
