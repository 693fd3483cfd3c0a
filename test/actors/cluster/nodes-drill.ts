/** A piece of history of several nodes, played again and again, each time with another fault at another step. */

import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import { activeStates } from "../../../src/core/state/document.js";
import { formatInstant, MINUTE_MS } from "../../../src/core/time/instant.js";
import { readWhy } from "../../../src/operations/records/why.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import { requireOk } from "../../support/results.js";
import type { FaultStep, StepName } from "../supervisor/faults.js";
import { START } from "../supervisor/world.js";
import { Nodes, type NodesOptions } from "./nodes-world.js";

export type NodeDeed =
  | { readonly do: "kill" | "reboot" | "freeze" | "thaw" | "move" | "forget" | "abandon"; readonly node: string }
  | { readonly do: "cancel" | "run"; readonly identity: string };

export interface NodeScript extends NodesOptions {
  readonly nodes: readonly string[];
  /** By second after the start. */
  readonly deeds?: Readonly<Record<number, NodeDeed>>;
  readonly seconds: number;
}

/** One step of one node, numbered over all of them. */
export interface NodeStep {
  readonly number: number;
  readonly node: string;
  readonly name: StepName;
  readonly phase: FaultStep["phase"];
}

export interface NodeFault {
  readonly at: number;
  readonly kind: "crash" | "freeze";
}

/** Longer than a lease: by then its session is over. */
const FROZEN_SECONDS = 14;
/** Until everything that a fault has brought about has come to its end. */
const TAIL_SECONDS = 75;
const UNANSWERED: ReadonlySet<string> = new Set(["unknown", "waiting", "not_yet", "older_than_ledger"]);

export class NodesDrill {
  readonly world: Nodes;
  readonly steps: NodeStep[] = [];
  /** Of the script itself. */
  stepsOfScript = 0;
  downSeconds = 2;
  readonly #script: NodeScript;
  readonly #downFor = new Map<string, number>();
  readonly #stillFor = new Map<string, number>();
  readonly #abandoned = new Set<string>();

  constructor(script: NodeScript, ...faults: readonly NodeFault[]) {
    this.#script = script;
    this.world = new Nodes(script.nodes, script);
    for (const node of this.world.nodes) {
      node.faults.plan = ({ name, phase }) => {
        const number = this.steps.length + 1;
        this.steps.push({ number, node: node.name, name, phase });
        const fault = faults.find(({ at }) => at === number);
        return fault === undefined ? null : { kind: fault.kind };
      };
    }
  }

  async play(): Promise<this> {
    const { world } = this;
    for (const node of world.nodes) await node.join();
    for (let second = 1; second <= this.#script.seconds + TAIL_SECONDS; second++) {
      if (second === this.#script.seconds) this.stepsOfScript = this.steps.length;
      const deed = this.#script.deeds?.[second];
      if (deed !== undefined) await this.#perform(deed);
      await world.second();
      await this.#revive();
    }
    return this;
  }

  /** Everything that is wrong at the end; empty when all is well. */
  async verdict(): Promise<string[]> {
    const names = this.world.begun.map(({ attemptId, identity, periodId }) => {
      const isAsked = this.#askedSlots.has(attemptId);
      return isAsked ? `${identity}@${attemptId}` : `${identity}@${periodId}`;
    });
    const twice = names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name} ran twice`);
    const early = this.world.begun.filter(({ isOnRecord }) => !isOnRecord);
    const unclaimed = early.map(({ attemptId }) => `${attemptId} began before its claim was durable`);
    return [...twice, ...unclaimed, ...this.#strays(), ...(await this.#unexplained())];
  }

  /** Of the ledger: how each run ended. */
  endings(identity: string): string[] {
    const records = [...(this.world.disk.ledger.get(identity)?.values() ?? [])].filter(({ kind }) => kind === "run");
    const contents = records.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
    return contents.map((content) => `${content["exit_code"] ?? content["signal"] ?? content["reason"] ?? "open"}`);
  }

  get #askedSlots(): ReadonlySet<string> {
    const runs = [...this.world.disk.ledger.values()].flatMap((records) => [...records.values()]);
    const asked = runs.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
    return new Set(asked.filter(({ source }) => source === "manual").map((run) => String(run["attempt_id"])));
  }

  async #perform(deed: NodeDeed): Promise<void> {
    const { world } = this;
    switch (deed.do) {
      case "cancel":
        void world.holder?.supervisor?.cancel(deed.identity);
        break;
      case "run":
        world.holder?.supervisor?.runNow(deed.identity).catch(() => undefined);
        break;
      case "move":
        await world.move(deed.node);
        break;
      case "forget":
        world.forgotten.add(deed.node);
        break;
      case "abandon":
        this.#abandoned.add(deed.node);
        world.node(deed.node).kill();
        break;
      default:
        world.node(deed.node)[deed.do]();
    }
    await world.rest();
  }

  /** A daemon that is dead is started again, one that stands still goes on. */
  async #revive(): Promise<void> {
    for (const node of this.world.nodes) {
      const stillFor = node.isStill ? (this.#stillFor.get(node.name) ?? 0) + 1 : 0;
      this.#stillFor.set(node.name, stillFor);
      if (stillFor >= FROZEN_SECONDS) node.thaw();
      const downFor = node.isRunning || this.#abandoned.has(node.name) ? 0 : (this.#downFor.get(node.name) ?? 0) + 1;
      this.#downFor.set(node.name, downFor);
      // Its name is its own again when the lease of the life before is over.
      if (downFor > this.downSeconds && node.session === null) await node.join();
    }
    await this.world.rest();
  }

  /** What is on record as running does run where it says, and what runs is on record or was given up with its node. */
  #strays(): string[] {
    const { world } = this;
    const onRecord = [...world.documents()].flatMap(activeStates);
    const running = new Set([
      ...world.nodes.flatMap(({ host }) => host.running.map(({ attemptId }) => attemptId)),
      ...world.inFlight,
    ]);
    const recorded = new Set(onRecord.map(({ AttemptID = "" }) => AttemptID));
    const lost = new Set(
      world.events.filter(({ event }) => event === "node_lost").map(({ fields }) => fields?.["attempt_id"]),
    );
    const vanished = [...recorded].filter((id) => !running.has(id)).map((id) => `${id} is on record, and does not run`);
    const unrecorded = [...running].filter((id) => !recorded.has(id) && !lost.has(id));
    return [...vanished, ...unrecorded.map((id) => `${id} runs, and is not on record`)];
  }

  /** S36. */
  async #unexplained(): Promise<string[]> {
    const { world } = this;
    const now = world.clock.now();
    const reader = requireOk(openMemoryStore(requireOk(acquireMemoryLock({})), world.disk));
    const ledger = { ...SETTINGS_DEFAULTS.ledger, maxAgeMs: Number.MAX_SAFE_INTEGER };
    const open: string[] = [];
    for (const definition of this.#script.jobs) {
      const { identity } = definition;
      if (!world.disk.definitions.has(identity)) continue;
      for (const periodAt of compileRule(definition).schedule.between(START, now - MINUTE_MS)) {
        const answer = await readWhy(reader, { identity, periodAt, now, ledger, isAlive: true });
        const kind = answer?.kind ?? "not known";
        if (UNANSWERED.has(kind)) open.push(`${identity}@${formatInstant(periodAt)} is ${kind}`);
      }
    }
    return open;
  }
}
