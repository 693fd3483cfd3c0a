/**
 * From what the supervisor's observer is told to frames: pure. A job's activation before and after a step is compared;
 * what is new is born, what has changed has a new snapshot, what is gone has ended.
 */
import { isPeriod } from "../../core/period/occasion.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Activation, Attempt } from "../../machines/activation.js";
import { type Ended, idOf } from "../../machines/draft.js";
import type { PeriodSnapshot } from "../../machines/period.machine.js";
import type { ActivationEvent } from "../../machines/step.js";
import { CHARTS } from "./charts.js";
import {
  type ActorBirth,
  type ActorKind,
  actorFrame,
  eventFrame,
  type Frame,
  type FrameEvent,
  jobSession,
  LAUNCHER,
  type PublicSnapshot,
  periodSession,
  type Said,
  SUPERVISOR,
  snapshotFrame,
} from "./frames.js";
import {
  endedPeriodSnapshot,
  executionSnapshot,
  isOver,
  type JobView,
  jobSnapshot,
  periodSnapshot,
  plannedSnapshot,
  publicEvent,
} from "./public-view.js";

/** A job with something under way. */
export interface LiveJob {
  readonly identity: string;
  readonly definition: JobView["definition"];
  readonly activation: Activation;
}

interface TakenStep {
  readonly identity: string;
  /** The one in force after the step; null: not known. */
  readonly definition: JobView["definition"];
  readonly event: ActivationEvent;
  readonly before: Activation;
  readonly after: Activation;
  readonly ended: Ended;
}

/** All that there is of it now: on its rehydration, and for a client that has just come. */
export function presentFrames(live: LiveJob, now: EpochMs): Said[] {
  const { identity, activation } = live;
  const periods = [...periodsOf(activation).values()];
  return [
    bornJob(identity, jobSnapshot(viewOf(live)), now),
    ...periods.map((period) => bornPeriod(identity, period, periodSnapshot(period), now)),
    ...activation.attempts.map((attempt) => bornExecution(identity, attempt, activation, now)),
  ];
}

/** One frame for a job of which only its document is left. */
export function restingFrame(identity: string, snapshot: PublicSnapshot, now: EpochMs): Said {
  return bornJob(identity, snapshot, now);
}

export function passivatedFrame(live: LiveJob, wakeAt: EpochMs | null, now: EpochMs): Said {
  const snapshot = jobSnapshot({ ...viewOf(live), isResting: true, wakeAt });
  return said("job", live.identity, snapshotFrame(jobSession(live.identity), { type: "REST" }, snapshot, now));
}

export function steppedFrames(step: TakenStep, now: EpochMs): Said[] {
  return [
    received(step, now),
    ...bornPeriods(step, now),
    ...changedExecutions(step, now),
    ...changedPeriods(step, now),
    ...changedJob(step, now),
  ];
}

/** What the launcher or the store reports is about an attempt; everything else is for the job. */
function received({ identity, event, before }: TakenStep, now: EpochMs): Said {
  const isKnown = "attemptId" in event && before.attempts.some((attempt) => idOf(attempt) === event.attemptId);
  const sourceId = FROM_LAUNCHER.has(event.type) ? LAUNCHER : SUPERVISOR;
  const sessionId = isKnown ? event.attemptId : jobSession(identity);
  return said(isKnown ? "execution" : "job", identity, eventFrame(sessionId, sourceId, publicEvent(event), now));
}

const FROM_LAUNCHER: ReadonlySet<ActivationEvent["type"]> = new Set([
  "READY",
  "FAILED",
  "STARTED",
  "NOT_RUN",
  "EXITED",
  "LOST",
  "TERMINATED",
]);

/** Every period begins as planned, and one that is due goes on from there in the same step, perhaps to its end. */
function bornPeriods({ identity, before, after, ended, event }: TakenStep, now: EpochMs): Said[] {
  const [known, present] = [periodsOf(before), periodsOf(after)];
  const brief = ended.periods.filter((end) => end.closing !== null && !known.has(periodIdOf(end.period)));
  const lives = [
    ...brief.map((end) => ({ period: end.period, last: endedPeriodSnapshot(end) })),
    ...[...present.values()].map((period) => ({
      period,
      last: period.matches("planned") ? null : periodSnapshot(period),
    })),
  ];
  return lives
    .filter(({ period }) => !known.has(periodIdOf(period)))
    .flatMap(({ period, last }) => {
      const first = bornPeriod(identity, period, plannedSnapshot(period), now);
      if (last === null) return [first];
      const sessionId = periodSession(identity, periodIdOf(period));
      return [first, changed("period", identity, sessionId, event, last, now)];
    });
}

