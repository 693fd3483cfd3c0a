/**
 * A whole configuration on a virtual clock: the production supervisor, machines and executor over simulated ports. Time
 * goes from one event to the next; what happens depends on the inputs and the seed alone.
 */

import type { Supervisor } from "../actors/supervisor/port.js";
import type { RecordVersions } from "../core/decision/record.js";
import { type HintWish, readHint } from "../core/governor/hint.js";
import { canonicalDefinitionText } from "../core/job/schema.js";
import { type EpochMs, floorToSecond, formatInstant } from "../core/time/instant.js";
import type { LedgerRecord } from "../persist/store.js";
import { Chronicle, type Start } from "./chronicle.js";
import type { JobHistory, Span } from "./job-history.js";
import { SimulatedMachine } from "./machine.js";
import { type Findings, findingsOf } from "./report.js";
import { nameOfRun } from "./run-name.js";
import { globExpression, type RunRule, RunRules } from "./run-rules.js";
import type { Act, Loaded, TimedAct } from "./scenario.js";
import { entryOfAct, entryOfEvent, type TimelineEntry } from "./timeline.js";

export interface SimulationInput {
  readonly loaded: Loaded;
  readonly fromAt: EpochMs;
  readonly toAt: EpochMs;
  readonly seed: string;
  readonly rules: readonly RunRule[];
  readonly acts: readonly TimedAct[];
  readonly versions: RecordVersions;
}

/** Whoever wants to see it happen. Nothing that is done here changes what happens. */
export interface SimulationObserver {
  onTimeline?(entry: TimelineEntry): void;
  onLedger?(record: LedgerRecord): void;
  onStart?(start: Start): void;
  /** Every now and then; the simulation waits for it. */
  onProgress?(elapsedMs: number): Promise<void>;
  /** Looked at every now and then: true ends the simulation where it is. */
  isInterrupted?(): boolean;
}

/** How long a service manager takes to start a daemon that ended by itself. */
const RESTART_MS = 5_000;
/** Instants between two looks outside. */
const INSTANTS_PER_LOOK = 256;

export function simulate(input: SimulationInput, observer: SimulationObserver = {}): Promise<Findings> {
  return new Simulation(input, observer).run();
}

class Simulation {
  readonly #machine: SimulatedMachine;
  readonly #chronicle: Chronicle;
  readonly #absences: Span[] = [];
  readonly #repeats: Span[] = [];
  readonly #boots: EpochMs[] = [];
  /** No daemon has been started since the machine came up. */
  #isFreshlyBooted = true;
  #loaded: Loaded;
  /** Since when no daemon runs. */
  #absentFrom: EpochMs | null = null;
  #restartMs = RESTART_MS;
  #fatals = 0;
  /** Something was done to the machine: it comes to rest before the next timer of this instant. */
  #hasActed = false;
  #isCutShort = false;
  readonly #input: SimulationInput;
  readonly #observer: SimulationObserver;

