/**
 * One opportunity to run, whatever it comes from: a period of the job's cron schedule with its decision, a slot that an
 * interval or a hint has planned, or one that somebody has asked for (S40). Everything that plans, judges or explains a
 * start speaks of occasions.
 */
import type { Decision } from "../decision/model.js";
import type { Clamp } from "../governor/governor.js";
import { type EpochMs, formatInstant } from "../time/instant.js";

/** Slots that the job plans for itself, beside the periods of its schedule. */
const SLOT_SOURCES = ["interval", "hint-interval", "hint-oneshot", "retry", "reboot"] as const;
export type SlotSource = (typeof SLOT_SOURCES)[number];
/** Slots that somebody asks for: now, whatever the job has planned. */
const ASKED_SOURCES = ["manual"] as const;
export type AskedSource = (typeof ASKED_SOURCES)[number];
export type OccasionSource = "cron" | SlotSource | AskedSource;

export interface CronOccasion {
  readonly source: "cron";
  readonly periodId: string;
  /** The promised instant: the nominal time. */
  readonly slotAt: EpochMs;
  /** null: unschedulable. */
  readonly chosenAt: EpochMs | null;
  readonly dueAt: EpochMs;
  /** A bound of the pace has moved it. Absent: none has. */
  readonly clamped?: Clamp;
  readonly decision: Decision;
}

export interface SlotOccasion {
  readonly source: SlotSource | AskedSource;
  readonly periodId: string;
  /** The promised instant, before anything raised it to the present (S40). */
  readonly slotAt: EpochMs;
  readonly chosenAt: EpochMs;
  /** Never before `chosenAt`, and never in the past of the instant it was planned at. */
  readonly dueAt: EpochMs;
  /** A bound of the pace has moved it. Absent: none has. */
  readonly clamped?: Clamp;
  /** S43: from then on it is not wanted any more. Absent: always. */
  readonly untilAt?: EpochMs;
  /** Whoever asked for it wants it only while nothing of the job is running. */
  readonly onlyIfIdle?: true;
  readonly decision: null;
}

export type Occasion = CronOccasion | SlotOccasion;

/** S15: an unschedulable period is due when its window opens, every other at its chosen time. */
export function dueAt({ chosenAt, windowStartAt }: Decision): EpochMs {
  return chosenAt ?? windowStartAt;
}

/** `notBeforeAt`: the pace of the job does not allow it earlier. */
export function cronOccasion(decision: Decision, notBeforeAt: EpochMs = Number.NEGATIVE_INFINITY): CronOccasion {
  const { periodId, nominalAt, chosenAt } = decision;
  return {
    source: "cron",
    periodId,
    slotAt: nominalAt,
    chosenAt,
    dueAt: Math.max(dueAt(decision), notBeforeAt),
    decision,
  };
}

export function slotOccasion(source: SlotOccasion["source"], slotAt: EpochMs, startsAt: EpochMs): SlotOccasion {
  return { source, periodId: formatInstant(slotAt), slotAt, chosenAt: slotAt, dueAt: startsAt, decision: null };
}

/** S42: of a one-shot hint, the instant that it names, whatever moved its slot: by this it is known again. */
export function hintedAtOf({ clamped, slotAt }: Pick<SlotOccasion, "clamped" | "slotAt">): EpochMs {
  return clamped?.fromAt ?? slotAt;
}

/** As documents, records and logs have it: cron is what goes without saying (STATE). */
export function recordedSource(source: OccasionSource): SlotOccasion["source"] | null {
  return source === "cron" ? null : source;
}

/** Whether a run on record, or an attempt, is that of a period of the job's own schedule. */
export function isPeriod(recorded: string | null): recorded is null {
  return recorded === null;
}

/** Whether it is one that the job planned for itself: not one that somebody asked for. */
export function isOwnSource(recorded: string | null): boolean {
  return isPeriod(recorded) || (SLOT_SOURCES as readonly string[]).includes(recorded);
}

/** Whether somebody asked for it. */
export function isAskedSource(recorded: string | null): recorded is AskedSource {
  return ASKED_SOURCES.some((source) => source === recorded);
}

/** The period itself, whatever holds it back. */
export function liveOf(occasion: Occasion | null): CronOccasion | null {
  return occasion?.source === "cron" ? cronOccasion(occasion.decision) : null;
}

/** The nominal time, of a period of the schedule. */
export function periodOf(occasion: Occasion | null): EpochMs | null {
  return occasion?.source === "cron" ? occasion.slotAt : null;
}
