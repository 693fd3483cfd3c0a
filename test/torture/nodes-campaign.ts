/**
 * K3: three real daemons on one database, with real children, and whatever can happen to them: killed, stopped for longer than
 * their leases, cut off in the middle of a commit, slow to reach a server that loses its power or has no connection left,
 * drained, evicted; their wall clocks five seconds off to either side. What runs says so itself, and is compared with what is on record afterwards.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND_MS } from "../../src/core/time/instant.js";
import type { RunningKrond, StartKrond } from "../support/krond.js";
import { Members, SHORT_LEASE_MS } from "../support/member-daemons.js";
import type { PostgresServer } from "../support/postgres.js";
import type { Fault, FaultyProxy } from "../support/postgres-proxy.js";
import type { Random } from "./random.js";

export const DEEDS = ["kill", "freeze", "cut", "reset", "power", "drain", "evict", "slow", "full"] as const;
export type NodeDeed = (typeof DEEDS)[number];

const CUTS: readonly Fault[] = ["before", "within", "unheard", "after"];
const NAMES = ["one", "two", "three"] as const;
/** C11: nothing goes by these. */
const SKEW_MS = [5_000, -5_000, 0] as const;
/** The power fails seldom: everybody suffers. */
const CHANCES: Readonly<Record<NodeDeed, number>> = {
  kill: 5,
  freeze: 3,
  cut: 6,
  reset: 3,
  power: 1,
  drain: 2,
  evict: 2,
  slow: 2,
  full: 1,
};
const START_AGAIN_MS = 500;
const LOOK_MS = 100;
const RUN_SECONDS = 0.2;
const LONG_RUN_SECONDS = 20;
const SETTLED_WITHIN_MS = 90 * SECOND_MS;

export interface NodesOptions {
  readonly root: string;
  readonly database: string;
  readonly server: PostgresServer;
  readonly proxies: readonly FaultyProxy[];
  readonly programs: ConstructorParameters<typeof Members>[2];
  readonly start: StartKrond;
  readonly jobs: number;
  readonly random: Random;
}

interface NodeLife {
  readonly name: string;
  readonly members: Members;
  daemon: RunningKrond | null;
  isStill: boolean;
}

export class NodesCampaign {
  readonly deeds = new Map<NodeDeed, number>();
  /** How daemons ended, by exit status or signal. */
  readonly ends = new Map<string, number>();
  /** From a SIGKILL until all that the dead node had is looked after again. */
  readonly takeoverMs: number[] = [];
  /** By the server's clock: from when to when the jobs were wanted. */
  wanted = { fromAt: 0, untilAt: 0 };
  readonly #options: NodesOptions;
  readonly #nodes: readonly NodeLife[];
  readonly #direct: Members;
  readonly #watching: Promise<unknown>[] = [];
  #isOver = false;

