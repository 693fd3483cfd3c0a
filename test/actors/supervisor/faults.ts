/**
 * Stands between a daemon and its ports, numbers everything that leaves it or reaches it, and does at one of these steps
 * what a test asks for: the daemon dies there, or the port fails.
 */
import type { ArmFailure, GoOutcome, Runner, RunnerEvent } from "../../../src/actors/runner/port.js";
import type { SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import { err } from "../../../src/core/base/result.js";
import type { FaultPlan } from "../../../src/persist/memory/disk.js";
import type { Batch, Claim, StateStore } from "../../../src/persist/store.js";

export type StepName = "commit" | "arm" | "go" | "abort" | "terminate" | "adopt" | "ended" | "gate-lost" | "tell";

export interface FaultStep {
  /** From 1, over the life of the world. */
  readonly number: number;
  readonly name: StepName;
  /** `before`: nothing of it has happened; `after`: all of it, but the daemon has not been told. */
  readonly phase: "before" | "after";
}

export type Fault =
  | { readonly kind: "crash" }
  /** The daemon stands still there, as by SIGSTOP, for as long as its world says. */
  | { readonly kind: "freeze" }
  /** `isDurable`: what a failed sync leaves open. */
  | { readonly kind: "commit"; readonly errno: "EIO" | "ENOSPC"; readonly isDurable: boolean }
  | { readonly kind: "arm"; readonly failure: ArmFailure }
  /** `hasRun`: contact was lost, the command began all the same. */
  | { readonly kind: "go"; readonly outcome: Exclude<GoOutcome, "started">; readonly hasRun: boolean }
  | { readonly kind: "terminate"; readonly survivors: readonly number[] }
  /** No port may reject but the store; if one does, it is a defect, and not to be lived with. */
  | { readonly kind: "reject" };

export interface FaultWorld {
  readonly disk: { faults: FaultPlan };
  kill(): void;
  /** From here on it stands still. */
  freeze?(): void;
  /** Resolves when it goes on; null: it does not stand still. */
  stillness?(): Promise<void> | null;
}

const NEVER = new Promise<never>(() => undefined);

export class Faults {
  readonly steps: FaultStep[] = [];
  /** Processes that wait behind their gate, as far as their launcher was told. */
  readonly gates = new Set<string>();
  /** Asked at every step of a daemon that lives. */
  plan: (step: FaultStep) => Fault | null = () => null;
  /** Says that a batch is durable before it has been written: what the rules of a store are there to prevent. */
  isLyingStore = false;
  /** What a read of a document fails with. */
  readFault: (identity: string) => Error | null = () => null;
  /** Looks at every batch before it is written. */
  onBatch: (batch: Batch) => void = () => undefined;
  readonly #world: () => FaultWorld;
  #last: Pass | null = null;

  constructor(world: () => FaultWorld) {
    this.#world = world;
  }

  /** For `WorldOptions.between`. */
  between(ports: SupervisorPorts): SupervisorPorts {
    const life = { isAlive: true };
    const at = <T>(name: StepName, operation: () => Promise<T>, broken?: (fault: Fault) => Promise<T> | null) =>
      this.#pass(life, name, operation, broken ?? (() => null));
    this.#last = at;
    return {
      ...ports,
      store: this.#storeOf(ports.store, life, at),
      runner: this.#launcherOf(ports.runner, life, at),
    };
  }

  /** For what the daemon whose ports were asked for last does beside them. */
  get passage(): Pass {
    if (this.#last === null) throw new Error("no daemon has ports");
    return this.#last;
  }

  #storeOf(store: StateStore, life: Life, at: Pass): StateStore {
    let unwritten: (() => Promise<readonly Claim[]>) | null = null;
    const commit: StateStore["commit"] = (term, batch) => {
      this.onBatch(batch);
      const write = async (): Promise<readonly Claim[]> => {
        if (!this.isLyingStore) return store.commit(term, batch);
        // Always one batch behind; nobody waits for what is late, so nobody hears of its failure.
        const late = unwritten;
        unwritten = () => store.commit(term, batch);
        if (late !== null && life.isAlive && !term.isReleased) late().catch(() => undefined);
        return [];
      };
      return at("commit", write, (fault) => (fault.kind === "commit" ? this.#failing(fault, write) : null));
    };
    const get: StateStore["get"] = async (identity) => {
      const error = this.readFault(identity);
      if (error !== null) throw error;
      return store.get(identity);
    };
    return new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return commit;
        if (name === "get") return get;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  async #failing<T>(fault: Extract<Fault, { kind: "commit" }>, write: () => Promise<T>): Promise<T> {
    const { disk } = this.#world();
    disk.faults = () => ({ kind: "fail", errno: fault.errno, isDurable: fault.isDurable });
    try {
      return await write();
    } finally {
      disk.faults = () => null;
    }
  }

  #launcherOf(launcher: Runner, life: Life, at: Pass): Runner {
    return {
      capacity: launcher.capacity,
      arm: (request) =>
        at(
          "arm",
          () => this.#armed(life, launcher.arm(request)),
          (fault) => (fault.kind === "arm" ? Promise.resolve(err(fault.failure)) : null),
        ),
      go: (armed, latestAt) => {
        this.gates.delete(armed.attemptId);
        return at(
          "go",
          () => launcher.go(armed, latestAt),
          (fault) => {
            if (fault.kind !== "go") return null;
            const done = fault.hasRun ? launcher.go(armed, latestAt) : launcher.abort(armed);
            return Promise.resolve(done).then(() => fault.outcome);
          },
        );
      },
      abort: (armed) => {
        this.gates.delete(armed.attemptId);
        return at("abort", () => launcher.abort(armed));
      },
      terminate: (attemptId, graceMs) =>
        at(
          "terminate",
          () => launcher.terminate(attemptId, graceMs),
          (fault) => {
            return fault.kind === "terminate" ? Promise.resolve({ survivors: fault.survivors, wasKilled: true }) : null;
          },
        ),
      adopt: (request) => at("adopt", () => launcher.adopt(request)),
      close: () => launcher.close(),
      subscribe: (listener) => launcher.subscribe((event) => this.#hear(life, listener, event)),
    };
  }

  async #armed(life: Life, arming: ReturnType<Runner["arm"]>): ReturnType<Runner["arm"]> {
    const armed = await arming;
    if (armed.ok && life.isAlive) this.gates.add(armed.value.attemptId);
    return armed;
  }

  #hear(life: Life, listener: (event: RunnerEvent) => void, event: RunnerEvent): void {
    if (!life.isAlive) return;
    const still = this.#world().stillness?.() ?? null;
    if (still !== null) {
      void still.then(() => this.#hear(life, listener, event));
      return;
    }
    if (event.kind === "trouble") {
      listener(event);
      return;
    }
    if (event.kind === "gate-lost") this.gates.delete(event.attemptId);
    if (this.#count(life, event.kind, "before")?.kind === "crash") return;
    listener(event);
    this.#count(life, event.kind, "after");
  }

  async #pass<T>(
    life: Life,
    name: StepName,
    operation: () => Promise<T>,
    broken: (fault: Fault) => Promise<T> | null,
  ): Promise<T> {
    // Of a process that is dead nothing comes any more.
    if (!life.isAlive) return NEVER;
    const fault = this.#count(life, name, "before");
    if (fault?.kind === "crash") return NEVER;
    await this.#world().stillness?.();
    if (!life.isAlive) return NEVER;
    if (fault?.kind === "reject") throw new Error(`${name} rejected`);
    const result = await ((fault === null ? null : broken(fault)) ?? operation());
    if (!life.isAlive) return NEVER;
    if (this.#count(life, name, "after")?.kind === "crash") return NEVER;
    await this.#world().stillness?.();
    return life.isAlive ? result : NEVER;
  }

  #count(life: Life, name: StepName, phase: FaultStep["phase"]): Fault | null {
    const step = { number: this.steps.length + 1, name, phase };
    this.steps.push(step);
    const fault = this.plan(step);
    if (fault?.kind === "crash") {
      life.isAlive = false;
      this.gates.clear();
      this.#world().kill();
    }
    if (fault?.kind === "freeze") this.#world().freeze?.();
    return fault;
  }
}

interface Life {
  isAlive: boolean;
}

type Pass = <T>(
  name: StepName,
  operation: () => Promise<T>,
  broken?: (fault: Fault) => Promise<T> | null,
) => Promise<T>;
