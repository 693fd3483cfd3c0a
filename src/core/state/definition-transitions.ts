/** The transitions that come from people: a definition seen, changed or removed, a pause, a rewind. They start nothing. */
import { isEndpoint } from "../base/identity.js";
import { type CompiledRule, hasPeriods } from "../decision/model.js";
import { KRON } from "../governor/author.js";
import { EVALUATION_AHEAD_MS, slotsAhead } from "../period/policy.js";
import {
  type EpochMs,
  floorToSecond,
  formatInstant,
  formatSecond,
  knownInstant,
  parseInstant,
  wholeSecondsFrom,
} from "../time/instant.js";
import { type Aftermath, gapFacts, passedOver } from "./aftermath.js";
import { type ActiveState, activeStates, lastHandledAt, type StateDocument } from "./document.js";
import { dropRetry } from "./period-transitions.js";
import { RETRY_SOURCE } from "./retry.js";
import { withoutStartFailure } from "./start-failure.js";
import { broken, sealed, type Transition, unchanged } from "./transition.js";

/** What a definition means for the document at this moment. */
export interface Birth {
  /** S44. */
  readonly isReboot: boolean;
  /** S14: what `DefinedAt` says. */
  readonly at: EpochMs;
}

/** S14: the pace of an endpoint counts from the very instant it was made at: those made one by one are not due at once. */
export function birthBy(compiled: CompiledRule, now: EpochMs): Birth {
  const { rule, isReboot } = compiled;
  const isExact = !hasPeriods(compiled) && isEndpoint(rule.identity);
  return { isReboot, at: isExact ? now : floorToSecond(now) };
}

/**
 * S14: the definition in force, from now on. `carriedAt` is the unhandled period that was live under the old one, which
 * a change does not turn into the past. The same rule again is no change, unless the job had been removed; but with what was
 * changed beside it, a command or an account, a start may succeed that failed (S46).
 */
export function define(
  document: StateDocument,
  definitionHash: string,
  carriedAt: EpochMs | null,
  now: EpochMs,
  birth: Birth,
): Transition {
  const defined = { kind: "defined", identity: document.Identity, definitionHash, at: now } as const;
  const cleared = withoutStartFailure(document);
  if (document.DefinitionHash === definitionHash && document.RemovedAt === undefined) {
    return cleared === document ? unchanged(document) : sealed(document, cleared, defined);
  }
  const { RemovedAt, CarriedPeriodID: _, Boot, ...rest } = cleared;
  const isCarried = carriedAt !== null && RemovedAt === undefined;
  const next: StateDocument = {
    ...rest,
    DefinedAt: formatInstant(birth.at),
    DefinitionHash: definitionHash,
    ...(isCarried ? { CarriedPeriodID: formatInstant(carriedAt) } : {}),
    // S44: a boot that is due stays so when the job is edited.
    ...(birth.isReboot && RemovedAt === undefined && Boot !== undefined ? { Boot } : {}),
  };
  return sealed(document, next, defined);
}

/**
 * S14: what is dated after the present moment was dated by a clock that ran ahead, and would keep the job from running until
 * then: it counts as now.
 */
export function redate(document: StateDocument, now: EpochMs): Transition {
  const { DefinedAt = "", EvaluatesFrom = "", DefinitionHash = "" } = document;
  const runs = runsUntilNow(document, now);
  const isPassed = isAfter(EvaluatesFrom, now + EVALUATION_AHEAD_MS);
  if (!isAfter(DefinedAt, now) && !isPassed && runs === document) {
    return unchanged(document);
  }
  const next: StateDocument = {
    ...runs,
    ...(isAfter(DefinedAt, now) ? { DefinedAt: upTo(DefinedAt, now) } : {}),
    ...(isPassed ? { EvaluatesFrom: formatSecond(now) } : {}),
  };
  return sealed(document, next, {
    kind: "defined",
    identity: document.Identity,
    definitionHash: DefinitionHash,
    at: now,
  });
}

/**
 * S40: a slot that a clock ahead has claimed would be the newest of its source until the clock has caught up, and an
 * interval would count from the run it had.
 */
function runsUntilNow(document: StateDocument, now: EpochMs): StateDocument {
  const { LastSlot: slots = {}, LastRunAt = "", Retry, ...rest } = document;
  // Those of the last hour stand: what follows them is named after them.
  const farAt = now + EVALUATION_AHEAD_MS;
  const isFar = isAfter(LastRunAt, farAt) || slotsAhead(slots, farAt).length > 0;
  const ahead = slotsAhead(slots, now).filter((source) => isFar || (source === RETRY_SOURCE && Retry !== undefined));
  if (ahead.length === 0 && !isAfter(LastRunAt, now)) return document;
  const kept = Object.entries(slots).filter(([source]) => !ahead.includes(source));
  return {
    ...rest,
    ...(kept.length === 0 ? {} : { LastSlot: Object.fromEntries(kept) }),
    ...(LastRunAt === "" ? {} : { LastRunAt: upTo(LastRunAt, now) }),
    ...(Retry === undefined ? {} : { Retry: { ...Retry, At: asLongAfter(Retry.At, LastRunAt, now) } }),
  };
}

