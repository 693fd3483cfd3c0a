/**
 * Runs of jobs that are looked after here, on other nodes (C14): their ends are put on record when their nodes tell them,
 * and those of a node that is lost are closed, never to be started again (C15). And the other way round: which runs of this
 * node go on when it looks after their jobs no longer. It asks nobody and waits for nobody: whoever knows more tells it.
 */
import { activeStates } from "../../../core/state/document.js";
import { NODE_LOST } from "../../../core/state/ending.js";
import { idOf, isUnclaimed } from "../../../machines/draft.js";
import type { ExecutionSnapshot } from "../../../machines/execution.machine.js";
import type { ActivationEvent } from "../../../machines/step.js";
import { isHalted, isStarting } from "../../../machines/supervisor-phase.js";
import type { Phase } from "../../phase.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { JobSet } from "../rows/job-set.js";
import { adoptedOutput, type RunPlace } from "./arm-request.js";
import {
  type AwayEnd,
  type AwayRun,
  type ElsewhereRun,
  type EndAnswer,
  isLost,
  type NodeNews,
  otherNodeOf,
} from "./away.js";
import type { SupervisorCore } from "./core.js";
import { endEvent } from "./executor.js";

interface OpenRun {
  readonly entry: JobEntry;
  readonly execution: ExecutionSnapshot;
  /** null: this one. */
  readonly node: string | null;
}

export class RunsElsewhere {
  readonly #ports: Pick<SupervisorPorts, "bootId" | "clock" | "node">;
  readonly #phase: Phase;
  readonly #jobs: JobSet;
  readonly #core: SupervisorCore;

  constructor(
    ports: Pick<SupervisorPorts, "bootId" | "clock" | "node">,
    phase: Phase,
    jobs: JobSet,
    core: SupervisorCore,
  ) {
    this.#ports = ports;
    this.#phase = phase;
    this.#jobs = jobs;
    this.#core = core;
  }

  list(): readonly ElsewhereRun[] {
    return [...this.#open()].flatMap((run) => {
      return run.node === null ? [] : [{ node: run.node, identity: run.entry.identity, attemptId: idOf(run) }];
    });
  }

  /** Those that go on on this node; whoever takes them over watches them. */
  staying(place: RunPlace): readonly AwayRun[] {
    return [...this.#open()].flatMap(({ entry: { identity, definition }, execution, node }) => {
      const { attempt, holder } = execution.context;
      if (node !== null || holder === null || isOver(execution)) return [];
      const output = adoptedOutput(definition, attempt, place);
      const hasBegun = !execution.matches({ running: "released" });
      return [{ identity, attemptId: attempt.attemptId, holder, output, hasBegun }];
    });
  }

  /** Told twice it is taken once: of a run that is over the machines hear nothing. */
  async ended(identity: string, end: AwayEnd): Promise<EndAnswer> {
    if (!this.#mayHear) return "unknown";
    const run = this.#find(identity, end.attemptId);
    if (run === null) return this.#answerFromRecord(identity, end.attemptId);
    // Of a run of this node the runner tells the end.
    if (run.node === null) return "taken";
    if (isOver(run.execution)) {
      this.#askAgain(run.entry, end.attemptId);
      return "taken";
    }
    if (end.hasBegun) this.#core.deliver(run.entry, { type: "STARTED", attemptId: end.attemptId });
    return (await this.#close(run.entry, endEvent(end))) ? "taken" : "unknown";
  }

  /** Resolves with how many runs were closed, when that is durable. */
  async hear(node: string, news: NodeNews): Promise<number> {
    if (!this.#mayHear) return 0;
    const now = this.#ports.clock.now();
    const runs = [...this.#open()].filter((run) => run.node === node);
    const lost = runs.filter(({ execution: { context } }) => {
      return context.holder !== null && isLost(context.holder, context, news, now);
    });
    if (news.kind === "back") for (const run of runs) this.#askAgain(run.entry, idOf(run));
    const closed = await Promise.all(lost.map((run) => this.#lose(run, node)));
    return closed.filter(Boolean).length;
  }

  /** Claimed, and without an end. */
  *#open(): Generator<OpenRun> {
    for (const entry of this.#jobs.entries()) {
      for (const { execution } of entry.activation?.attempts ?? []) {
        const { holder } = execution.context;
        const isOpen = holder !== null && !isUnclaimed(execution);
        if (isOpen) yield { entry, execution, node: otherNodeOf(holder, this.#ports) };
      }
    }
  }

  #find(identity: string, attemptId: string): OpenRun | null {
    for (const run of this.#open()) {
      if (run.entry.identity === identity && idOf(run) === attemptId) return run;
    }
    return null;
  }

  get #mayHear(): boolean {
    const { snapshot } = this.#phase;
    return !isStarting(snapshot) && !isHalted(snapshot);
  }

  /** What is not on record as running has been closed. Otherwise it is a run of a job that lies with somebody else. */
  async #answerFromRecord(identity: string, attemptId: string): Promise<EndAnswer> {
    const document = await this.#core.records.storedDocument(identity);
    const runs = document === null ? [] : activeStates(document);
    return runs.some(({ AttemptID }) => AttemptID === attemptId) ? "unknown" : "taken";
  }

  async #lose({ entry, execution }: OpenRun, node: string): Promise<boolean> {
    const { attemptId, periodId } = execution.context.attempt;
    this.#core.executor.giveUp(attemptId);
    if (isOver(execution)) {
      this.#askAgain(entry, attemptId);
      return false;
    }
    const isClosed = await this.#close(entry, { type: "EXITED", attemptId, ending: NODE_LOST });
    const about = { component: "executor", level: "warn", identity: entry.identity, periodId } as const;
    const fields = { attempt_id: attemptId, node };
    if (isClosed) this.#core.emit({ at: this.#ports.clock.now(), event: "node_lost", ...about, fields });
    return isClosed;
  }

  /** False: the daemon ends before it is durable. */
  async #close(entry: JobEntry, event: Extract<ActivationEvent, { readonly attemptId: string }>): Promise<boolean> {
    try {
      await this.#core.ask(entry, { event: () => event, now: null });
    } catch {
      return false;
    }
    this.#askAgain(entry, event.attemptId);
    return true;
  }

  /** S28: one that did not end when it was asked to, for whatever has changed since. */
  #askAgain(entry: JobEntry, attemptId: string): void {
    const attempt = entry.activation?.attempts.find((one) => idOf(one) === attemptId);
    if (attempt?.execution.matches({ terminating: "stubborn" }) !== true) return;
    this.#core.deliver(entry, { type: "END", attemptId, reason: "cancelled" });
  }
}

/** Its end is on record; what is left of its processes may not have ended (S28). */
function isOver({ context: { ending } }: ExecutionSnapshot): boolean {
  return ending !== null;
}
