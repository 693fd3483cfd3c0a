/**
 * R1: daemons are killed at random instants, again and again, while their jobs write to a witness that no two of them can
 * write to for the same period. Then every period is asked after.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";
import { type Account, accountFor, kindsText } from "./account.js";
import { KillCampaign, MOMENTS } from "./kill-campaign.js";
import { randomFrom } from "./random.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();

const isLong = process.env["KRON_TEST_LONG"] === "1";
const KILLS = Number(process.env["KRON_TORTURE_KILLS"] ?? (isLong ? 100_000 : 200));
const SEED = Number(process.env["KRON_TORTURE_SEED"] ?? 20_261_118);
/** A long run begins anew from time to time: what is asked after stays bounded. */
const KILLS_PER_ROUND = 400;
const CAMPAIGNS = ["lmdb", "files", "lmdb", "files"] as const;
const JOBS = 200;
const ROUND_BOUND_MS = 20 * 60_000;

async function stop(state: string): Promise<number | null> {
  const child = spawn(process.execPath, [programs().krond, "stop", "--graceful", "--state", state], {
    stdio: "ignore",
  });
  const [status] = (await once(child, "close")) as [number | null];
  return status;
}

async function play(kills: number, seed: number): Promise<{ campaign: KillCampaign; account: Account }[]> {
  let left = kills;
  const takeKill = (): boolean => {
    left -= 1;
    return left >= 0;
  };
  const played = CAMPAIGNS.map(async (backend, index) => {
    const root = temporary();
    fs.chmodSync(root, 0o700);
    const random = randomFrom(seed + index);
    const campaign = new KillCampaign({ root, backend, jobs: JOBS, random, start: startKrond, stop, takeKill });
    await campaign.run();
    const account = await accountFor(campaign.question());
    fs.rmSync(path.join(root, "state"), { recursive: true });
    return { campaign, account };
  });
  return Promise.all(played);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function report(played: readonly { campaign: KillCampaign; account: Account }[], seconds: number): string {
  const accounts = played.map(({ account }) => account);
  const kills = played.map(({ campaign }) => campaign.kills);
  const daemons = MOMENTS.map((moment) => `${sum(kills.map((it) => it.daemons[moment]))} ${moment}`);
  const total = sum(kills.flatMap((it) => Object.values(it.daemons)));
  const kinds = new Map<string, number>();
  for (const account of accounts) {
    for (const [kind, count] of account.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  const of = (count: (account: Account) => number): number => sum(accounts.map(count));
  return [
    `R1: ${total} kills of daemons in ${seconds} s (${daemons.join(", ")}), and of ${sum(kills.map((it) => it.launchers))} launchers and ${sum(kills.map((it) => it.jobs))} jobs`,
    `R1: ${of((it) => it.periods)} periods, ${of((it) => it.runs)} runs: ${kindsText(kinds)}`,
    `R1: of ${of((it) => it.unconfirmed.count)} starts that nobody could confirm ${of((it) => it.unconfirmed.hadRun)} had run`,
    `R1: duplicates ${of((it) => it.duplicates.length)}, unaccounted ${of((it) => it.unaccounted.length)}, untimely ${of((it) => it.untimely.length)}, lost ${of((it) => it.lost.length)}`,
  ].join("\n");
}

test(
  "R1: SIGKILL at random instants: no period runs twice, and every period has an outcome or a stated reason",
  async () => {
    for (let done = 0, round = 0; done < KILLS; round += 1) {
      const kills = Math.min(KILLS_PER_ROUND, KILLS - done);
      const begunMs = performance.now();
      const played = await play(kills, SEED + 1_000 * round);
      done += kills;
      console.log(report(played, Math.round((performance.now() - begunMs) / 1_000)));
      for (const { account } of played) {
        expect(account.duplicates).toEqual([]);
        expect(account.unaccounted).toEqual([]);
        expect(account.untimely).toEqual([]);
        expect(account.lost).toEqual([]);
        expect(account.periods).toBeGreaterThanOrEqual(JOBS);
      }
    }
  },
  ROUND_BOUND_MS * Math.ceil(KILLS / KILLS_PER_ROUND),
);
