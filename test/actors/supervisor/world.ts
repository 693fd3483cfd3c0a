import type { Clock } from "../../../src/actors/clock.js";
import type { RequestArm } from "../../../src/actors/dispatcher/port.js";
import { type SimulatedAnswer, SimulatedDispatcher } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import {
  type SimulatedBehaviour,
  SimulatedHost,
  type SimulatedLauncher,
} from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import { RunnerRouter } from "../../../src/actors/runner/router.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import type { Supervisor, SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import { createSupervisor } from "../../../src/actors/supervisor/supervisor-actor.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import type { KronError } from "../../../src/core/base/errors/kron-error.js";
import { SETTINGS_DEFAULTS, type Settings } from "../../../src/core/config/settings.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { activeStates, type StateDocument } from "../../../src/core/state/document.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { type EpochMs, SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock, type LockTerm } from "../../../src/persist/lock.js";
import { MemoryDisk } from "../../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { StateStore } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";

/** Turns of the loop that a daemon needs to end in order, and more. */
const STOP_TURNS = 200;

/** A second after midnight: periods of that midnight lie before everything that is defined from here on. */
export const START = Date.parse("2026-03-01T00:00:01Z");

export function job(identity: string, schedule: string, more: Record<string, unknown> = {}): JobDefinition {
  return requireOk(readJobDefinition({ identity, schedule, command: ["/bin/true"], ...more }));
}

/** A job whose runs are requests. */
export function webhook(identity: string, schedule: string, more: Record<string, unknown> = {}): JobDefinition {
  return requireOk(readJobDefinition({ identity, schedule, http: { url: `https://hooks.test/${identity}` }, ...more }));
}

export interface WorldOptions {
  readonly behaviour?: (request: ProcessArm) => Partial<SimulatedBehaviour>;
  /** Of the one who receives requests. */
  readonly answer?: (request: RequestArm) => Partial<SimulatedAnswer>;
  readonly startAt?: EpochMs;
  /** How many gates the launcher can hold. */
  readonly maxArmed?: number | undefined;
  /** Stands between a daemon and its ports, to count and to break. */
  readonly between?: (ports: SupervisorPorts) => SupervisorPorts;
}

/** A command that began, or a request that was sent: what nobody can take back. */
export interface Begun {
  readonly attemptId: string;
  readonly identity: string;
  readonly periodId: string;
  readonly at: EpochMs;
  /** Of the machine. */
  readonly bootId: string;
  /** S23: whether its claim was durable by then. */
  readonly isOnRecord: boolean;
}

/** Says what begins as it begins: what is on record can be looked at in that very moment. */
class WatchedHost extends SimulatedHost {
  onBegin: (request: ProcessArm) => void = () => undefined;

  override execute(run: Parameters<SimulatedHost["execute"]>[0]): void {
    super.execute(run);
    this.onBegin(run.request);
  }
}

