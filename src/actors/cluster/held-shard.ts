/**
 * A shard in the hands of this node: a supervisor of its own, which is shown that stretch of the store and nothing else. It is
 * begun when the shard is this session's, and has come to rest before the shard is given back (C22).
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Settings } from "../../core/config/settings.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { storedDefinition } from "../../core/job/stored.js";
import { type EpochMs, SECOND_MS } from "../../core/time/instant.js";
import { ChartDriver } from "../../machines/chart-driver.js";
import { type ShardEffect, type ShardLife, shardMachine } from "../../machines/shard.machine.js";
import type { ClusterMember, HeldShard as HeldRow, Shard } from "../../persist/cluster.js";
import type { StateStore } from "../../persist/store.js";
import { Phase } from "../phase.js";
import type { Supervisor } from "../supervisor/port.js";

/** A supervisor, and what ends its hold on what it shares with others. */
interface ShardSupervisor {
  readonly supervisor: Supervisor;
  letGo(): void;
}

export interface ShardPorts {
  readonly member: Pick<ClusterMember, "storeOf" | "wantedIn" | "settled">;
  supervisorOf(store: StateStore, phase: Phase): ShardSupervisor;
  /** Something fatal has happened to its supervisor. */
  onFailure(error: KronError): void;
}

/** What is to be in force. */
export interface Wish {
  readonly revision: number;
  readonly settings: Settings;
}

/** What became of the jobs of a shard by it. */
export interface Applied {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Of a version that this one cannot read: they go on as they are. */
  readonly unreadable: readonly string[];
}

/** Nothing is due so soon: whoever has it next is there in time. */
const CALM_MS = 3 * SECOND_MS;

export class HeldShard {
  readonly shard: Shard;
  /** Resolves when it is looked after for the first time, or could not be begun, or was given up before. */
  readonly ready: Promise<void>;
  revision: number;
  readonly #ports: ShardPorts;
  readonly #chart: ChartDriver<typeof shardMachine, ShardEffect>;
  #made: (ShardSupervisor & { readonly phase: Phase }) | null = null;
  #underWay = 0;
  /** What a stop waits for has come to its end. */
  #onTurn: (() => void) | null = null;
  #tellReady: () => void = () => undefined;
  #stopping: Promise<void> | null = null;

  constructor({ pool, number, revision }: HeldRow, ports: ShardPorts) {
    this.shard = { pool, number };
    this.ready = new Promise((resolve) => {
      this.#tellReady = resolve;
    });
    this.revision = revision;
    this.#ports = ports;
    const acts: Readonly<Record<ShardEffect, () => void>> = {
      tellReady: () => this.#tellReady(),
      letGo: () => this.#letGo(),
    };
    this.#chart = new ChartDriver<typeof shardMachine, ShardEffect>(shardMachine, (effect) => acts[effect]());
  }

  get life(): ShardLife {
    return this.#chart.snapshot.value;
  }

  /** null: it looks after nothing now. */
  get supervisor(): Supervisor | null {
    return this.life === "serving" ? (this.#made?.supervisor ?? null) : null;
  }

  /** Rejects with why it could not be begun, and may be asked again. null: nothing came into force by it. */
  async begin(wish: Wish): Promise<Applied | null> {
    this.#chart.send({ type: "BEGIN" });
    if (this.life !== "beginning") return null;
    try {
      const applied = await this.#started(wish);
      this.#made?.phase.tell({ type: "READY" });
      this.#chart.send({ type: "BEGUN" });
      return applied;
    } catch (error) {
      this.#chart.send({ type: "FAILED" });
      throw error;
    } finally {
      this.#onTurn?.();
    }
  }

  /** By what is on record; where that cannot be read, by what is wanted, which may say it anew. */
  async #started({ revision, settings }: Wish): Promise<Applied | null> {
    try {
      await this.#make().start("as-stored", settings);
    } catch (error) {
      if (!(error instanceof KronError) || error.code !== "definition-unreadable") throw error;
      this.#letGo();
      const { definitions, unreadable } = await this.#wanted();
      await this.#make().start(definitions, settings);
      await this.#settle(revision);
      return { added: 0, changed: 0, removed: 0, unreadable };
    }
    return this.revision < revision ? this.#applied({ revision, settings }) : null;
  }

  /** Puts in force what is wanted by now. null: it is, or it is not the time for it. */
  async apply(wish: Wish): Promise<Applied | null> {
    if (this.life !== "serving" || this.revision >= wish.revision) return null;
    return this.during(() => this.#applied(wish));
  }

  async #applied({ revision, settings }: Wish): Promise<Applied> {
    if (this.#made === null) throw new Error("invariant broken: nobody looks after the shard");
    const { definitions, unreadable } = await this.#wanted();
    const report = await this.#made.supervisor.reload(definitions, settings, unreadable);
    await this.#settle(revision);
    const { added, changed, removed } = report;
    return { added: added.length, changed: changed.length, removed: removed.length, unreadable };
  }

  /** A revision that changes nothing in it is in force as soon as it is there. */
  heard(revision: number): void {
    this.revision = Math.max(this.revision, revision);
  }

  /** What is done to its jobs: it is not given back before that has come to its end. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await act();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onTurn?.();
    }
  }

  isCalm(now: EpochMs): boolean {
    const dueAt = this.supervisor?.status().nextDueAt ?? null;
    return this.#underWay === 0 && (dueAt === null || dueAt > now + CALM_MS);
  }

  /** Nothing of it begins here any more when this resolves; what runs goes on. `graceful` waits until nothing runs. */
  stop(graceful: boolean): Promise<void> {
    this.#stopping ??= this.#stop(graceful);
    return this.#stopping;
  }

  async #stop(graceful: boolean): Promise<void> {
    this.#chart.send({ type: "STOP" });
    await this.#until(() => this.life !== "recalled");
    await this.#until(() => this.#underWay === 0);
    this.#chart.send({ type: "QUIET" });
    if (this.life === "resting") await this.#made?.supervisor.stop({ graceful });
    this.#chart.send({ type: "RESTED" });
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#onTurn = resolve;
      });
    }
  }

  /** The node has failed: its gates close, and nothing more is begun. */
  fail(error: KronError): void {
    this.#made?.phase.fail(error);
  }

  #make(): Supervisor {
    const { member, onFailure, supervisorOf } = this.#ports;
    const phase = Phase.ofSupervisor();
    const made = supervisorOf(member.storeOf(this.shard), phase);
    this.#made = { ...made, phase };
    void made.supervisor.failed.then(onFailure);
    return made.supervisor;
  }

  #letGo(): void {
    this.#made?.letGo();
    this.#made = null;
  }

  async #settle(revision: number): Promise<void> {
    await this.#ports.member.settled(this.shard, revision);
    this.revision = revision;
  }

  async #wanted(): Promise<{ readonly definitions: readonly JobDefinition[]; readonly unreadable: readonly string[] }> {
    const definitions: JobDefinition[] = [];
    const unreadable: string[] = [];
    for (const { identity, text } of await this.#ports.member.wantedIn(this.shard)) {
      const definition = storedDefinition(text);
      if (definition === null) unreadable.push(identity);
      else definitions.push(definition);
    }
    return { definitions, unreadable };
  }
}
