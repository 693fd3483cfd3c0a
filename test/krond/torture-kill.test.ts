/**
 * R1: the daemon is killed at random instants, again and again, while its jobs write to a witness that no two of them
 * can write to for the same period. Then every period is asked after.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { formatInstant, MINUTE_MS } from "../../src/core/time/instant.js";
import type { WhyAnswer } from "../../src/core/why.js";
import { readWhy } from "../../src/krond/why.js";
import { openStateReader } from "../../src/persist/open.js";
import { builtPrograms, jobsOf, krondProcesses, MARK, runProgram } from "../support/krond.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();

/** As many as fit into a minute by default. */
const isLong = process.env["KRON_TEST_LONG"] === "1";
const KILLS = Number(process.env["KRON_TORTURE_KILLS"] ?? (isLong ? 100_000 : Number.POSITIVE_INFINITY));
const BUDGET_MS = Number.isFinite(KILLS) ? Number.POSITIVE_INFINITY : 60_000;
const JOBS = 120;
const LONGEST_LIFE_MS = 1_500;

/** Seeded, so that a run can be told apart from another; what happens in between is up to the machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function configuration(state: string, witness: string): string {
  // Appending one short line is atomic; creating the file exclusively makes a second run of a period fail loudly.
  const command = `set -C; n="$WITNESS/$(echo "$KRON_IDENTITY.$KRON_PERIOD_ID" | tr / _)"; : > "$n" || echo "$n" >> "$WITNESS/duplicates"; sleep 0.3`;
  const jobs = Array.from({ length: JOBS }, (_, index) => ({
    identity: `r1/${index}`,
    schedule: "* * * * *",
    window: { mode: "after", duration: "59s" },
    policy: {
      deadline: index % 3 === 0 ? "0s" : "30s",
      concurrency: (["allow", "forbid", "replace"] as const)[index % 3],
    },
    shell: true,
    command,
    output: { to: "discard" },
  }));
  const env = { [MARK]: state, WITNESS: witness };
  return JSON.stringify({ defaults: { env }, jobs });
}

async function periodsOf(state: string, fromAt: number, toAt: number, now: number): Promise<WhyAnswer[]> {
  const reader = requireOk(await openStateReader(state));
  const answers: WhyAnswer[] = [];
  for (let index = 0; index < JOBS; index += 1) {
    for (let periodAt = fromAt; periodAt < toAt; periodAt += MINUTE_MS) {
      const request = { identity: `r1/${index}`, periodAt, now, ledger: SETTINGS_DEFAULTS.ledger, isAlive: false };
      const answer = await readWhy(reader, request);
      if (answer !== null) answers.push(answer);
    }
  }
  await reader.close();
  return answers;
}

it(
  "R1: SIGKILL at random instants: no period runs twice, and every period has an outcome or a stated reason",
  async () => {
    const root = temporary();
    fs.chmodSync(root, 0o700);
    const [state, witness, config] = ["state", "witness", "jobs.yaml"].map((name) => path.join(root, name)) as [
      string,
      string,
      string,
    ];
    fs.mkdirSync(witness);
    fs.writeFileSync(config, configuration(state, witness), { mode: 0o644 });
    const random = randomFrom(20_261_118);
    const begunAt = Date.now();
    let kills = 0;
    let killedWhileBooting = 0;
    while (kills < KILLS && Date.now() - begunAt < BUDGET_MS) {
      const krond = startKrond(config, state);
      const isBooting = random() < 0.25;
      if (!isBooting) await krond.ready();
      await sleep(random() * LONGEST_LIFE_MS);
      await krond.kill();
      kills += 1;
      if (isBooting) killedWhileBooting += 1;
    }
    const last = startKrond(config, state);
    await last.ready();
    while (jobsOf(state).length > 0) await sleep(100);
    expect(runProgram(programs().krond, ["stop", "--graceful", "--state", state]).status).toBe(0);
    const fromAt = Math.floor(begunAt / MINUTE_MS) * MINUTE_MS;
    const now = Date.now();
    const answers = await periodsOf(state, fromAt, now, now);
    const ran = new Set(fs.readdirSync(witness));
    const kinds = new Map<string, number>();
    const wrong: string[] = [];
    for (const answer of answers) {
      const { identity, period_id, kind, reason, text } = answer;
      const name = reason === null || kind === "down" ? kind : `${kind} (${reason})`;
      kinds.set(name, (kinds.get(name) ?? 0) + 1);
      const hasRun = ran.has(`${identity}.${period_id}`.replace("/", "_"));
      const isAccounted = !["unknown", "waiting", "running"].includes(kind);
      if (!isAccounted) wrong.push(`${identity}@${period_id}: ${text}`);
      if (hasRun && kind !== "executed") wrong.push(`${identity}@${period_id} has run, but: ${text}`);
      const isSureToHaveRun = kind === "executed" && answer.run?.exit_code === 0;
      if (isSureToHaveRun && !hasRun) wrong.push(`${identity}@${period_id} has left no witness: ${text}`);
    }
    const duplicates = ran.has("duplicates") ? fs.readFileSync(path.join(witness, "duplicates"), "utf8") : "";
    const seconds = Math.round((Date.now() - begunAt) / 1_000);
    console.log(
      `R1: ${kills} kills in ${seconds} s (${killedWhileBooting} while booting), ${answers.length} periods from ${formatInstant(fromAt)}, ` +
        `${ran.size} runs: ${[...kinds].map(([kind, count]) => `${count} ${kind}`).join(", ")}; duplicates ${duplicates === "" ? 0 : duplicates}, unaccounted ${wrong.length}`,
    );
    expect(duplicates).toBe("");
    expect(wrong).toEqual([]);
    expect(answers.length).toBeGreaterThanOrEqual(JOBS);
  },
  isLong ? 7 * 24 * 3_600_000 : 180_000,
);
