/**
 * What of a job may be shown to whoever looks on: named field by field, so that nothing is shown because it was forgotten.
 * No environment, no standard input, no header, no body; of a command its program, and of a shell's text nothing.
 */

import type { JobDefinition } from "../../core/job/definition.js";
import { definitionToRaw } from "../../core/job/schema.js";
import type { RawJob } from "../../core/job/shape.js";
import type { StateDocument } from "../../core/state/document.js";
import { type Ending, withoutExcerpt } from "../../core/state/ending.js";
import type { Undecided } from "../../machines/activation.js";
import type { EndedPeriod } from "../../machines/draft.js";
import type { ExecutionSnapshot } from "../../machines/execution.machine.js";
import type { ExecutionContext } from "../../machines/execution-logic.js";
import type { JobSnapshot } from "../../machines/job.machine.js";
import type { PeriodSnapshot } from "../../machines/period.machine.js";
import type { PeriodContext } from "../../machines/period-logic.js";
import type { ActivationEvent } from "../../machines/step.js";
import { redactedText } from "../../operations/redaction.js";
import { type FrameEvent, instantText, type PublicSnapshot, snapshotOf } from "./frames.js";

/** The newest outcomes are enough to look at; `kron history` has the rest. */
const HISTORY_SHOWN = 2;
const SHELL = "/bin/sh";

type Shown = Readonly<Record<string, unknown>>;

/** Definitions never change, and are shown with every snapshot of their job. */
const shownDefinitions = new WeakMap<JobDefinition, Shown>();

export function publicDefinition(definition: JobDefinition): Shown {
  const known = shownDefinitions.get(definition);
  if (known !== undefined) return known;
  const shown = publicRaw(definitionToRaw(definition));
  shownDefinitions.set(definition, shown);
  return shown;
}

/** From the form in which definitions are stored. */
export function publicRaw(raw: RawJob): Shown {
  const { identity, schedule, timezone, dst, window, distribution, seed, constraints, policy, tags } = raw;
  const description = raw.description === undefined ? {} : { description: redactedText(raw.description) };
  const rule = { identity, schedule, timezone, dst, window, distribution, seed, constraints };
  return {
    ...rule,
    policy,
    ...description,
    tags,
    target: raw.http === undefined ? publicProcess(raw) : publicHttp(raw),
  };
}

function publicProcess({ command, shell, user, group, cwd, timeout, output }: RawJob): Shown {
  return { command: programOf(command, shell === true), user, group, cwd, timeout, output };
}

function programOf(command: RawJob["command"], isShell: boolean): string {
  if (isShell) return SHELL;
  const program = typeof command === "string" ? command.split(" ", 1)[0] : command?.[0];
  return redactedText(program ?? "");
}

/** Paths and queries of addresses hold tokens; hosts do not. */
function publicHttp({ http }: RawJob): Shown {
  const isReadable = http !== undefined && URL.canParse(http.url);
  return { http: { method: http?.method, origin: isReadable ? new URL(http.url).origin : null } };
}

function publicDocument(document: StateDocument): Shown {
  const { History, Pause, ...rest } = document;
  const pause = Pause === undefined ? {} : { Pause: { ...Pause, Reason: redactedText(Pause.Reason) } };
  return { ...rest, ...pause, History: History.slice(-HISTORY_SHOWN), HistoryLength: History.length };
}

export interface JobView {
  readonly job: JobSnapshot;
  readonly definition: Shown | null;
  readonly undecided: Undecided | null;
  /** Only the document and a place in the timeline are left of it. */
  readonly isResting: boolean;
  /** When it wakes; undefined: not known here. */
  readonly wakeAt?: number | null;
}

export function jobSnapshot({ job, definition, undecided, isResting, wakeAt }: JobView): PublicSnapshot {
  const { document, isSuspended } = job.context;
  const wake = wakeAt === undefined ? {} : { wakeAt: instantText(wakeAt) };
  const shown = {
    definition,
    document: publicDocument(document),
    isSuspended,
    isResting,
    ...wake,
    undecided: undecided && { ...withInstants(undecided), elder: undecided.elder && withInstants(undecided.elder) },
  };
  const isGone = isResting && job.matches({ standing: "removed" });
  return snapshotOf(isGone ? "stopped" : "active", job.value, shown);
}

/** Of a job whose document cannot be read: that much, and not what a new one would look like. */
export function unreadableSnapshot(definition: JobView["definition"]): PublicSnapshot {
  const error = "the state document cannot be read";
  return { ...snapshotOf("error", undefined, { definition, document: null, isResting: true }), error };
}

export function periodSnapshot(period: PeriodSnapshot): PublicSnapshot {
  return snapshotOf(isOver(period) ? "done" : "active", period.value, publicPeriod(period.context));
}

/** Of a period that no attempt has claimed: with what became of it, or given up. */
export function endedPeriodSnapshot({ period, closing }: EndedPeriod): PublicSnapshot {
  const last = periodSnapshot(period);
  if (closing === null) return { ...last, status: "stopped" };
  return { ...last, context: { ...last.context, reason: closing.reason } };
}

/** Its chart cannot go anywhere any more, whatever XState calls a nested final state. */
export function isOver(period: PeriodSnapshot): boolean {
  return period.matches("terminal") && !period.matches({ terminal: { executed: "running" } });
}

/** As every period begins. */
export function plannedSnapshot({ context }: PeriodSnapshot): PublicSnapshot {
  const first = { ...context, verdict: null, failures: 0, retryAt: null, ending: null };
  return snapshotOf("active", "planned", publicPeriod(first));
}

function publicPeriod({ occasion, verdict, ...context }: PeriodContext): Shown {
  const judged = verdict === null ? null : withInstants(verdict);
  const { decision, ...slot } = occasion;
  const planned = decision === null ? withInstants(slot) : withInstants(decision);
  const ending = publicEnding(context.ending);
  return { source: occasion.source, decision: planned, ...withInstants(context), verdict: judged, ending };
}

export function executionSnapshot(execution: ExecutionSnapshot): PublicSnapshot {
  return snapshotOf(execution.matches("ended") ? "done" : "active", execution.value, publicRun(execution.context));
}

function publicRun({ attempt, startByAt, timeoutAt, holder, endReason, ending }: ExecutionContext): Shown {
  const { attemptId, source, periodId } = attempt;
  return {
    attemptId,
    source,
    periodId,
    ...withInstants({ startByAt, timeoutAt }),
    holder,
    endReason,
    ending: publicEnding(ending),
  };
}

function publicEnding(ending: Ending | null): Ending | null {
  return ending === null ? null : withoutExcerpt(ending);
}

function shownEvent(event: ActivationEvent): ActivationEvent {
  if (event.type === "PAUSE") return { ...event, reason: redactedText(event.reason) };
  return event.type === "EXITED" ? { ...event, ending: withoutExcerpt(event.ending) } : event;
}

export function publicEvent(event: ActivationEvent): FrameEvent {
  const shown = shownEvent(event);
  return { ...withInstants(shown), type: event.type };
}

/** People read instants, not milliseconds. */
function withInstants(fields: object): Shown {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const isInstant = key.endsWith("At") && typeof value === "number";
    shown[key] = isInstant ? instantText(value) : value;
  }
  return shown;
}
