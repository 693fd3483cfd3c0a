/**
 * A tenant who makes, changes, hints, runs and deletes endpoints without pause, over a daemon that is killed at any moment:
 * while it starts, while it works, as a request arrives, right after an answer or an acknowledgement.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ControlClient, type ControlError } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { EndpointAnswer, JobAnswer, RunAnswer } from "../../src/operations/endpoints/shapes.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import type { RunningKrond } from "../support/krond.js";
import type { Random } from "./random.js";

const MOMENTS = ["boot", "work", "request", "answer", "acknowledged"] as const;
type Moment = (typeof MOMENTS)[number];

const TENANT = "acme";
const GONE = "gone";
const MOST_ENDPOINTS = 30;
const ASKED_AT_ONCE = 4;
/** Long enough for a few changes and runs: what a kill meets has begun within it. */
const LIFE_MS = 300;

interface Known {
  readonly name: string;
  /** null: nobody has told it. */
  id: string | null;
  /** What it may be: more than one where a change was asked for and nobody has answered. */
  possible: Set<string>;
  isAsked: boolean;
}

export interface EndpointCampaignOptions {
  readonly start: () => RunningKrond;
  readonly state: string;
  readonly url: string;
  readonly random: Random;
}

export class EndpointCampaign {
  readonly kills: Record<Moment, number> = { boot: 0, work: 0, request: 0, answer: 0, acknowledged: 0 };
  /** What was promised and is not so. */
  readonly broken: string[] = [];
  asked = 0;
  readonly #options: EndpointCampaignOptions;
  readonly #known = new Map<string, Known>();
  #jobId = "";
  #count = 0;
  #bootMs = 500;
  #strike: ((moment: Moment) => void) | null = null;

  constructor(options: EndpointCampaignOptions) {
    this.#options = options;
  }

  /** The server says what it sees: some of the kills come then. */
  saw(moment: "request" | "answer"): void {
    this.#strike?.(moment);
  }

