/**
 * The next occasion of a job that more than its cron schedule governs: an interval, a boot, bounds of its pace, or hints in
 * force (S41). Without any of these a job follows its schedule alone (S10-S14), and nothing of this is asked.
 */
import { type CompiledRule, hasPeriods } from "../decision/model.js";
import { type Clamp, type NextOccasion, nextOccasion } from "../governor/governor.js";
import type { EpochMs } from "../time/instant.js";
import { type CronOccasion, cronOccasion, type Occasion, type SlotSource, slotOccasion } from "./occasion.js";
import { freeSlotAt, type JobStanding } from "./policy.js";
import { retryOccasion } from "./retried.js";

export function isGoverned(compiled: CompiledRule, { hints, retry }: JobStanding): boolean {
  const { minMs, maxMs } = compiled;
  return !hasPeriods(compiled) || minMs !== null || maxMs !== null || hints !== undefined || retry !== undefined;
}

/** Whether a hint takes the place of the schedule at this instant. */
export function isHinted({ hints }: JobStanding, now: EpochMs): boolean {
  if (hints === undefined) return false;
  const { interval, oneshot } = hints;
  return (interval !== null && interval.expiresAt > now) || (oneshot !== null && oneshot.expiresAt > now);
}

/**
 * null: there is none. `cron` is the period that would be next without anything else; it is asked for only where no hint
 * takes its place. A pause is not looked at: it holds an occasion, and plans none.
 */
export function governedOccasion(
  compiled: CompiledRule,
  standing: JobStanding,
  cron: () => CronOccasion | null,
  now: EpochMs,
): Occasion | null {
  const planned = plannedOccasion(compiled, standing, cron, now);
  if (isHinted(standing, now)) return planned;
  if (compiled.isReboot && standing.boot !== undefined) return bootOccasion(standing.boot, now);
  if (standing.retry === undefined) return planned;
  // S43: a failed run is tried again before anything else is due; what is due goes first.
  const retry = retryOccasion(compiled, standing, now);
  return retry !== null && (planned === null || Math.max(retry.dueAt, now) < planned.dueAt) ? retry : planned;
}

/** S44: due since the daemon first looked. The slot names the boot, whatever the clock did since the one before, or since then. */
function bootOccasion({ slotAt, at }: NonNullable<JobStanding["boot"]>, now: EpochMs): Occasion {
  const dueAt = Math.min(at, now);
  return { ...slotOccasion("reboot", slotAt, dueAt), chosenAt: dueAt };
}

function plannedOccasion(
  { everyMs, minMs, maxMs }: CompiledRule,
  standing: JobStanding,
  cron: () => CronOccasion | null,
  now: EpochMs,
): Occasion | null {
  const { hints, lastRunAt = null, definedAt: createdAt } = standing;
  let period: CronOccasion | null = null;
  const next = nextOccasion({
    everyMs,
    minMs,
    maxMs,
    cronNextAt: () => {
      period = cron();
      return period?.dueAt ?? null;
    },
    hints: { interval: hints?.interval ?? null, oneshot: hints?.oneshot ?? null },
    lastRunAt,
    createdAt,
    pausedUntilAt: null,
    now,
  });
  const occasion = next === null ? null : occasionOf(next, period, standing);
  const clamped = next === null ? null : clampOf(next);
  return occasion === null || clamped === null ? occasion : { ...occasion, clamped };
}

function clampOf({ clamped: by, clampedFromAt: fromAt }: NextOccasion): Clamp | null {
  return by === null || fromAt === null ? null : { by, fromAt };
}

function occasionOf(next: NextOccasion, period: CronOccasion | null, { slots }: JobStanding): Occasion | null {
  const { source, clamped, slotAt, at } = next;
  if (source !== "cron") return untaken(source, slotAt, at, slots);
  // The pace asks for a run before the schedule does: a slot of its own.
  if (clamped === "max") return untaken("interval", slotAt, at, slots);
  return period === null || at <= period.dueAt ? period : cronOccasion(period.decision, at);
}

/**
 * S40: a slot that was claimed is never planned again, whatever the clock says by now. Where the clock is behind an older slot,
 * the next of an interval is named after that one; a single run has no other instant.
 */
function untaken(source: SlotSource, slotAt: EpochMs, at: EpochMs, slots: JobStanding["slots"]): Occasion | null {
  const freeAt = freeSlotAt(slots, source, slotAt);
  if (freeAt === slotAt) return slotOccasion(source, slotAt, at);
  return source === "hint-oneshot" ? null : { ...slotOccasion(source, freeAt, at), chosenAt: Math.min(slotAt, at) };
}

/** When the first of the hints on record ends, or has ended; null: there is none. */
export function nextHintEndAt(hints: JobStanding["hints"]): EpochMs | null {
  if (hints === undefined) return null;
  const { interval, oneshot } = hints;
  return Math.min(interval?.expiresAt ?? Number.POSITIVE_INFINITY, oneshot?.expiresAt ?? Number.POSITIVE_INFINITY);
}
