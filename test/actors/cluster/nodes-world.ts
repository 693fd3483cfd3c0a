/**
 * Several machines on one store: each with its own processes and its own daemon, which has a session for as long as it says
 * that it lives, and looks after all jobs while the one shard there is lies with it. What a database does for real nodes is
 * done here by hand: a session that has ended commits nothing, a claim is taken once, nothing begins after a lease. Each can be
 * left out, to see what it is good for.
 */
import type { Clock } from "../../../src/actors/clock.js";
import { AwayRuns } from "../../../src/actors/cluster/away-runs.js";
import { runsOfNode } from "../../../src/actors/cluster/recovered-runs.js";
import type { RequestArm } from "../../../src/actors/dispatcher/port.js";
import { type SimulatedAnswer, SimulatedDispatcher } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import {
  type SimulatedBehaviour,
  SimulatedHost,
  type SimulatedLauncher,
} from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import type { Runner, Termination } from "../../../src/actors/runner/port.js";
import { RunnerRouter } from "../../../src/actors/runner/router.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import type { Supervisor, SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import type { AwayEnd, EndAnswer } from "../../../src/actors/supervisor/run/away.js";
import { createSupervisor } from "../../../src/actors/supervisor/supervisor-actor.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { activeStates, type StateDocument } from "../../../src/core/state/document.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { type EpochMs, SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock, type LockTerm } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";
import { Faults } from "../supervisor/faults.js";
import { type Begun, START } from "../supervisor/world.js";

export interface NodesOptions {
  readonly jobs: readonly JobDefinition[];
  readonly behaviour?: (request: ProcessArm) => Partial<SimulatedBehaviour>;
  readonly answer?: (request: RequestArm) => Partial<SimulatedAnswer>;
  /** C2; without it a session that has ended goes on writing. */
  readonly isFenced?: boolean;
  /** C5; without it what is claimed is not looked for. */
  readonly hasClaims?: boolean;
  /** C8; without it what was stopped before GO begins whenever it goes on. */
  readonly isLeased?: boolean;
}

export interface BegunOn extends Begun {
  readonly node: string;
}

export const LEASE_MS = 10 * SECOND_MS;
/** Turns of the loop in which everything that begins in one second comes to rest. */
const TURNS = 60;
const PLACE = { outputDirectory: "/nowhere", baseEnv: {}, killGraceMs: 10 * SECOND_MS, http: SETTINGS_DEFAULTS.http };

export class Nodes {
  readonly clock = new SimulatedClock({ startAt: START });
  readonly disk = new MemoryDisk();
  readonly begun: BegunOn[] = [];
  readonly events: (SupervisorEvent & { readonly node: string })[] = [];
  /** Requests that were sent and not answered. */
  readonly inFlight = new Set<string>();
  /** What nodes have said of ends, and what they were answered. */
  readonly told: { readonly from: string; readonly attemptId: string; readonly answer: EndAnswer }[] = [];
  readonly options: NodesOptions;
  readonly nodes: readonly Node[];
  /** With whom the shard lies; null: with nobody. */
  holder: Node | null = null;
  /** What is wanted is in force. */
  isSettled = false;
  /** Since when a node has had no session. */
  readonly gone = new Map<string, EpochMs>();
  readonly forgotten = new Set<string>();
  /** Where the letter lies that is answered only when somebody says so. */
  isDeaf: (node: Node) => boolean = () => false;

  constructor(names: readonly string[], options: NodesOptions) {
    this.options = options;
    this.nodes = names.map((name) => new Node(name, this));
  }

