/** Several nodes on one store and one clock, each with its own machine: processes, gates, and a supervisor for each shard. */

import type { Clock } from "../../../src/actors/clock.js";
import { AwayRuns } from "../../../src/actors/cluster/away-runs.js";
import { ClusterClock } from "../../../src/actors/cluster/clock.js";
import { Mailbox } from "../../../src/actors/cluster/mailbox.js";
import { Membership, type MembershipEvent } from "../../../src/actors/cluster/membership.js";
import { OtherNodes } from "../../../src/actors/cluster/other-nodes.js";
import { recordedRuns } from "../../../src/actors/cluster/recovered-runs.js";
import { shardRunner } from "../../../src/actors/cluster/shard-runner.js";
import { ShardedSupervisor } from "../../../src/actors/cluster/sharded-supervisor.js";
import { SimulatedDispatcher } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import { SimulatedHost, type SimulatedLauncher } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import { Phase } from "../../../src/actors/phase.js";
import { RunnerRouter } from "../../../src/actors/runner/router.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { Gates } from "../../../src/actors/supervisor/run/gates.js";
import { createSupervisor } from "../../../src/actors/supervisor/supervisor-actor.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import type { KronError } from "../../../src/core/base/errors/kron-error.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { canonicalDefinitionText } from "../../../src/core/job/schema.js";
import { isHalted } from "../../../src/machines/supervisor-phase.js";
import type { WantedJob } from "../../../src/persist/cluster.js";
import { ANY_POOL } from "../../../src/persist/cluster.js";
import { MemoryCluster, type MemoryClusterOptions, type MemoryMember } from "../../support/memory-cluster.js";
import { START } from "../supervisor/world.js";

export interface Begun {
  readonly node: string;
  readonly identity: string;
  readonly periodId: string;
}

interface Life {
  isAlive: boolean;
}

export class Node {
  readonly events: SupervisorEvent[] = [];
  readonly told: MembershipEvent[] = [];
  readonly phase = Phase.ofSupervisor();
  readonly supervisor: ShardedSupervisor;
  readonly membership: Membership;
  readonly keeper: AwayRuns;
  readonly others: OtherNodes;
  readonly life: Life = { isAlive: true };
  /** Nobody hears or answers anything while it is stopped, as by SIGSTOP. */
  fatal: KronError | null = null;
  #ids = 0;
  readonly #launcher: SimulatedLauncher;

  constructor(
    readonly name: string,
    readonly member: MemoryMember,
    readonly host: SimulatedHost,
    world: SimulatedClock,
    cluster: MemoryCluster,
  ) {
    const clock = clockOf(world, this.life);
    const time = new ClusterClock(clock, {
      at: world.now(),
      sentMs: world.monotonicMs(),
      receivedMs: world.monotonicMs(),
    });
    this.#launcher = host.launcher();
    const dispatcher = new SimulatedDispatcher(world, () => ({ answerMs: 2_000, status: 200 }), {
      sent: () => undefined,
      ended: () => undefined,
    });
    const runner = new RunnerRouter(this.#launcher, dispatcher);
    const { phase } = this;
    const gates = new Gates(runner, () => isHalted(phase.snapshot));
    const onFailure = (error: unknown): void => phase.fail(error);
    const mailbox = new Mailbox({ clock, member, serve: (request) => this.supervisor.serve(request), onFailure });
    const keeper = new AwayRuns({ clock, runner, tell: (identity, end) => this.supervisor.ended(identity, end) });
    const supervisors = () => this.membership.shards.flatMap(({ supervisor }) => supervisor ?? []);
    const others = new OtherNodes({ clock, member, mailbox, supervisors, onFailure });
    this.keeper = keeper;
    this.others = others;
    this.membership = new Membership(
      {
        ...{ member, mailbox, clock, time, onFailure },
        settingsOf: (text) => ({ ...SETTINGS_DEFAULTS, ...JSON.parse(text ?? "{}") }),
        onSettings: () => undefined,
        onTaking: async () => undefined,
        onGivingUp: async () => undefined,
        leave: async () => cluster.drain(name),
        onEvent: (event) => this.told.push(event),
        supervisorOf: (store, own) => {
          const shared = shardRunner(keeper.runner);
          const supervisor = createSupervisor({
            ...{ clock: time, store, term: member.term, runner: shared.runner, gates, phase: own, node: name },
            copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
            bootId: host.bootId,
            versions: { tzVersion: "test", engineVersion: "test" },
            outputDirectory: "/nowhere",
            baseEnv: {},
            newId: () => `${name}-${++this.#ids}`,
            onEvent: (event) => this.events.push(event),
            elsewhere: others,
            onAway: (runs) => keeper.take(runs),
          });
          return { supervisor, letGo: () => shared.letGo() };
        },
      },
      { revision: 0, settings: SETTINGS_DEFAULTS },
    );
    this.supervisor = new ShardedSupervisor({
      ...{ member, mailbox, clock, time, phase, gates, membership: this.membership, store: member.store },
      away: {
        ended: () => keeper.ended(),
        terminate: (id, graceMs) => keeper.terminate(id, graceMs),
        stop: () => this.#stop(),
      },
      onChanged: () => undefined,
      answer: async () => ({ is: "unreadable" }),
      lastLetters: async () => undefined,
    });
    void this.supervisor.failed.then((error) => {
      this.fatal = error;
    });
    void member.lost.then(onFailure);
  }

  async start(): Promise<void> {
    const { killGraceMs, http } = SETTINGS_DEFAULTS;
    const place = { outputDirectory: "/nowhere", baseEnv: {}, killGraceMs, http };
    await this.keeper.recover(await recordedRuns(this.member, this.member.store, place));
    this.others.watch();
    await this.supervisor.start("as-stored", SETTINGS_DEFAULTS);
  }

  #stop(): void {
    this.others.close();
    this.keeper.stop();
  }

