/**
 * The actor of the daemon's life: it holds the one snapshot of the supervisor's chart, and nobody else remembers where in
 * its life the daemon is. Events come in here and are taken one after another; what the chart asks for is handed to those
 * who carry it out. Everybody else asks (`machines/supervisor-phase.ts`).
 */

import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import type { ErrorCode } from "../core/base/errors/registry.js";
import { advance, begin } from "../machines/advance.js";
import { type SupervisorSnapshot, supervisorMachine } from "../machines/supervisor.machine.js";
import type { SupervisorEffect, SupervisorEvent } from "../machines/supervisor-logic.js";
import { hasFailed, phaseText } from "../machines/supervisor-phase.js";

/** What is to be done, and the event that has asked for it; null: that the life begins. */
export type Carriers = Partial<Readonly<Record<SupervisorEffect, (event: SupervisorEvent | null) => void>>>;
type PhaseWatcher = (event: SupervisorEvent, snapshot: SupervisorSnapshot) => void;

export interface PhaseChange {
  readonly from: string;
  readonly to: string;
  /** The event. */
  readonly on: SupervisorEvent["type"];
}

interface Told {
  readonly event: SupervisorEvent;
  readonly cause: unknown;
}

export class Phase {
  /** Told of every event, before anything is carried out: for an inspector. */
  watcher: PhaseWatcher | null = null;
  readonly #say: (change: PhaseChange) => void;
  readonly #carriers: Carriers[] = [];
  readonly #inbox: Told[] = [];
  #snapshot: SupervisorSnapshot = begin(supervisorMachine).snapshot;
  #trouble: unknown = null;
  #failure: KronError | null = null;

  constructor(say: (change: PhaseChange) => void = () => undefined) {
    this.#say = say;
  }

  /** For a supervisor without a daemon around it: configuration, lock and store were there before it. */
  static ofSupervisor(): Phase {
    const phase = new Phase();
    for (const type of ["CONFIGURED", "LOCKED", "OPENED"] as const) phase.tell({ type });
    return phase;
  }

  get snapshot(): SupervisorSnapshot {
    return this.#snapshot;
  }

  /** What was thrown, by which a reload was rejected or the daemon has failed. */
  get trouble(): unknown {
    return this.#trouble;
  }

  /** Why nothing goes on any more; null: nothing fatal has happened. */
  get failure(): KronError | null {
    return this.#failure;
  }

  /** Returns what ends it. */
  carryOut(carriers: Carriers): () => void {
    this.#carriers.push(carriers);
    return () => {
      const at = this.#carriers.indexOf(carriers);
      if (at >= 0) this.#carriers.splice(at, 1);
    };
  }

  /**
   * For what has a result: tells the event (null: that the life begins) and carries out the one thing that it asks for; null:
   * it does not, because the phase is another one by now. Not for those who carry something out.
   */
  request<T>(event: SupervisorEvent | null, effect: SupervisorEffect, act: () => Promise<T>): Promise<T> | null {
    const asked: Promise<T>[] = [];
    const leave = this.carryOut({ [effect]: () => asked.push(act()) });
    try {
      if (event === null) this.#begin();
      else this.tell(event);
    } finally {
      leave();
    }
    return asked[0] ?? null;
  }

  tell(event: SupervisorEvent, cause: unknown = null): void {
    this.#inbox.push({ event, cause });
    // One that is told by what another has brought about waits until all of that has been done.
    if (this.#inbox.length > 1) return;
    try {
      for (let told = this.#inbox[0]; told !== undefined; told = this.#inbox[0]) {
        this.#take(told);
        this.#inbox.shift();
      }
    } finally {
      this.#inbox.length = 0;
    }
  }

  fail(cause: unknown): void {
    this.tell({ type: "FAILED", code: codeOf(cause) }, cause);
  }

  reject(cause: unknown): void {
    this.tell({ type: "REJECTED", code: codeOf(cause) }, cause);
  }

  /** What the first state asks for, now that those who carry it out are there. */
  #begin(): void {
    const { effects } = begin<typeof supervisorMachine, Named>(supervisorMachine);
    for (const { type } of effects) this.#perform(type, null);
  }

  #take({ event, cause }: Told): void {
    const before = this.#snapshot;
    const { snapshot, effects } = advance<typeof supervisorMachine, Named>(supervisorMachine, before, event);
    this.#enter(snapshot, event, cause);
    this.watcher?.(event, snapshot);
    for (const { type } of effects) this.#perform(type, event);
  }

  /** The one place where the phase changes. */
  #enter(snapshot: SupervisorSnapshot, event: SupervisorEvent, cause: unknown): void {
    const [from, to] = [phaseText(this.#snapshot), phaseText(snapshot)];
    this.#snapshot = snapshot;
    // What is no news any more, such as a second failure, changes nothing.
    if (from === to) return;
    if (cause !== null) this.#trouble = cause;
    if (hasFailed(snapshot)) this.#failure = errorOf(this.#trouble);
    this.#say({ from, to, on: event.type });
  }

  #perform(effect: SupervisorEffect, event: SupervisorEvent | null): void {
    for (const carriers of [...this.#carriers]) carriers[effect]?.(event);
  }
}

interface Named {
  readonly type: SupervisorEffect;
}

/** What is no KronError has no code that could say so: it is a defect. */
function codeOf(cause: unknown): ErrorCode {
  return cause instanceof KronError ? cause.code : "invariant-broken";
}

function errorOf(cause: unknown): KronError {
  if (cause instanceof KronError) return cause;
  const message = messageOf(cause);
  return new KronError("invariant-broken", message, { component: "scheduler", operation: "run", cause });
}