/** Its place within the second stays: what many of them count from must not become one instant. */
function upTo(text: string, now: EpochMs): string {
  const at = knownInstant(text);
  return at <= now ? text : formatInstant(wholeSecondsFrom(at, now));
}

/** S43: as long after the attempt before it as it was to be, where that is dated ahead. */
function asLongAfter(retryAt: string, ranAt: string, now: EpochMs): string {
  const [retry, ran] = [parseInstant(retryAt), parseInstant(ranAt)];
  if (!retry.ok || !ran.ok || ran.value <= now) return retryAt;
  // A name that no retry had before: those were whole seconds, or as many times dated anew.
  return formatInstant(Math.max(floorToSecond(now), retry.value - (floorToSecond(ran.value) - floorToSecond(now))) + 1);
}

function isAfter(text: string, latestAt: EpochMs): boolean {
  const at = parseInstant(text);
  return at.ok && at.value > latestAt;
}

/** S16: a removed job keeps its state, so that adding it again repeats nothing. */
export function retire(document: StateDocument, now: EpochMs): Transition {
  if (document.RemovedAt !== undefined) {
    return unchanged(document);
  }
  const { Retry: _, ...rest } = withoutStartFailure(document);
  const next = { ...rest, RemovedAt: formatSecond(now) };
  return sealed(document, next, { kind: "removed", identity: document.Identity, at: now });
}

/**
 * S17: no trigger until then, to the second (S1); nothing is handled meanwhile. A pause that goes on keeps its beginning.
 * `isNew`: it begins now; otherwise nobody knows when it was asked for.
 */
export function pause(
  document: StateDocument,
  endAt: EpochMs,
  reason: string,
  now: EpochMs,
  catchesUp = false,
  isNew = true,
  by?: string,
): Transition {
  const untilAt = floorToSecond(endAt);
  const since = document.Pause?.Since ?? (isNew ? formatSecond(now) : undefined);
  const about = { Until: formatInstant(untilAt), Reason: reason, ...(since === undefined ? {} : { Since: since }) };
  const more = { ...(catchesUp ? { CatchUp: true as const } : {}), ...(by === undefined ? {} : { By: by }) };
  const next: StateDocument = { ...letGo(document), Pause: { ...about, ...more } };
  const paused = { kind: "paused", identity: document.Identity, untilAt, reason, catchesUp, at: now } as const;
  return sealed(document, next, { ...paused, ...(by === undefined ? {} : { by }) });
}

/** S51: whoever says otherwise of a job that has stopped itself lets it begin to count anew. */
function letGo(document: StateDocument): StateDocument {
  if (document.Pause?.By !== KRON || document.Tally === undefined) return document;
  const { Tally: _, ...rest } = document;
  return rest;
}

export function resume(document: StateDocument, now: EpochMs, aftermath: Aftermath | null = null): Transition {
  if (document.Pause === undefined) {
    return unchanged(document);
  }
  const { Pause: _, ...rest } = letGo(document);
  const passed = gapFacts(document, aftermath, { reason: "paused" }, now);
  const resumed = { kind: "resumed", identity: document.Identity, at: now } as const;
  return sealed(document, passedOver(rest, aftermath), resumed, ...passed);
}

/**
 * S32: an operator's way out after the clock ran ahead: the one change that moves `LastHandledPeriodID` back. Never
 * behind the period that is current now, so that it frees only periods the clock has not reached.
 */
export function rewind(
  document: StateDocument,
  toNominalAt: EpochMs,
  currentAt: EpochMs,
  by: string,
  now: EpochMs,
): Transition {
  const fromAt = lastHandledAt(document);
  if (fromAt === null || toNominalAt >= fromAt || toNominalAt < currentAt) {
    throw broken(document, `cannot rewind from ${document.LastHandledPeriodID} to ${formatInstant(toNominalAt)}`);
  }
  const to = formatInstant(toNominalAt);
  const { document: left, facts } = dropRetry(withRewoundRuns(runsUntilNow(document, now), toNominalAt, now), now);
  const next: StateDocument = {
    ...left,
    LastHandledPeriodID: to,
    LastOutcome: "skipped",
    LastChosenTime: "",
    LastNominalTime: to,
    LastReason: "rewound",
  };
  const from = document.LastHandledPeriodID;
  return { document: next, facts: [...facts, { kind: "rewound", identity: document.Identity, from, to, by, at: now }] };
}

/** The source of runs that have had their period taken from them. */
export const REWOUND_SOURCE = "rewound";

/** What still runs of what was taken back goes on; its end says nothing of a period any more, nor is it tried again. */
function withRewoundRuns(document: StateDocument, toNominalAt: EpochMs, now: EpochMs): StateDocument {
  const isTakenBack = ({ Source, PeriodID }: ActiveState): boolean =>
    isAfter(PeriodID, Source === undefined ? toNominalAt : now);
  const runs = activeStates(document).map((active) =>
    isTakenBack(active) ? { ...active, Source: REWOUND_SOURCE } : active,
  );
  const [newest, ...older] = runs;
  if (newest === undefined) return document;
  return { ...document, ActiveExecution: newest, ...(older.length === 0 ? {} : { OtherActive: older }) };
}
