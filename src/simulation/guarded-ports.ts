/**
 * Stands between a simulated daemon and its ports. Of a daemon that died nothing comes any more and nothing reaches it;
 * where the scenario says so it dies at one precise step, or a write fails; and every call is counted, so that it can be
 * told when nothing goes on any more.
 */
import type { Clock } from "../actors/clock.js";
import type { Runner } from "../actors/runner/port.js";
import type { SupervisorPorts } from "../actors/supervisor/port.js";
import type { MemoryDisk } from "../persist/memory/disk.js";
import type { Batch, StateStore } from "../persist/store.js";
import type { CrashStep, StoreErrno } from "./scenario.js";

export interface Life {
  isAlive: boolean;
}

type Write = () => ReturnType<StateStore["commit"]>;

interface PlannedFaults {
  crashAt: CrashStep | null;
  storeFault: { readonly errno: StoreErrno; readonly isDurable: boolean } | null;
}

/** What a dead process waits for. */
const NEVER = new Promise<never>(() => undefined);

export class PortGuard {
  /** Calls so far, in both directions. */
  activity = 0;
  readonly faults: PlannedFaults = { crashAt: null, storeFault: null };
  readonly #disk: MemoryDisk;
  readonly #onCrash: () => void;

  constructor(disk: MemoryDisk, onCrash: () => void) {
    this.#disk = disk;
    this.#onCrash = onCrash;
  }

  between(ports: SupervisorPorts, life: Life): SupervisorPorts {
    return {
      ...ports,
      clock: this.#clockOf(ports.clock, life),
      store: this.#storeOf(ports.store, life),
      runner: this.#runnerOf(ports.runner, life),
      onEvent: (event) => {
        this.activity += 1;
        if (life.isAlive) ports.onEvent(event);
      },
    };
  }

  #clockOf(clock: Clock, life: Life): Clock {
    const call = (callback: () => void): void => {
      if (life.isAlive) callback();
    };
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, callback) => {
        this.activity += 1;
        return clock.after(delayMs, () => call(callback));
      },
    };
  }

  #storeOf(store: StateStore, life: Life): StateStore {
    const commit: StateStore["commit"] = (term, batch) => this.#commit(life, batch, () => store.commit(term, batch));
    return new Proxy(store, {
      get: (target, name) => {
        this.activity += 1;
        if (name === "commit") return commit;
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => (life.isAlive ? Reflect.apply(member, target, args) : NEVER);
      },
    });
  }

  async #commit(life: Life, batch: Batch, write: Write): ReturnType<Write> {
    if (!life.isAlive) return NEVER;
    const step = stepOf(batch);
    if (step !== null && this.#crashes(life, `before-${step}`)) return NEVER;
    const refused = await this.#written(write);
    if (!life.isAlive) return NEVER;
    return step !== null && this.#crashes(life, `after-${step}`) ? NEVER : refused;
  }

  /** A fault of the disk is over with the write it met. */
  async #written(write: Write): ReturnType<Write> {
    const fault = this.faults.storeFault;
    if (fault === null) return write();
    this.faults.storeFault = null;
    this.#disk.faults = () => ({ kind: "fail", ...fault });
    try {
      return await write();
    } finally {
      this.#disk.faults = () => null;
    }
  }

  #runnerOf(runner: Runner, life: Life): Runner {
    const pass = async <T>(operation: () => Promise<T>): Promise<T> => {
      this.activity += 1;
      if (!life.isAlive) return NEVER;
      const result = await operation();
      this.activity += 1;
      return life.isAlive ? result : NEVER;
    };
    return {
      capacity: runner.capacity,
      arm: (request) => pass(() => runner.arm(request)),
      go: async (armed, latestAt) => {
        if (this.#crashes(life, "before-start")) return NEVER;
        const outcome = await pass(() => runner.go(armed, latestAt));
        return this.#crashes(life, "after-start") ? NEVER : outcome;
      },
      abort: (armed) => pass(() => runner.abort(armed)),
      adopt: (request) => pass(() => runner.adopt(request)),
      terminate: (attemptId, graceMs) => pass(() => runner.terminate(attemptId, graceMs)),
      close: () => runner.close(),
      subscribe: (listener) =>
        runner.subscribe((event) => {
          this.activity += 1;
          if (life.isAlive) listener(event);
        }),
    };
  }

  #crashes(life: Life, step: CrashStep): boolean {
    if (!life.isAlive || this.faults.crashAt !== step) return false;
    this.faults.crashAt = null;
    this.#onCrash();
    return true;
  }
}

const RUN_KIND = /^run(?::|$)/;

/** What a batch makes durable: the claim of a run, the end of one, or something that no crash is asked for at. */
function stepOf({ ledger = [] }: Batch): "claim" | "end" | null {
  const runs = ledger.filter(({ kind }) => RUN_KIND.test(kind));
  if (runs.length === 0) return null;
  return runs.some(({ text }) => text.includes('"ended_at":null')) ? "claim" : "end";
}
