/**
 * One state directory whose daemon is killed at random instants, again and again: while it starts, while it works, right
 * after a claim has become durable, while it drains; and its launchers and jobs with it.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EpochMs, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { childrenOf, jobsOf, killJobsOf, MARK, type RunningKrond } from "../support/krond.js";
import type { AccountedJob, Question } from "./account.js";
import type { Random } from "./random.js";
import { witnessing } from "./witness.js";

export const MOMENTS = ["boot", "work", "claim", "drain"] as const;
export type Moment = (typeof MOMENTS)[number];

export interface Kills {
  readonly daemons: Record<Moment, number>;
  launchers: number;
  jobs: number;
}

export interface CampaignOptions {
  /** Private to the campaign. */
  readonly root: string;
  readonly backend: "lmdb" | "files";
  readonly jobs: number;
  readonly random: Random;
  readonly start: (config: string, state: string, more: readonly string[]) => RunningKrond;
  /** `krond stop --graceful`; resolves with its exit status. */
  readonly stop: (state: string) => Promise<number | null>;
  /** Takes one kill from what is left; false: there is none. */
  readonly takeKill: () => boolean;
}

interface Span {
  readonly fromAt: EpochMs;
  readonly toAt: EpochMs;
}

const SHORT_LIFE_MS = 600;
/** One life in a dozen is long enough to see late periods through. */
const LONG_LIFE_MS = 5_000;
const LONG_LIFE_CHANCE = 1 / 12;
const LAST_LIFE_MS = 4_000;
/** How long after its readiness, or after a period's second, a loaded machine may take to start it. */
const START_PATIENCE_MS = 3_000;
const JOB_MS = 300;
const LONG_JOBS = 6;
const LONG_JOB_MS = 75_000;

export class KillCampaign {
  readonly kills: Kills = { daemons: { boot: 0, work: 0, claim: 0, drain: 0 }, launchers: 0, jobs: 0 };
  readonly #spans: Span[] = [];
  readonly #state: string;
  readonly #config: string;
  readonly #witness: string;
  readonly #definitions: readonly AccountedJob[];
  readonly #begunAt = Date.now();
  #bootMs = 300;
  #lastAskedAt = 0;
  readonly #options: CampaignOptions;

  constructor(options: CampaignOptions) {
    this.#options = options;
    const { root, jobs } = options;
    this.#state = path.join(root, "state");
    this.#config = path.join(root, "jobs.yaml");
    this.#witness = path.join(root, "witness");
    this.#definitions = Array.from({ length: jobs }, (_, index) => {
      return { identity: `r1-${index}`, deadlineMs: index % 3 === 0 ? 0 : 30 * SECOND_MS };
    });
    fs.mkdirSync(this.#witness);
    fs.writeFileSync(this.#config, this.#configuration(), { mode: 0o644 });
  }

  async run(): Promise<void> {
    while (this.#options.takeKill()) await this.#life();
    await this.#lastLife();
  }

  /** As things stood when the last daemon was told to stop. */
  question(): Question {
    const state = this.#state;
    const witness = this.#witness;
    const jobs = this.#definitions;
    const fromAt = Math.floor(this.#begunAt / MINUTE_MS) * MINUTE_MS;
    return {
      state,
      witness,
      jobs,
      fromAt,
      now: this.#lastAskedAt,
      hadTime: (chosenAt, deadlineMs, endsAt) => this.#hadTime(chosenAt, deadlineMs, endsAt),
    };
  }

  #configuration(): string {
    const jobs = this.#definitions.map(({ identity, deadlineMs }, index) => ({
      identity,
      schedule: "* * * * *",
      window: { mode: "after", duration: "59s" },
      policy: { deadline: `${deadlineMs}ms`, concurrency: (["allow", "forbid", "replace"] as const)[index % 3] },
      shell: true,
      // A few outlast many daemons and their own period.
      command: `${witnessing(this.#witness)}; exec sleep ${(index < LONG_JOBS ? LONG_JOB_MS : JOB_MS) / 1_000}`,
      output: { to: "discard" },
    }));
    return JSON.stringify({ defaults: { env: { [MARK]: this.#state } }, jobs });
  }

  #begin(): RunningKrond {
    return this.#options.start(this.#config, this.#state, ["--store", this.#options.backend]);
  }

  async #life(): Promise<void> {
    const { random } = this.#options;
    const moment = random.pick(MOMENTS);
    const startedMs = performance.now();
    const krond = this.#begin();
    if (moment === "boot") await sleep(random.next() * this.#bootMs * 1.2);
    else {
      await krond.ready();
      this.#bootMs = 0.8 * this.#bootMs + 0.2 * (performance.now() - startedMs);
      const readyAt = Date.now();
      await this.#untilMoment(krond, moment);
      this.#spans.push({ fromAt: readyAt, toAt: Date.now() });
    }
    await krond.kill();
    this.kills.daemons[moment] += 1;
  }

  async #untilMoment(krond: RunningKrond, moment: Exclude<Moment, "boot">): Promise<void> {
    const { random } = this.#options;
    const lifeMs = random.next() < LONG_LIFE_CHANCE ? LONG_LIFE_MS : random.next() * SHORT_LIFE_MS;
    await sleep(lifeMs / 2);
    this.#killSomethingElse(krond);
    if (moment === "claim") {
      // Told once its claim is durable, and before its gate is released.
      const claimed = krond.event("trigger", {}, krond.lines.length).catch(() => undefined);
      await Promise.race([claimed, sleep(SHORT_LIFE_MS)]);
      await sleep(random.next() * 4);
      return;
    }
    await sleep(lifeMs / 2);
    if (moment === "drain") {
      krond.child.kill("SIGTERM");
      await sleep(random.next() * 20);
    }
  }

  #killSomethingElse(krond: RunningKrond): void {
    const { random } = this.#options;
    const dice = random.next();
    const isLauncher = dice < 0.3;
    const victims = isLauncher ? childrenOf(krond.pid) : dice < 0.5 ? jobsOf(this.#state) : [];
    if (victims.length === 0) return;
    try {
      process.kill(random.pick(victims), "SIGKILL");
      if (isLauncher) this.kills.launchers += 1;
      else this.kills.jobs += 1;
    } catch {
      // It ended by itself in between.
    }
  }

  /** Nobody is killed any more but what would run on for too long; every end is seen. */
  async #lastLife(): Promise<void> {
    const krond = this.#begin();
    await krond.ready();
    const readyAt = Date.now();
    await sleep(LAST_LIFE_MS);
    this.#lastAskedAt = Date.now();
    this.#spans.push({ fromAt: readyAt, toAt: this.#lastAskedAt });
    const stopped = this.#options.stop(this.#state);
    await krond.event("draining");
    await sleep(2 * JOB_MS);
    killJobsOf(this.#state);
    const [status, ended] = await Promise.all([stopped, krond.ended]);
    if (status !== 0 || ended !== 0) throw new Error(`the last daemon ended with ${ended}: ${krond.stderr}`);
  }

  /** Some daemon was there for long enough, within the deadline and while the period was the current one (S13). */
  #hadTime(chosenAt: EpochMs, deadlineMs: number, endsAt: EpochMs): boolean {
    return this.#spans.some(({ fromAt, toAt }) => {
      const begin = Math.max(fromAt, chosenAt);
      return begin + START_PATIENCE_MS <= Math.min(toAt, endsAt) && begin <= chosenAt + deadlineMs;
    });
  }
}
