/**
 * A daemon that is only being made: what it is made with, the steps as the phase asks for them, and how everything is taken
 * apart again when nothing comes of it.
 */
import { availableParallelism } from "node:os";
import { systemClock } from "../../actors/clock.js";
import { Phase } from "../../actors/phase.js";
import { createDecisionPool } from "../../actors/pool/decision-pool.js";
import type { DecisionPool } from "../../actors/pool/types.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { SupervisorEffect, SupervisorEvent } from "../../machines/supervisor-logic.js";
import { isOver } from "../../machines/supervisor-phase.js";
import type { ConfigFinding } from "../../persist/config-files.js";
import { type DaemonLog, errorEvent } from "../log/log.js";
import type { ConfigurationLoader } from "./configuration.js";
import type { DaemonOptions } from "./daemon-parts.js";

const MOST_THREADS = 4;
const PROGRESS_EVERY_MS = 2_000;
/** While it boots, threads must not be torn from their work: how long whoever broke off the start waits for them. */
const CLOSE_BOUND_MS = 1_500;

/** Invalid configuration refuses the start (S35). */
export class ConfigurationRefused extends KronError {
  readonly findings: readonly ConfigFinding[];

  constructor(findings: readonly ConfigFinding[]) {
    const code = findings[0]?.located.problem.code ?? "config-unreadable";
    super(code, `${findings.length} problems in the configuration`, { component: "config", operation: "load" });
    this.findings = findings;
  }
}

/** What there is of a daemon that is only being made, and how it is taken apart when nothing comes of it. */
export class Start {
  readonly options: DaemonOptions;
  readonly phase: Phase;
  readonly pool: DecisionPool;
  readonly loader: ConfigurationLoader;
  readonly #undo: (() => Promise<void>)[] = [];
  /** Of what was opened when it was over. */
  readonly #late = new Set<Promise<void>>();

  constructor(options: DaemonOptions) {
    this.options = options;
    this.phase = options.phase ?? phaseWithLog(options.log);
    this.pool = createDecisionPool({ threads: poolThreads(), onRefused: (error) => sayRefused(options.log, error) });
    this.undoBy(() => this.pool.close());
    this.loader = loaderOf(options, this.pool);
  }

  /** Of what is opened after it is over, nothing stays open. */
  readonly undoBy = (step: () => Promise<void>): void => {
    if (isOver(this.phase.snapshot)) this.#late.add(step().catch(() => undefined));
    else this.#undo.push(step);
  };

  /** One step after another, as the phase asks for them. */
  async next<T>(event: SupervisorEvent | null, effect: SupervisorEffect, act: () => Promise<T>): Promise<T> {
    const asked = this.phase.request(event, effect, act);
    if (asked === null) throw brokenOff();
    return asked;
  }

  /** What cannot be taken apart any more is left to the end of the process. */
  async takeApart(): Promise<void> {
    for (const step of this.#undo.splice(0).reverse()) await step().catch(() => undefined);
  }

  /**
   * The next start continues from what is on record, as after a crash. What others wait for is given back: the lock of a
   * directory goes with the process, a session on a server stays until its lease is over. `underWay`: the step that is being
   * taken, which may open something yet.
   */
  async breakOff(underWay: Promise<unknown>): Promise<void> {
    const apart = this.takeApart().then(async () => {
      await underWay.catch(() => undefined);
      await Promise.all(this.#late);
    });
    // Threads need their time, and take it while everything else is closed.
    const closed = Promise.all([this.pool.close().catch(() => undefined), apart]);
    await Promise.race([closed, new Promise<void>((resolve) => systemClock.after(CLOSE_BOUND_MS, resolve))]);
  }
}

/** A start or a reload that has to do without threads takes longer, and is none the worse for it. */
function sayRefused(log: DaemonLog, error: KronError): void {
  const event = errorEvent(error, { component: "planner", operation: "batch" }, systemClock.now());
  log.daemon({ ...event, fields: { ...event.fields, ...(error.hint === undefined ? {} : { hint: error.hint }) } });
}

/** As many as there are cores, but not more than pay: they share the disk, and the loop needs a core too. */
export function poolThreads(): number {
  return Math.min(MOST_THREADS, availableParallelism());
}

function loaderOf({ sources, trust, permit = {}, log }: DaemonOptions, pool: DecisionPool): ConfigurationLoader {
  const say = progressLog(log, "reading the configuration");
  // Who is trusted is looked up anew for each load: accounts come and go.
  return {
    pool,
    sources,
    permit,
    get check() {
      return trust?.() ?? null;
    },
    onProgress: ({ doneBytes, totalBytes }) => say(doneBytes, totalBytes, "bytes"),
  };
}

/** A line now and then, while something takes long. */
export function progressLog(log: DaemonLog, what: string): (done: number, total: number, unit: string) => void {
  let saidMs = 0;
  let lastDone = Number.POSITIVE_INFINITY;
  return (done, total, unit) => {
    const nowMs = systemClock.monotonicMs();
    // Less than before: it has begun anew.
    if (done < lastDone) saidMs = nowMs;
    lastDone = done === total ? Number.POSITIVE_INFINITY : done;
    if (nowMs - saidMs < PROGRESS_EVERY_MS) return;
    saidMs = nowMs;
    const fields = { what, done, total, unit };
    log.daemon({ at: systemClock.now(), event: "progress", component: "planner", level: "info", fields });
  };
}

/** The life of a daemon, each step of which is a line of its log. */
export function phaseWithLog(log: DaemonLog): Phase {
  return new Phase(({ from, to, on }) => {
    const fields = { from, to, on };
    log.daemon({ at: systemClock.now(), event: "phase", component: "scheduler", level: "debug", fields });
  });
}

/** Nobody hears of it: the phase is one already in which nothing comes of a start. */
export function brokenOff(): Error {
  return new Error("the start was broken off");
}