/** A machine with a disk and a clock on which daemons live and die: the processes and the disk outlive them. */
export class World {
  readonly clock: SimulatedClock;
  readonly disk = new MemoryDisk();
  readonly host: WatchedHost;
  readonly begun: Begun[] = [];
  /** Requests that were sent and not answered. */
  readonly inFlight = new Set<string>();
  readonly events: SupervisorEvent[] = [];
  readonly requests: ProcessArm[] = [];
  fatal: KronError | null = null;
  #process: {
    readonly supervisor: Supervisor;
    readonly store: StateStore;
    readonly term: LockTerm;
    readonly launcher: SimulatedLauncher;
    readonly dispatcher: SimulatedDispatcher;
    readonly died: Promise<void>;
    readonly die: () => void;
    isAlive: boolean;
  } | null = null;
  #ids = 0;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.clock = new SimulatedClock({ startAt: options.startAt ?? START });
    this.host = new WatchedHost(this.clock, (request) => {
      this.requests.push(request);
      return { runMs: 10_000, exitCode: 0, ...options.behaviour?.(request) };
    });
    this.host.onBegin = ({ attemptId, env }) =>
      this.#noteBegin(attemptId, env["KRON_IDENTITY"] ?? "", env["KRON_PERIOD_ID"] ?? "");
  }

  get supervisor(): Supervisor {
    if (this.#process === null) throw new Error("no daemon runs");
    return this.#process.supervisor;
  }

  async boot(definitions: readonly JobDefinition[] | "as-stored", settings: Partial<Settings> = {}): Promise<void> {
    const term = requireOk(acquireMemoryLock(this.disk));
    const launcher = this.host.launcher(this.#options.maxArmed);
    const dispatcher = this.#dispatcherOf();
    let die = (): void => {};
    const died = new Promise<void>((resolve) => {
      die = resolve;
    });
    const life = { isAlive: true, died, die };
    const ports: SupervisorPorts = {
      clock: this.#clockOf(life),
      store: requireOk(openMemoryStore(term, this.disk)),
      term,
      runner: new RunnerRouter(launcher, dispatcher),
      copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
      bootId: this.host.bootId,
      versions: { tzVersion: "test", engineVersion: "test" },
      outputDirectory: "/nowhere",
      baseEnv: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
      newId: () => `attempt-${++this.#ids}`,
      onEvent: (event) => this.events.push(event),
    };
    const seen = this.#options.between?.(ports) ?? ports;
    const supervisor = createSupervisor(seen);
    this.fatal = null;
    this.#process = Object.assign(life, { supervisor, store: seen.store, term, launcher, dispatcher });
    void supervisor.failed.then((error) => {
      if (life.isAlive) this.fatal = error;
    });
    await Promise.race([supervisor.start(definitions, { ...SETTINGS_DEFAULTS, ...settings }), died]);
  }

  get isRunning(): boolean {
    return this.#process !== null;
  }

  /** The daemon ends as by SIGKILL: its timers never fire again, its gates close, its lock is free. */
  kill(): void {
    if (this.#process === null) return;
    this.#process.isAlive = false;
    this.#process.die();
    this.#process.launcher.die();
    this.#process.dispatcher.die();
    this.#process.term.release();
    this.#process = null;
  }

  /** It ends in order, and what runs goes on. What does not end without time passing is killed. */
  async stop(): Promise<void> {
    const process = this.#process;
    if (process === null) return;
    let isEnded = false;
    const ended = process.supervisor
      .stop({ graceful: false })
      .then(() => process.store.close())
      .catch(() => undefined)
      .finally(() => {
        isEnded = true;
      });
    for (let turn = 0; turn < STOP_TURNS && !isEnded; turn++) {
      await Promise.race([ended, new Promise((resolve) => setImmediate(resolve))]);
    }
    this.kill();
  }

  /** The launcher process alone dies, and is replaced. */
  loseLauncher(): void {
    this.#process?.launcher.loseProcess();
  }

  #dispatcherOf(): SimulatedDispatcher {
    const answerOf = (request: RequestArm): SimulatedAnswer => {
      return { answerMs: 2_000, status: 200, ...this.#options.answer?.(request) };
    };
    return new SimulatedDispatcher(this.clock, answerOf, {
      sent: ({ attemptId, identity, periodId }) => {
        this.inFlight.add(attemptId);
        this.#noteBegin(attemptId, identity, periodId);
      },
      ended: ({ attemptId }) => void this.inFlight.delete(attemptId),
    });
  }

  #noteBegin(attemptId: string, identity: string, periodId: string): void {
    const key = documentKey(identity);
    const text = this.disk.documents.get(key)?.text;
    const onRecord = text === undefined ? [] : activeStates(requireOk(parseDocument(text, key)));
    const isOnRecord = onRecord.some(({ AttemptID }) => AttemptID === attemptId);
    this.begun.push({ attemptId, identity, periodId, at: this.clock.now(), bootId: this.host.bootId, isOnRecord });
  }

  #clockOf(life: { readonly isAlive: boolean }): Clock {
    return {
      now: () => this.clock.now(),
      monotonicMs: () => this.clock.monotonicMs(),
      after: (delayMs, callback) => this.clock.after(delayMs, () => (life.isAlive ? callback() : undefined)),
    };
  }

  /** Time passes in steps small enough that everything due in one of them is settled in it. */
  async pass(durationMs: number, stepMs: number = SECOND_MS): Promise<void> {
    for (let passed = 0; passed < durationMs; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, durationMs - passed));
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    // What is fatal ends the waiting as well; the test looks at `fatal`.
    if (this.#process === null) return;
    await Promise.race([this.#process.supervisor.whenIdle().catch(() => undefined), this.#process.died]);
  }

  document(identity: string): StateDocument {
    const key = documentKey(identity);
    const stored = this.disk.documents.get(key);
    if (stored === undefined) throw new Error(`no document of ${identity}`);
    return requireOk(parseDocument(stored.text, key));
  }

  ledger(identity: string): { kind: string; at: number; content: Record<string, unknown> }[] {
    const records = [...(this.disk.ledger.get(identity)?.values() ?? [])];
    return records.map(({ kind, at, text }) => ({ kind, at, content: JSON.parse(text) })).sort((a, b) => a.at - b.at);
  }

  /** Names of events, those of one job when it is given. */
  told(identity?: string): string[] {
    return this.events
      .filter((event) => identity === undefined || event.identity === identity)
      .map(({ event }) => event);
  }

  /** When the runs of one job began. */
  starts(identity: string): string[] {
    return this.begun
      .filter((begun) => begun.identity === identity)
      .map(({ at }) => new Date(at).toISOString().slice(0, 19));
  }
}