  constructor(options: NodesOptions) {
    this.#options = options;
    const { programs, root, start } = options;
    const over = (directory: string, skewMs: number): Members => {
      const address = `postgres:///${options.database}?host=${directory}&user=krond`;
      const skewed: StartKrond = (config, state, more, added) =>
        start(config, state, more, { ...added, ...skew(skewMs) });
      return new Members(root, address, programs, skewed, SHORT_LEASE_MS);
    };
    this.#direct = over(options.server.root, 0);
    this.#nodes = NAMES.map((name, index) => {
      const directory = options.proxies[index]?.directory ?? options.server.root;
      return { name, members: over(directory, SKEW_MS[index] ?? 0), daemon: null, isStill: false };
    });
  }

  /** A line for each run that began: identity, period, attempt. */
  get witness(): readonly string[] {
    return this.#direct.seen;
  }

  get states(): readonly string[] {
    return NAMES.map((name) => this.#direct.stateOf(name));
  }

  async run(mayGoOn: () => boolean): Promise<void> {
    const { random } = this.#options;
    const lives = this.#nodes.map((node) => this.#live(node));
    await this.#allReady();
    await this.#direct.want(this.#jobs());
    const fromAt = await this.#serverNow();
    while (mayGoOn()) {
      await sleep(200 + random.next() * 1_500);
      await this.#do(this.#drawn());
    }
    await this.#calm();
    this.wanted = { fromAt, untilAt: this.wanted.untilAt };
    this.#isOver = true;
    for (const { daemon } of this.#nodes) daemon?.child.kill("SIGTERM");
    await Promise.all([...lives, ...this.#watching]);
  }

  /** Everything in one append: lines of runs that begin together do not mix. */
  #jobs() {
    const say = 'echo "$KRON_IDENTITY $KRON_PERIOD_ID $KRON_ATTEMPT_ID" >> "$WITNESS"';
    return Array.from({ length: this.#options.jobs }, (_, index) => {
      const concurrency = (["forbid", "allow", "replace"] as const)[index % 3];
      const seconds = index % 10 === 9 ? LONG_RUN_SECONDS : RUN_SECONDS;
      const when = isMinutely(index)
        ? {
            schedule: "* * * * *",
            window: { mode: "after", duration: "59s" },
            policy: { concurrency, deadline: "30s" },
          }
        : { schedule: `@every ${2 + (index % 3)}s` };
      const { schedule, ...more } = when;
      return this.#direct.job(`k3-${index}`, schedule, `${say}; exec sleep ${seconds}`, {
        ...more,
        timeout: "30s",
        output: { to: "discard" },
      });
    });
  }

  #drawn(): NodeDeed {
    const { random } = this.#options;
    return random.pick(DEEDS.flatMap((deed) => Array.from({ length: CHANCES[deed] }, () => deed)));
  }

  /** A daemon that has ended is started again; its name is free when the lease of its life before is over. */
  async #live(node: NodeLife): Promise<void> {
    while (!this.#isOver) {
      const { daemon } = node.members.start(node.name);
      node.daemon = daemon;
      const ended = `${await daemon.ended}`;
      node.daemon = null;
      this.ends.set(ended, (this.ends.get(ended) ?? 0) + 1);
      await sleep(START_AGAIN_MS);
    }
  }

  async #do(deed: NodeDeed): Promise<void> {
    const { random, proxies, server } = this.#options;
    const index = Math.floor(random.next() * this.#nodes.length);
    const [node, proxy] = [this.#nodes[index], proxies[index]];
    if (node === undefined || proxy === undefined || node.daemon === null || node.isStill) return;
    this.deeds.set(deed, (this.deeds.get(deed) ?? 0) + 1);
    switch (deed) {
      case "kill":
        this.#watching.push(this.#killed(node, node.daemon));
        return;
      case "freeze":
        this.#watching.push(this.#frozen(node, node.daemon, SHORT_LEASE_MS * (0.5 + 2 * random.next())));
        return;
      case "cut":
        return cutNext(proxy, random.pick(CUTS));
      case "reset":
        return proxy.reset();
      case "power":
        await server.stop("SIGQUIT");
        await sleep(random.next() * 2_000);
        return server.start();
      case "drain":
        this.#watching.push(this.#drained(node));
        return;
      case "evict":
        await this.#direct.admin.evict(node.name);
        return;
      case "slow":
        this.#watching.push(slowed(proxy, 50 + 400 * random.next(), SHORT_LEASE_MS * random.next()));
        return;
      case "full":
        return this.#full(proxy, SHORT_LEASE_MS * (0.2 + random.next()));
    }
  }

  async #killed(node: NodeLife, daemon: RunningKrond): Promise<void> {
    const session = await this.#sessionOf(node.name);
    const fromMs = performance.now();
    daemon.child.kill("SIGKILL");
    if (session === null) return;
    while (!this.#isOver) {
      const nodes = await this.#direct.admin.nodes().catch(() => null);
      const living = nodes?.ok === true ? nodes.value : [];
      const held = living.filter((it) => it.session !== session).flatMap(({ shards }) => shards);
      if (held.filter(({ pool }) => pool === "any").length === 64) break;
      await sleep(LOOK_MS);
    }
    if (!this.#isOver) this.takeoverMs.push(performance.now() - fromMs);
  }

  async #sessionOf(name: string): Promise<string | null> {
    const nodes = await this.#direct.admin.nodes().catch(() => null);
    return nodes?.ok === true ? (nodes.value.find(({ node }) => node === name)?.session ?? null) : null;
  }

  async #frozen(node: NodeLife, { child }: RunningKrond, forMs: number): Promise<void> {
    node.isStill = true;
    child.kill("SIGSTOP");
    await sleep(forMs);
    child.kill("SIGCONT");
    node.isStill = false;
  }

  /** K10: others have all connections that there are, when those of one node break. */
  async #full(proxy: FaultyProxy, forMs: number): Promise<void> {
    const { server } = this.#options;
    await server.admin("alter role krond connection limit 0");
    proxy.reset();
    await sleep(forMs);
    await server.admin("alter role krond connection limit -1");
  }

  async #drained({ name }: NodeLife): Promise<void> {
    const { admin } = this.#direct;
    await admin.drain(name, true);
    await sleep(SHORT_LEASE_MS);
    await admin.drain(name, false);
  }

  /** Everybody is there, nothing is wanted any more, and what runs has ended, on record too. */
  async #calm(): Promise<void> {
    for (const proxy of this.#options.proxies) {
      proxy.faultOf = () => null;
      proxy.delayMs = 0;
    }
    await Promise.all(this.#nodes.map(async (node) => until(async () => !node.isStill)));
    await this.#allReady();
    const untilAt = await this.#serverNow();
    await until(async () => (await this.#direct.want([]).catch(() => null)) !== null);
    this.wanted = { fromAt: 0, untilAt };
    await until(async () => (await this.openRuns()).length === 0);
  }

  async #allReady(): Promise<void> {
    await until(async () => {
      const nodes = await this.#direct.admin.nodes().catch(() => null);
      return nodes?.ok === true && nodes.value.length === NAMES.length;
    });
  }

  /** Those that have periods. */
  get minutely(): readonly string[] {
    return Array.from({ length: this.#options.jobs }, (_, index) => index)
      .filter(isMinutely)
      .map((index) => `k3-${index}`);
  }

  get address(): string {
    return this.#options.server.address(this.#options.database);
  }

  async #serverNow(): Promise<number> {
    const [row] = await this.#options.server.admin("select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
    return Math.floor(Number(row?.["ms"]));
  }

  /** Documents that say that something runs. */
  async openRuns(): Promise<readonly unknown[]> {
    const text = `select text from kron.document where text like '%"ActiveExecution"%'`;
    return this.#options.server.admin(text, this.#options.database);
  }
}

function isMinutely(index: number): boolean {
  return index % 4 === 0;
}

/** The next commit that goes through is spoilt, and no other. */
function cutNext(proxy: FaultyProxy, fault: Fault): void {
  let isDone = false;
  proxy.faultOf = () => {
    if (isDone) return null;
    isDone = true;
    return fault;
  };
}

/** Everything that the node says takes so long. */
async function slowed(proxy: FaultyProxy, delayMs: number, forMs: number): Promise<void> {
  proxy.delayMs = delayMs;
  await sleep(forMs);
  proxy.delayMs = 0;
}

function skew(skewMs: number): Record<string, string> {
  const file = path.resolve(import.meta.dirname, "../support/skewed-clock.mjs");
  if (!fs.existsSync(file)) throw new Error(`no ${file}`);
  return skewMs === 0 ? {} : { NODE_OPTIONS: `--import=file://${file}`, KRON_TEST_SKEW_MS: String(skewMs) };
}

async function until(is: () => Promise<boolean>): Promise<void> {
  const fromMs = performance.now();
  while (!(await is())) {
    if (performance.now() - fromMs > SETTLED_WITHIN_MS) throw new Error(`it does not come to be: ${is}`);
    await sleep(LOOK_MS);
  }
}