  node(name: string): Node {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`no node ${name}`);
    return found;
  }

  get holding(): Node {
    if (this.holder === null) throw new Error("nobody holds the shard");
    return this.holder;
  }

  /** A second passes: leases are renewed or run out, news of nodes is told, and what is free is taken. */
  async second(): Promise<void> {
    this.clock.advance(SECOND_MS);
    await this.rest();
    for (const node of this.nodes) node.renew();
    for (const node of this.nodes) if (node.session !== null && node.expiresAt < this.clock.now()) this.#expire(node);
    await this.rest();
    for (const node of this.nodes) node.endIfLost();
    await this.#tellNews();
    const next = this.nodes.find((node) => node.mayHold);
    if (this.holder === null && next !== undefined) await next.hold();
    await this.rest();
  }

  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) await this.second();
  }

  /** The shard goes from one node to another, which has waited for it. */
  async move(to: string): Promise<void> {
    await this.holder?.giveUp();
    await this.rest();
    const heir = this.node(to);
    if (this.holder === null && heir.mayHold) await heir.hold();
  }

  async rest(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async tell(from: Node, identity: string, end: AwayEnd): Promise<EndAnswer> {
    const { holder } = this;
    const supervisor = holder?.supervisor ?? null;
    const answer =
      holder === null || supervisor === null || this.isDeaf(holder)
        ? "unknown"
        : await holder.answers(supervisor.ended(identity, end));
    this.told.push({ from: from.name, attemptId: end.attemptId, answer: answer ?? "unknown" });
    return answer ?? "unknown";
  }

  async terminate(name: string, attemptId: string, graceMs: number): Promise<Termination> {
    const node = this.node(name);
    const { keeper } = node;
    const ended =
      keeper === null || this.isDeaf(node) ? null : await node.answers(keeper.terminate(attemptId, graceMs));
    return ended ?? { survivors: [1], wasKilled: false };
  }

  document(identity: string): StateDocument {
    const key = documentKey(identity);
    return requireOk(parseDocument(this.disk.documents.get(key)?.text ?? "", key));
  }

  *documents(): Generator<StateDocument> {
    for (const { identity } of this.options.jobs) {
      if (this.disk.documents.has(documentKey(identity))) yield this.document(identity);
    }
  }

  starts(identity: string): string[] {
    const ours = this.begun.filter((begun) => begun.identity === identity);
    return ours.map(({ at, node }) => `${new Date(at).toISOString().slice(11, 19)} ${node}`);
  }

  noteBegin(node: Node, attemptId: string, identity: string, periodId: string): void {
    const runs = activeStates(this.document(identity));
    const isOnRecord = runs.some(({ AttemptID }) => AttemptID === attemptId);
    const { bootId } = node.host;
    this.begun.push({ node: node.name, attemptId, identity, periodId, at: this.clock.now(), bootId, isOnRecord });
  }

  #expire(node: Node): void {
    node.session = null;
    this.gone.set(node.name, this.clock.now());
    if (this.holder === node) this.holder = null;
  }

  async #tellNews(): Promise<void> {
    const supervisor = this.holder?.supervisor ?? null;
    if (supervisor === null || this.holder?.isStill === true) return;
    for (const name of new Set(supervisor.elsewhere().map(({ node }) => node))) {
      const node = this.node(name);
      const sinceAt = this.gone.get(name);
      if (this.forgotten.has(name)) void supervisor.hearOfNode(name, { kind: "forgotten" });
      else if (node.session !== null) void supervisor.hearOfNode(name, { kind: "back", bootId: node.host.bootId });
      else if (sinceAt !== undefined) void supervisor.hearOfNode(name, { kind: "gone", sinceAt });
    }
  }
}

/** A machine, and the daemon that lives on it. */
export class Node {
  readonly name: string;
  readonly host: SimulatedHost;
  readonly faults: Faults;
  session: object | null = null;
  expiresAt = 0;
  supervisor: Supervisor | null = null;
  keeper: AwayRuns | null = null;
  /** It takes the shard when that is free. */
  isWilling = true;
  readonly #world: Nodes;
  #life: Life | null = null;
  #still: { readonly over: Promise<void>; readonly end: () => void } | null = null;
  #ids = 0;