  constructor(input: SimulationInput, observer: SimulationObserver) {
    this.#input = input;
    this.#observer = observer;
    const rules = new RunRules(input.rules, input.seed);
    this.#loaded = input.loaded;
    this.#chronicle = new Chronicle(
      (start) => observer.onStart?.(start),
      (request) => rules.forget(request),
    );
    this.#machine = new SimulatedMachine({
      startAt: input.fromAt,
      versions: input.versions,
      witness: this.#chronicle,
      behaviourOf: (request) => {
        const behaviour = rules.behaviourOf(request);
        if (behaviour.refusal !== undefined) this.#chronicle.job(nameOfRun(request).identity).refused += 1;
        return behaviour;
      },
      answerOf: (request) => {
        const answer = rules.answerOf(request);
        if (answer.refusal !== undefined) this.#chronicle.job(request.identity).refused += 1;
        return answer;
      },
      onDurable: (batch) => {
        this.#chronicle.durable(batch);
        for (const record of batch.ledger ?? []) observer.onLedger?.(record);
      },
      onEvent: (event) => {
        if (event.level !== "debug") observer.onTimeline?.(entryOfEvent(event));
      },
      onFatal: (error) => {
        this.#fatals += 1;
        this.#tell("daemon_failed", { error: error.code, message: error.message });
        // Only a store that fails is a reason to end.
        const isAsked = error.code === "state-write-failed";
        if (!isAsked) this.#chronicle.violate(`the daemon ended by itself: ${error.code}: ${error.message}`);
        this.#gone(this.#restartMs);
      },
      onCrash: () => {
        this.#tell("daemon_killed");
        this.#gone(this.#restartMs);
      },
    });
  }

  async run(): Promise<Findings> {
    const { clock } = this.#machine;
    const horizonMs = this.#input.toAt - this.#input.fromAt;
    for (const { afterMs, act } of this.#input.acts) this.#later(afterMs, () => this.#perform(act));
    this.#boot();
    await this.#machine.settle();
    for (let instants = 1; ; instants++) {
      const dueMs = clock.nextDueMs();
      if (dueMs === null || dueMs >= horizonMs) break;
      if (instants % INSTANTS_PER_LOOK === 0 && (await this.#mustEnd())) break;
      this.#fireAll(dueMs);
      await this.#machine.settle();
    }
    await this.#observer.onProgress?.(this.#isCutShort ? clock.monotonicMs() : horizonMs);
    return this.#findings(horizonMs);
  }

  /** All timers of one instant together, as an event loop does that wakes for them. */
  #fireAll(dueMs: number): void {
    const { clock } = this.#machine;
    this.#hasActed = false;
    do clock.fireFirst();
    while (!this.#hasActed && clock.nextDueMs() === dueMs);
  }

  async #mustEnd(): Promise<boolean> {
    await this.#observer.onProgress?.(this.#machine.clock.monotonicMs());
    this.#isCutShort = this.#observer.isInterrupted?.() === true;
    return this.#isCutShort;
  }

  #findings(horizonMs: number): Findings {
    const { clock } = this.#machine;
    const leftMs = this.#isCutShort ? 0 : horizonMs - clock.monotonicMs();
    const endAt = clock.now() + leftMs;
    const absences =
      this.#absentFrom === null ? this.#absences : [...this.#absences, this.#absence(this.#absentFrom, endAt)];
    return findingsOf(this.#chronicle, {
      fromAt: this.#input.fromAt,
      endAt,
      elapsedMs: clock.monotonicMs() + leftMs,
      isCutShort: this.#isCutShort,
      settings: this.#loaded.settings,
      absences,
      repeats: this.#repeats,
      boots: this.#boots,
      fatals: this.#fatals,
    });
  }

  // --- the life of daemons ---

  #boot(): void {
    const now = this.#machine.clock.now();
    if (this.#absentFrom !== null) this.#absences.push(this.#absence(this.#absentFrom, now));
    this.#absentFrom = null;
    this.#restartMs = RESTART_MS;
    if (this.#isFreshlyBooted) this.#boots.push(floorToSecond(now));
    this.#isFreshlyBooted = false;
    this.#adopt(this.#loaded);
    this.#tell("daemon_started");
    this.#machine.boot(this.#loaded);
  }

  #absence(fromAt: EpochMs, untilAt: EpochMs): Span {
    return { fromAt: floorToSecond(fromAt), untilAt: Math.max(untilAt, fromAt) + 1 };
  }

  /** No daemon from now on, and another one after a while. */
  #gone(forMs: number): void {
    this.#absentFrom ??= this.#machine.clock.now();
    this.#later(forMs, () => {
      if (!this.#machine.isUp) this.#boot();
    });
  }

  /** These definitions are in force from now on. */
  #adopt(loaded: Loaded): void {
    const now = floorToSecond(this.#machine.clock.now());
    this.#loaded = loaded;
    const present = new Set<string>();
    for (const definition of loaded.definitions) {
      present.add(definition.identity);
      const job = this.#chronicle.job(definition.identity);
      const before = job.definition;
      if (before !== null && canonicalDefinitionText(before) === canonicalDefinitionText(definition)) continue;
      job.define(definition, now);
    }
    for (const job of this.#chronicle.jobs.values()) {
      if (job.definition !== null && !present.has(job.identity)) job.define(null, now);
    }
  }

  // --- what happens beside the jobs ---

  #later(afterMs: number, act: () => void): void {
    this.#machine.clock.after(afterMs, () => {
      this.#hasActed = true;
      act();
    });
  }

  #perform(act: Act): void {
    switch (act.do) {
      case "crash":
        this.#crash(act);
        break;
      case "down":
        this.#takeDown(act.forMs);
        break;
      case "reboot":
        this.#machine.reboot();
        this.#isFreshlyBooted = true;
        this.#tell("machine_down");
        this.#gone(act.forMs);
        break;
      case "lose-launcher":
        this.#tell("launcher_killed");
        this.#machine.loseLauncher();
        break;
      case "jump":
        this.#jump(act.byMs);
        break;
      case "freeze":
        this.#freeze(act.forMs);
        break;
      case "store-failure":
        this.#restartMs = act.forMs;
        this.#machine.guard.faults.storeFault = { errno: act.errno, isDurable: act.isDurable };
        break;
      case "reload":
        this.#reload(act.config);
        break;
      default:
        this.#operate(act);
    }
  }

  #crash({ forMs, step }: Extract<Act, { do: "crash" }>): void {
    this.#restartMs = forMs;
    if (step !== null) {
      this.#machine.guard.faults.crashAt = step;
      return;
    }
    if (!this.#machine.isUp) return;
    this.#tell("daemon_killed");
    this.#machine.kill();
    this.#gone(forMs);
  }

  #takeDown(forMs: number): void {
    if (this.#machine.isUp) {
      this.#tell("daemon_stopped");
      this.#machine.stop();
    }
    this.#absentFrom ??= this.#machine.clock.now();
    this.#later(forMs, () => {
      // What does not end by itself in all that time is ended.
      this.#machine.kill();
      this.#boot();
    });
  }

  #jump(byMs: number): void {
    const { clock } = this.#machine;
    const before = clock.now();
    clock.jump(byMs);
    const after = clock.now();
    this.#tell("clock_moved", { from: formatInstant(before), by_ms: byMs });
    if (after > before) this.#absences.push(this.#absence(before, after));
    else this.#repeats.push({ fromAt: after, untilAt: before + 1 });
  }

  #freeze(forMs: number): void {
    const { clock } = this.#machine;
    const before = clock.now();
    clock.freeze(Math.min(forMs, this.#input.toAt - this.#input.fromAt - clock.monotonicMs()));
    this.#absences.push(this.#absence(before, clock.now()));
    this.#tell("machine_frozen", { from: formatInstant(before) });
  }

  #reload(config: Loaded): void {
    if (!this.#machine.isUp) {
      // Read by the next daemon.
      this.#loaded = config;
      return;
    }
    this.#adopt(config);
    this.#machine.begin(async (supervisor) => {
      await supervisor.reload(config.definitions, config.settings, []).catch(() => undefined);
    });
  }

  #operate(act: Extract<Act, { job: string }>): void {
    const expression = globExpression(act.job);
    const identities = this.#loaded.definitions.map(({ identity }) => identity).filter((it) => expression.test(it));
    if (identities.length === 0) this.#tell("nobody_concerned", { do: act.do, job: act.job });
    for (const identity of identities) {
      if (this.#machine.isUp) this.#ask(act, identity);
      else this.#tell("nobody_to_ask", { do: act.do }, identity);
    }
  }

  #ask(act: Extract<Act, { job: string }>, identity: string): void {
    const now = this.#machine.clock.now();
    const job = this.#chronicle.job(identity);
    this.#machine.begin(async (supervisor) => {
      try {
        if (act.do === "pause") {
          const { forMs, reason, catchesUp = false } = act;
          const span = job.pause(now, now + forMs, catchesUp);
          await supervisor.pause(identity, now + forMs, reason, catchesUp);
          span.surelyFromAt = this.#machine.clock.now();
        } else if (act.do === "resume") {
          job.resume(now);
          await supervisor.resume(identity);
        } else if (act.do === "hint") {
          await this.#hint(supervisor, job, act.wish);
        } else if (act.do === "unhint") {
          job.unhint(now);
          await supervisor.clearHints(identity, "all");
        } else if (act.do === "cancel") {
          const count = await supervisor.cancel(identity);
          this.#tell("cancelled", { runs: count }, identity);
        } else {
          const started = await supervisor.runNow(identity);
          if (!started.ok) this.#tell("run_refused", { message: started.message }, identity);
        }
      } catch {
        // The daemon ended meanwhile, which is told elsewhere.
      }
    });
  }

  /** The check is told of it before the daemon is: one that dies meanwhile may have put it on record. */
  async #hint(supervisor: Supervisor, job: JobHistory, wish: HintWish): Promise<void> {
    const { identity } = job;
    const read = readHint(wish, this.#machine.clock.now());
    if (!read.ok) {
      this.#tell("hint_refused", { message: read.error[0]?.message ?? "" }, identity);
      return;
    }
    const span = job.hint(this.#machine.clock.now(), read.value);
    const answer = await supervisor.hint(identity, read.value);
    if (answer === "set") span.surelyFromAt = this.#machine.clock.now();
    else this.#tell("hint_refused", { message: answer }, identity);
  }

  #tell(event: string, fields: Readonly<Record<string, unknown>> = {}, identity: string | null = null): void {
    this.#observer.onTimeline?.(entryOfAct(this.#machine.clock.now(), event, fields, identity));
  }
}