  /** As by SIGKILL: its timers never fire again, its gates close, and its heart beats no more. */
  kill(): void {
    this.life.isAlive = false;
    this.#stop();
    this.#launcher.die();
  }

  get shards(): readonly string[] {
    return this.membership.shards.map(({ shard }) => `${shard.pool}/${shard.number}`).sort();
  }

  get jobs(): readonly string[] {
    return [...this.supervisor.identities()].sort();
  }

  toldOf(name: MembershipEvent["event"]): readonly MembershipEvent[] {
    return this.told.filter(({ event }) => event === name);
  }
}

function clockOf(world: SimulatedClock, life: Life): Clock {
  return {
    now: () => world.now(),
    monotonicMs: () => world.monotonicMs(),
    after: (delayMs, callback) => world.after(delayMs, () => (life.isAlive ? callback() : undefined)),
  };
}

export class Nodes {
  readonly clock = new SimulatedClock({ startAt: START });
  readonly cluster: MemoryCluster;
  readonly begun: Begun[] = [];
  readonly nodes: Node[] = [];
  readonly runMs: number | null;

  constructor({ runMs = 10_000, ...options }: MemoryClusterOptions & { readonly runMs?: number | null } = {}) {
    this.cluster = new MemoryCluster(this.clock, { anyShards: 4, ...options });
    this.runMs = runMs;
  }

  want(...jobs: readonly JobDefinition[]): number {
    return this.wantIn(jobs.map((definition) => [definition, ANY_POOL]));
  }

  wantIn(jobs: readonly (readonly [JobDefinition, string])[]): number {
    const wanted = jobs.map(([definition, pool]): WantedJob => {
      return { identity: definition.identity, text: canonicalDefinitionText(definition), pool };
    });
    return this.cluster.want(wanted);
  }

  /** A machine, and its daemon. */
  async start(name: string, pools: readonly string[] = []): Promise<Node> {
    const host = new Witness(
      this.clock,
      () => ({ runMs: this.runMs, exitCode: 0 }),
      ({ env }) => {
        this.begun.push({ node: name, identity: env["KRON_IDENTITY"] ?? "", periodId: env["KRON_PERIOD_ID"] ?? "" });
      },
    );
    return this.#started(name, pools, host);
  }

  /** Another daemon on the machine of one that has ended: what that began goes on there. */
  startOn({ name, host }: Node): Promise<Node> {
    return this.#started(name, [], host);
  }

  async #started(name: string, pools: readonly string[], host: SimulatedHost): Promise<Node> {
    const node = new Node(
      name,
      this.cluster.join(name, { pools, bootId: host.bootId }),
      host,
      this.clock,
      this.cluster,
    );
    this.nodes.push(node);
    const started = node.start();
    await this.until(() => node.membership.shards.every(({ life }) => life === "serving"));
    await started;
    return node;
  }

  /** Time passes, and everything that is due in it is done. */
  async pass(durationMs: number, stepMs = 250): Promise<void> {
    for (let passed = 0; passed < durationMs; passed += stepMs) {
      await this.clock.advanceAsync(Math.min(stepMs, durationMs - passed));
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** What somebody has asked for, while time passes. */
  async during<T>(asked: Promise<T>): Promise<T> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    asked.then(over, over);
    await this.until(() => isOver);
    return asked;
  }

  async until(is: () => boolean, withinMs = 60_000): Promise<void> {
    await this.settle();
    for (let passed = 0; !is(); passed += 20) {
      if (passed > withinMs) throw new Error("it never came to be");
      await this.pass(20, 20);
    }
  }

  /** Runs that began more than once. */
  get twice(): readonly string[] {
    const names = this.begun.map(({ identity, periodId }) => `${identity}@${periodId}`);
    return names.filter((name, at) => names.indexOf(name) !== at);
  }
}

/** Says what begins as it begins. */
class Witness extends SimulatedHost {
  readonly #onBegin: (request: Parameters<SimulatedHost["execute"]>[0]["request"]) => void;

  constructor(
    clock: SimulatedClock,
    behaviour: ConstructorParameters<typeof SimulatedHost>[1],
    onBegin: (request: Parameters<SimulatedHost["execute"]>[0]["request"]) => void,
  ) {
    super(clock, behaviour);
    this.#onBegin = onBegin;
  }

  override execute(run: Parameters<SimulatedHost["execute"]>[0]): void {
    super.execute(run);
    this.#onBegin(run.request);
  }
}
