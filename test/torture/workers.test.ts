/** AE-34: workers on one store that ask for what is due at once, again and again: each run is one worker's, and has one. */
import { expect, test } from "vitest";
import type { Work } from "../../src/actors/workers/work.js";
import { SECOND_MS } from "../../src/core/time/instant.js";
import { CLAIM_DUE_ENDPOINTS, COMPLETE_CLAIM } from "../../src/operations/endpoints/claims.js";
import { LIST_RUNS } from "../../src/operations/endpoints/runs.js";
import type { RunAnswer } from "../../src/operations/endpoints/shapes.js";
import { Desk } from "../operations/endpoints/desk.js";

const CLAIMS = Number(process.env["KRON_TORTURE_CLAIMS"] ?? 2_000);
const WORKERS = Number(process.env["KRON_TORTURE_WORKERS"] ?? 2);
const ENDPOINTS = 100;
const EVERY_SECONDS = 20;
/** A long run begins anew from time to time: what is read afterwards stays bounded. */
const CLAIMS_PER_ROUND = 2_500;

/** By whom each slot was taken. */
type Taken = Map<string, number[]>;

async function work(desk: Desk, worker: number, taken: Taken, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const asked = { limit: 7, withinMs: 5_000 };
    const { rows } = await desk.ask<{ rows: readonly Work[] }>(CLAIM_DUE_ENDPOINTS, asked);
    for (const { claimId, endpointId, scheduledFor } of rows) {
      const slot = `${endpointId} ${scheduledFor}`;
      taken.set(slot, [...(taken.get(slot) ?? []), worker]);
      await desk.ask(COMPLETE_CLAIM, { claimId, httpStatus: 200 });
    }
  }
}

async function runsOf(desk: Desk): Promise<readonly RunAnswer[]> {
  const runs: RunAnswer[] = [];
  let cursor: string | null = null;
  do {
    const page: { rows: readonly RunAnswer[]; next: string | null } = await desk.ask(LIST_RUNS, { cursor, limit: 200 });
    runs.push(...page.rows);
    cursor = page.next;
  } while (cursor !== null);
  return runs;
}

/** As many claims, or a few more. */
async function play(claims: number): Promise<Taken> {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const wish = { by: "worker", baselineIntervalMs: EVERY_SECONDS * SECOND_MS, timeoutMs: 15_000 };
  for (let n = 0; n < ENDPOINTS; n++) await desk.endpoint(jobId, { ...wish, name: `e${n}` });
  const taken: Taken = new Map();
  let isOver = false;
  const workers = Array.from({ length: WORKERS }, (_, worker) => work(desk, worker, taken, () => isOver));
  while (taken.size < claims) await desk.world.pass(EVERY_SECONDS * SECOND_MS);
  isOver = true;
  await desk.world.pass(6 * SECOND_MS);
  await Promise.all(workers);
  const runs = await runsOf(desk);
  const ended = runs.filter(({ status }) => status === "success").map((run) => `${run.endpointId} ${run.scheduledFor}`);
  expect([...taken].filter(([, by]) => by.length > 1)).toEqual([]);
  expect([runs.length, new Set(ended)]).toEqual([taken.size, new Set(taken.keys())]);
  return taken;
}

test(`AE-34: ${WORKERS} workers on one store: no run is given away twice, and none is left`, async () => {
  const shares = Array.from({ length: WORKERS }, () => 0);
  for (let done = 0; done < CLAIMS; ) {
    const taken = await play(Math.min(CLAIMS_PER_ROUND, CLAIMS - done));
    for (const [by = 0] of taken.values()) shares[by] = (shares[by] ?? 0) + 1;
    done += taken.size;
    console.log(`AE-34: ${done} claims of ${CLAIMS}, none twice; by worker ${shares.join(", ")}`);
  }
  expect(Math.min(...shares)).toBeGreaterThan(0);
});