function changedExecutions({ identity, before, after, ended, event }: TakenStep, now: EpochMs): Said[] {
  const known = attemptsOf(before);
  const there = after.attempts.flatMap((attempt) => {
    const was = known.get(idOf(attempt));
    if (was === undefined) return [bornExecution(identity, attempt, after, now)];
    if (was.execution === attempt.execution) return [];
    return [changed("execution", identity, idOf(attempt), event, executionSnapshot(attempt.execution), now)];
  });
  const gone = ended.attempts.filter((attempt) => known.has(idOf(attempt)));
  const last = gone.map((attempt) => {
    return changed("execution", identity, idOf(attempt), event, executionSnapshot(attempt.execution), now);
  });
  return [...there, ...last];
}

function changedPeriods({ identity, before, after, ended, event }: TakenStep, now: EpochMs): Said[] {
  const present = periodsOf(after);
  const last = new Map<string, PublicSnapshot>();
  for (const { period } of ended.attempts) if (period !== null) last.set(periodIdOf(period), periodSnapshot(period));
  for (const end of ended.periods) last.set(periodIdOf(end.period), endedPeriodSnapshot(end));
  return [...periodsOf(before)].flatMap(([periodId, was]) => {
    const is = present.get(periodId);
    // One that is kept with its attempt after its end was told of then.
    if (is === was || (is === undefined && isOver(was))) return [];
    const snapshot = is === undefined ? last.get(periodId) : periodSnapshot(is);
    if (snapshot === undefined) return [];
    return [changed("period", identity, periodSession(identity, periodId), event, snapshot, now)];
  });
}

function changedJob({ identity, definition, before, after, event }: TakenStep, now: EpochMs): Said[] {
  if (before.job === after.job && before.undecided === after.undecided) return [];
  const snapshot = jobSnapshot(viewOf({ identity, definition, activation: after }));
  return [changed("job", identity, jobSession(identity), event, snapshot, now)];
}

function viewOf({ definition, activation: { job, undecided } }: LiveJob): JobView {
  return { job, definition, undecided, isResting: false };
}

/** The live one, and those that were claimed. */
function periodsOf({ period, attempts }: Activation): ReadonlyMap<string, PeriodSnapshot> {
  const all = [...attempts.map((attempt) => attempt.period), period].filter((it) => it !== null);
  return new Map(all.map((it) => [it.context.occasion.periodId, it]));
}

function periodIdOf({ context }: PeriodSnapshot): string {
  return context.occasion.periodId;
}

function attemptsOf({ attempts }: Activation): ReadonlyMap<string, Attempt> {
  return new Map(attempts.map((attempt) => [idOf(attempt), attempt]));
}

function bornJob(identity: string, snapshot: PublicSnapshot, now: EpochMs): Said {
  const birth = { sessionId: jobSession(identity), parentId: SUPERVISOR, snapshot };
  return bornActor("job", identity, identity, birth, now);
}

function bornPeriod(identity: string, period: PeriodSnapshot, snapshot: PublicSnapshot, now: EpochMs): Said {
  const periodId = periodIdOf(period);
  return bornActor("period", identity, periodId, { sessionId: periodSession(identity, periodId), snapshot }, now);
}

/** Below its period, where that is known: not of manual runs, nor of those that an earlier daemon started. */
function bornExecution(identity: string, { execution }: Attempt, among: Activation, now: EpochMs): Said {
  const { attemptId, source, periodId } = execution.context.attempt;
  const isBelow = isPeriod(source) && periodsOf(among).has(periodId);
  const parentId = isBelow ? periodSession(identity, periodId) : jobSession(identity);
  const birth = { sessionId: attemptId, parentId, snapshot: executionSnapshot(execution) };
  return bornActor("execution", identity, attemptId, birth, now);
}

type Birth = Pick<ActorBirth, "sessionId" | "snapshot"> & Partial<Pick<ActorBirth, "parentId">>;

function bornActor(kind: ActorKind, identity: string, name: string, birth: Birth, now: EpochMs): Said {
  const { sessionId, snapshot, parentId = jobSession(identity) } = birth;
  return said(kind, identity, actorFrame({ name, sessionId, parentId, definition: CHARTS[kind], snapshot }, now));
}

function changed(
  kind: ActorKind,
  identity: string,
  sessionId: string,
  event: ActivationEvent,
  snapshot: PublicSnapshot,
  now: EpochMs,
): Said {
  const cause: FrameEvent = publicEvent(event);
  return said(kind, identity, snapshotFrame(sessionId, cause, snapshot, now));
}

function said(kind: ActorKind, identity: string, frame: Frame): Said {
  return { kind, identity, frame };
}