  async life(): Promise<void> {
    const moment = this.#options.random.pick(MOMENTS);
    const krond = this.#options.start();
    const begunMs = performance.now();
    if (moment === "boot") {
      await sleep(this.#options.random.next() * this.#bootMs);
      this.kills.boot += 1;
    } else {
      await krond.ready();
      this.#bootMs = performance.now() - begunMs;
      const hasStruck = await this.#work(krond, moment);
      this.kills[hasStruck ? moment : "work"] += 1;
    }
    await krond.kill("SIGKILL");
  }

  /** All of them paused, and every run that there was. */
  async account(): Promise<readonly RunAnswer[]> {
    const krond = this.#options.start();
    await krond.ready();
    const client = await this.#connect();
    await this.#compare(client);
    await ask(client, { op: "jobs.pause", jobId: this.#jobId });
    await this.#allEnded(client);
    const runs: RunAnswer[] = [];
    let cursor: string | null = null;
    do {
      const page: { rows: RunAnswer[]; next: string | null } = await ask(client, {
        op: "runs.list",
        cursor,
        limit: 200,
      });
      runs.push(...page.rows);
      cursor = page.next;
    } while (cursor !== null);
    client.close();
    await krond.kill("SIGTERM");
    return runs;
  }

  /** What had begun before the pause goes on; the list is of what has ended. */
  async #allEnded(client: ControlClient): Promise<void> {
    for (const { id } of this.#known.values()) {
      if (id === null) continue;
      const asked = {
        op: "endpoints.runs" as const,
        endpointId: id,
        cursor: null,
        limit: 1,
        status: ["running" as const],
      };
      const open = () => ask<{ rows: RunAnswer[] }>(client, asked).catch(noneIfGone);
      while ((await open()).rows.length > 0) await sleep(20);
    }
  }

  /** Whether the kill came at the moment, and not because it did not come. */
  async #work(krond: RunningKrond, moment: Moment): Promise<boolean> {
    const client = await this.#connect();
    await this.#compare(client);
    let isOver = false;
    let hasStruck = false;
    const over = new Promise<void>((resolve) => {
      // Where everything takes longer, so does a life.
      const lifeMs = Math.max(LIFE_MS, this.#bootMs / 2);
      const timer = setTimeout(resolve, lifeMs * (0.2 + this.#options.random.next()));
      this.#strike = (seen) => {
        if (seen !== moment || this.#options.random.next() > 0.3) return;
        clearTimeout(timer);
        hasStruck = true;
        krond.child.kill("SIGKILL");
        resolve();
      };
    }).then(() => {
      isOver = true;
      this.#strike = null;
    });
    const tenants = Array.from({ length: ASKED_AT_ONCE }, async () => {
      while (!isOver) await this.#oneChange(client).catch(lostWithTheDaemon);
    });
    await over;
    await krond.kill("SIGKILL");
    await Promise.all(tenants);
    for (const known of this.#known.values()) known.isAsked = false;
    client.close();
    return hasStruck;
  }

  /** What was acknowledged is there, and nothing that nobody asked for. */
  async #compare(client: ControlClient): Promise<void> {
    this.#jobId ||= await jobOf(client);
    const page = await ask<{ rows: EndpointAnswer[] }>(client, {
      op: "endpoints.list",
      cursor: null,
      limit: 500,
      jobId: this.#jobId,
    });
    const found = new Map(page.rows.map((row) => [row.name, row]));
    for (const known of this.#known.values()) {
      const row = found.get(known.name);
      const is = row?.description ?? GONE;
      if (!known.possible.has(is)) this.broken.push(`${known.name} is ${is}, not ${[...known.possible].join(" or ")}`);
      known.possible = new Set([is]);
      known.id = row?.id ?? known.id;
    }
    for (const name of found.keys()) if (!this.#known.has(name)) this.broken.push(`${name}: nobody has made it`);
  }

  async #oneChange(client: ControlClient): Promise<void> {
    const { random } = this.#options;
    const free = [...this.#known.values()].filter(({ possible, isAsked }) => !isAsked && !possible.has(GONE));
    if (free.length < MOST_ENDPOINTS && random.next() < 0.3) return this.#create(client);
    const known = free.length === 0 ? null : random.pick(free);
    if (known === null || known.id === null) return this.#create(client);
    const { id: endpointId } = known;
    const wishes: readonly (() => Promise<void>)[] = [
      () => this.#change(client, known, version(++this.#count)),
      () => this.#change(client, known, version(++this.#count)),
      () => this.#command(client, known, { op: "endpoints.run", endpointId }),
      () =>
        this.#command(client, known, { op: "endpoints.hint_interval", endpointId, intervalMs: 1_000, ttlMinutes: 1 }),
      () => this.#command(client, known, { op: "endpoints.clear_hints", endpointId }),
      () => this.#delete(client, known),
    ];
    await random.pick(wishes)();
  }

  async #create(client: ControlClient): Promise<void> {
    const [name, description] = [`e${++this.#count}`, version(this.#count)];
    const known: Known = { name, id: null, possible: new Set([GONE, description]), isAsked: true };
    this.#known.set(name, known);
    const { url } = this.#options;
    const wish = { jobId: this.#jobId, name, description, url, baselineIntervalMs: 1_000 };
    const made = await this.#asking(client, known, { op: "endpoints.create", ...wish });
    known.id = (made as EndpointAnswer).id;
    known.possible = new Set([description]);
  }

  async #change(client: ControlClient, known: Known, description: string): Promise<void> {
    known.possible.add(description);
    const endpointId = known.id ?? "";
    const baselineIntervalMs = 1_000 + this.#options.random.below(3) * 500;
    await this.#asking(client, known, { op: "endpoints.update", endpointId, description, baselineIntervalMs });
    known.possible = new Set([description]);
  }

  async #delete(client: ControlClient, known: Known): Promise<void> {
    known.possible.add(GONE);
    await this.#asking(client, known, { op: "endpoints.delete", endpointId: known.id ?? "" });
    known.possible = new Set([GONE]);
  }

  /** It may be refused: an endpoint runs once at a time. */
  async #command(client: ControlClient, known: Known, request: OperationRequest): Promise<void> {
    await this.#asking(client, known, request).catch((error: ControlError) => {
      if (error.kind !== "refused") throw error;
    });
  }

  async #asking(client: ControlClient, known: Known, request: OperationRequest): Promise<unknown> {
    known.isAsked = true;
    const answer = await ask(client, request).finally(() => {
      known.isAsked = false;
    });
    this.asked += 1;
    this.#strike?.("acknowledged");
    return answer;
  }

  async #connect(): Promise<ControlClient> {
    const client = await ControlClient.connect(socketPathIn(this.#options.state));
    if (client === null) throw new Error("no daemon");
    return client;
  }
}

function version(count: number): string {
  return `v${count}`;
}

async function ask<T>(client: ControlClient, request: OperationRequest): Promise<T> {
  return (await client.ask(request, null, TENANT)) as T;
}

async function jobOf(client: ControlClient): Promise<string> {
  const { rows } = await ask<{ rows: JobAnswer[] }>(client, { op: "jobs.list", cursor: null, limit: 9 });
  return rows[0]?.id ?? (await ask<JobAnswer>(client, { op: "jobs.create", name: "all" })).id;
}

function lostWithTheDaemon(error: ControlError): void {
  if (error.kind !== "no-answer") throw error;
}

function noneIfGone(error: ControlError): { rows: RunAnswer[] } {
  if (error.kind === "not-found") return { rows: [] };
  throw error;
}
