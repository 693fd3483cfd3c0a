/**
 * A make-believe machine: a clock, a disk and processes that outlive the daemons on it. Daemons are the production
 * supervisor over simulated ports; they are started, stopped and killed here, and waited for until nothing goes on any
 * more, so that time can pass.
 */

import type { RequestArm } from "../actors/dispatcher/port.js";
import {
  type RequestWitness,
  type SimulatedAnswer,
  SimulatedDispatcher,
} from "../actors/dispatcher/simulated-dispatcher.js";
import {
  type HostWitness,
  type SimulatedBehaviour,
  SimulatedHost,
} from "../actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../actors/launcher/port.js";
import type { Runner } from "../actors/runner/port.js";
import { RunnerRouter } from "../actors/runner/router.js";
import { SimulatedClock } from "../actors/simulated-clock.js";
import type { Supervisor, SupervisorPorts } from "../actors/supervisor/port.js";
import { createSupervisor } from "../actors/supervisor/supervisor-actor.js";
import type { SupervisorEvent } from "../actors/supervisor/write/events.js";
import { turnOfLoop } from "../actors/turns.js";
import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import { unwrap } from "../core/base/result.js";
import type { RecordVersions } from "../core/decision/record.js";
import type { EpochMs } from "../core/time/instant.js";
import { acquireMemoryLock, type LockTerm } from "../persist/lock.js";
import { MemoryDisk } from "../persist/memory/disk.js";
import { openMemoryStore } from "../persist/memory/store.js";
import type { Batch, StateStore } from "../persist/store.js";
import { type Life, PortGuard } from "./guarded-ports.js";
import type { Loaded } from "./scenario.js";

interface MachineOptions {
  readonly startAt: EpochMs;
  readonly versions: RecordVersions;
  readonly witness: HostWitness & RequestWitness;
  behaviourOf(request: ProcessArm): SimulatedBehaviour;
  answerOf(request: RequestArm): SimulatedAnswer;
  onDurable(batch: Batch): void;
  onEvent(event: SupervisorEvent): void;
  /** A daemon ended by itself, or refused to start. */
  onFatal(error: KronError): void;
  /** A planned crash has happened. */
  onCrash(): void;
}

/** The ledger is handed on instead of being kept: it would be larger than all the rest together. */
class HandingDisk extends MemoryDisk {
  readonly #onDurable: (batch: Batch) => void;
  constructor(onDurable: (batch: Batch) => void) {
    super("simulation");
    this.#onDurable = onDurable;
  }

  override apply(batch: Batch): void {
    this.#onDurable(batch);
    super.apply({ ...batch, ledger: [] });
  }
}

interface Daemon extends Life {
  /** Asked for and not answered yet. */
  operations: number;
  readonly supervisor: Supervisor;
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly launcher: ReturnType<SimulatedHost["launcher"]>;
  readonly dispatcher: SimulatedDispatcher;
}

/** So many turns of the event loop without any call of a port: what is under way waits for the virtual clock. */
const QUIET_TURNS = 64;
const MAX_ARMED = 10_000;

export class SimulatedMachine {
  readonly clock: SimulatedClock;
  readonly host: SimulatedHost;
  readonly guard: PortGuard;
  readonly #disk: MemoryDisk;
  #daemon: Daemon | null = null;
  #attempts = 0;
  readonly #options: MachineOptions;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.clock = new SimulatedClock({ startAt: options.startAt });
    this.#disk = new HandingDisk(options.onDurable);
    this.host = new SimulatedHost(this.clock, options.behaviourOf, options.witness);
    this.guard = new PortGuard(this.#disk, () => {
      this.kill();
      options.onCrash();
    });
  }

  get isUp(): boolean {
    return this.#daemon !== null;
  }

  boot({ definitions, settings }: Loaded): void {
    if (this.#daemon !== null) throw new Error("invariant broken: a daemon runs already");
    const term = unwrap(acquireMemoryLock(this.#disk));
    const { answerOf, witness } = this.#options;
    const launcher = this.host.launcher(MAX_ARMED);
    const dispatcher = new SimulatedDispatcher(this.clock, answerOf, witness);
    const life = { isAlive: true, operations: 0 };
    const ports = this.guard.between(this.#portsOf(term, new RunnerRouter(launcher, dispatcher)), life);
    const supervisor = createSupervisor(ports);
    const daemon: Daemon = Object.assign(life, { supervisor, store: ports.store, term, launcher, dispatcher });
    this.#daemon = daemon;
    void supervisor.failed.then((error) => this.#failed(daemon, error));
    this.begin(async () => {
      await supervisor.start(definitions, settings).catch((error: unknown) => this.#failed(daemon, error));
    });
  }

  /** As by SIGKILL: nothing is said any more, gates close, the lock is free; what runs goes on (S29). */
  kill(): void {
    const daemon = this.#daemon;
    if (daemon === null) return;
    daemon.isAlive = false;
    this.#daemon = null;
    daemon.launcher.die();
    daemon.dispatcher.die();
    daemon.term.release();
  }

  /** In order. Nobody waits for runs. */
  stop(): void {
    const daemon = this.#daemon;
    if (daemon === null) return;
    this.begin(async () => {
      await daemon.supervisor
        .stop({ graceful: false })
        .then(() => daemon.store.close())
        .catch((error: unknown) => this.#failed(daemon, error));
      if (this.#daemon === daemon) this.kill();
    });
  }

  /** No process survives. */
  reboot(): void {
    this.kill();
    this.host.reboot();
  }

  loseLauncher(): void {
    this.#daemon?.launcher.loseProcess();
  }

  /** Something that the daemon is asked to do; it is waited for as far as that takes no time. */
  begin(operation: (supervisor: Supervisor) => Promise<void>): void {
    const daemon = this.#daemon;
    if (daemon === null) throw new Error("invariant broken: there is no daemon to ask");
    daemon.operations += 1;
    void operation(daemon.supervisor).finally(() => {
      daemon.operations -= 1;
      this.guard.activity += 1;
    });
  }

  /** Until nothing goes on any more, or only what needs time to pass. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const before = this.guard.activity;
      if (await this.#isAtRest()) return;
      await turnOfLoop();
      quiet = this.guard.activity === before ? quiet + 1 : 0;
    }
  }

  async #isAtRest(): Promise<boolean> {
    if (this.#daemon === null) return true;
    if (this.#daemon.operations > 0) return false;
    let isIdle = false;
    const note = (): void => {
      isIdle = true;
    };
    this.#daemon.supervisor.whenIdle().then(note, note);
    await Promise.resolve();
    return isIdle;
  }

  #portsOf(term: LockTerm, runner: Runner): SupervisorPorts {
    return {
      clock: this.clock,
      store: unwrap(openMemoryStore(term, this.#disk)),
      term,
      runner,
      copies: { isKept: () => false, keep: (key) => `${key}.corrupt` },
      bootId: this.host.bootId,
      versions: this.#options.versions,
      outputDirectory: "/simulated",
      baseEnv: {},
      newId: () => `a${String(++this.#attempts).padStart(9, "0")}`,
      onEvent: (event) => this.#options.onEvent(event),
    };
  }

  #failed(daemon: Daemon, cause: unknown): void {
    if (!daemon.isAlive || this.#daemon !== daemon) return;
    this.kill();
    const about = { component: "scheduler", operation: "run", cause } as const;
    const isKron = cause instanceof KronError;
    this.#options.onFatal(isKron ? cause : new KronError("invariant-broken", messageOf(cause), about));
  }
}