  constructor(name: string, world: Nodes) {
    this.name = name;
    this.#world = world;
    const behaviourOf = (request: ProcessArm): SimulatedBehaviour => {
      return { runMs: 10_000, exitCode: 0, ...world.options.behaviour?.(request) };
    };
    this.host = new SimulatedHost(world.clock, behaviourOf, {
      executed: ({ attemptId, env }) => {
        world.noteBegin(this, attemptId, env["KRON_IDENTITY"] ?? "", env["KRON_PERIOD_ID"] ?? "");
      },
      ended: () => undefined,
    });
    this.faults = new Faults(() => ({
      disk: world.disk,
      kill: () => this.kill(),
      freeze: () => this.freeze(),
      stillness: () => this.#still?.over ?? null,
    }));
  }

  get isRunning(): boolean {
    return this.#life !== null;
  }

  get isStill(): boolean {
    return this.#still !== null;
  }

  get mayHold(): boolean {
    return this.isWilling && this.session !== null && this.#still === null && this.#life?.supervisor === null;
  }

  /** The daemon starts, has a session, and finds what it began in an earlier life. */
  async join(): Promise<void> {
    const { clock, disk } = this.#world;
    const session = {};
    const term = requireOk(acquireMemoryLock(session));
    const launcher = this.host.launcher();
    const dispatcher = this.#dispatcher();
    let die = (): void => {};
    const died = new Promise<null>((resolve) => {
      die = () => resolve(null);
    });
    const life: Life = { isAlive: true, term, launcher, dispatcher, died, die, supervisor: null };
    this.#life = life;
    this.session = session;
    this.expiresAt = clock.now() + LEASE_MS;
    this.#world.gone.delete(this.name);
    const ports: SupervisorPorts = {
      clock: this.#clockOf(life),
      store: requireOk(openMemoryStore(term, this.#seenBy(session, disk))),
      term,
      runner: this.#withinLease(new RunnerRouter(launcher, dispatcher)),
      copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
      bootId: this.host.bootId,
      node: this.name,
      versions: { tzVersion: "test", engineVersion: "test" },
      outputDirectory: "/nowhere",
      baseEnv: { PATH: "/usr/bin:/bin" },
      newId: () => `${this.name}-${++this.#ids}`,
      onEvent: (event) => this.#world.events.push({ ...event, node: this.name }),
      elsewhere: {
        terminate: (node, _identity, attemptId, graceMs) => this.#world.terminate(node, attemptId, graceMs),
      },
    };
    const broken = this.faults.between(ports);
    const at = this.faults.passage;
    const keeper = new AwayRuns({
      clock: broken.clock,
      runner: broken.runner,
      tell: (identity, end) => at("tell", () => this.#world.tell(this, identity, end)),
    });
    this.keeper = keeper;
    life.ports = { ...broken, runner: keeper.runner, onAway: (runs) => keeper.take(runs) };
    const runs = [...this.#world.documents()].flatMap((document) => {
      const definition = this.#world.options.jobs.find(({ identity }) => identity === document.Identity) ?? null;
      return runsOfNode(document, definition, this.name, PLACE);
    });
    await this.#calmly(keeper.recover(runs));
  }

  /** The shard is this node's; a supervisor takes it up. */
  async hold(): Promise<void> {
    const life = this.#life;
    if (life?.ports === undefined) return;
    this.#world.holder = this;
    const supervisor = createSupervisor(life.ports);
    life.supervisor = supervisor;
    void supervisor.failed.then(() => this.#endOf(life));
    this.supervisor = supervisor;
    await this.#calmly(this.#takeUp(supervisor).catch(() => this.#endOf(life)));
  }

  async #takeUp(supervisor: Supervisor): Promise<void> {
    const world = this.#world;
    await supervisor.start("as-stored", SETTINGS_DEFAULTS);
    if (world.isSettled) return;
    await supervisor.reload(world.options.jobs, SETTINGS_DEFAULTS, []);
    world.isSettled = true;
  }

  async giveUp(): Promise<void> {
    const { supervisor } = this;
    const life = this.#life;
    if (supervisor === null || life === null) return;
    const stopped = supervisor.stop({ graceful: false }).then(() => {
      if (!life.isAlive) return;
      this.supervisor = null;
      life.supervisor = null;
      if (this.#world.holder === this) this.#world.holder = null;
    });
    await this.#calmly(stopped.catch(() => undefined));
  }

  /** As by SIGKILL: its processes go on, its session lasts until its lease is over. */
  kill(): void {
    const life = this.#life;
    if (life === null) return;
    life.isAlive = false;
    life.die();
    this.keeper?.stop();
    life.launcher.die();
    life.dispatcher.die();
    void life.term.release();
    this.#life = null;
    this.supervisor = null;
    this.keeper = null;
    this.thaw();
  }

  reboot(): void {
    this.kill();
    this.host.reboot();
  }

  /** As by SIGSTOP. */
  freeze(): void {
    if (this.#life === null || this.#still !== null) return;
    let end = (): void => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#still = { over, end };
  }

  thaw(): void {
    const still = this.#still;
    this.#still = null;
    still?.end();
  }

  renew(): void {
    if (this.#life !== null && this.#still === null && this.session !== null) {
      this.expiresAt = this.#world.clock.now() + LEASE_MS;
    }
  }

  /** C3: whoever finds that it has no session any more ends; what it could do until then it has done. */
  endIfLost(): void {
    if (this.session === null && this.#still === null) this.kill();
  }

  /** null: it will never answer. */
  async answers<T>(asked: Promise<T>): Promise<T | null> {
    const life = this.#life;
    if (life === null) return null;
    await this.#still?.over;
    return Promise.race([asked, life.died]);
  }

  #endOf(life: Life): void {
    if (this.#life === life) this.kill();
  }

  /** Whatever does not come to an end in this second goes on by itself. */
  async #calmly(done: Promise<unknown>): Promise<void> {
    await Promise.race([done, this.#world.rest()]);
  }

  #seenBy(session: object, disk: MemoryDisk): MemoryDisk {
    const { isFenced = true, hasClaims = true } = this.#world.options;
    const isOver = (): boolean => isFenced && this.session !== session;
    return new Proxy(disk, {
      get: (target, name) => {
        if (name === "hasRecord" && !hasClaims) return () => false;
        const faults: MemoryDisk["faults"] = (commit, group) =>
          isOver() ? { kind: "fail", errno: "EIO", isDurable: false } : target.faults(commit, group);
        if (name === "faults") return faults;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  /** C8: nothing begins after the lease, whatever was stopped in between. */
  #withinLease(inner: Runner): Runner {
    const { isLeased = true } = this.#world.options;
    if (!isLeased) return inner;
    const go: Runner["go"] = (armed, latestAt) => inner.go(armed, Math.min(latestAt, this.expiresAt));
    return new Proxy(inner, {
      get: (target, name) => {
        if (name === "go") return go;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  #dispatcher(): SimulatedDispatcher {
    const world = this.#world;
    const answerOf = (request: RequestArm): SimulatedAnswer => {
      return { answerMs: 2_000, status: 200, ...world.options.answer?.(request) };
    };
    return new SimulatedDispatcher(world.clock, answerOf, {
      sent: ({ attemptId, identity, periodId }) => {
        world.inFlight.add(attemptId);
        world.noteBegin(this, attemptId, identity, periodId);
      },
      ended: ({ attemptId }) => void world.inFlight.delete(attemptId),
    });
  }

  /** Of a daemon that stands still no timer fires; it fires when it goes on. */
  #clockOf(life: Life): Clock {
    const { clock } = this.#world;
    const fire = async (callback: () => void): Promise<void> => {
      while (this.#still !== null) await this.#still.over;
      if (life.isAlive) callback();
    };
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, callback) => {
        let isCancelled = false;
        const timer = clock.after(delayMs, () => {
          if (this.#still === null) {
            if (life.isAlive) callback();
          } else void fire(() => (isCancelled ? undefined : callback()));
        });
        return {
          cancel: () => {
            isCancelled = true;
            timer.cancel();
          },
        };
      },
    };
  }
}

interface Life {
  isAlive: boolean;
  readonly term: LockTerm;
  readonly launcher: SimulatedLauncher;
  readonly dispatcher: SimulatedDispatcher;
  readonly died: Promise<null>;
  readonly die: () => void;
  supervisor: Supervisor | null;
  ports?: SupervisorPorts;
}
