/** The transitions that come from people: a definition seen, changed or removed, a pause, a rewind. They start nothing. */
import { type EpochMs, floorToSecond, formatInstant, formatSecond, parseInstant } from "../time/instant.js";
import { type Aftermath, gapFacts, passedOver } from "./aftermath.js";
import { lastHandledAt, type StateDocument } from "./document.js";
import { broken, sealed, type Transition, unchanged } from "./transition.js";

/**
 * S14: the definition in force, from now on. `carriedAt` is the unhandled period that was live under the old one, which
 * a change does not turn into the past. The same definition again is no change, unless the job had been removed.
 */
export function define(
  document: StateDocument,
  definitionHash: string,
  carriedAt: EpochMs | null,
  now: EpochMs,
  isReboot = false,
): Transition {
  if (document.DefinitionHash === definitionHash && document.RemovedAt === undefined) {
    return unchanged(document);
  }
  const { RemovedAt, CarriedPeriodID: _, Boot, ...rest } = document;
  const isCarried = carriedAt !== null && RemovedAt === undefined;
  const next: StateDocument = {
    ...rest,
    DefinedAt: formatSecond(now),
    DefinitionHash: definitionHash,
    ...(isCarried ? { CarriedPeriodID: formatInstant(carriedAt) } : {}),
    // S44: a boot that is due stays so when the job is edited.
    ...(isReboot && RemovedAt === undefined && Boot !== undefined ? { Boot } : {}),
  };
  return sealed(document, next, { kind: "defined", identity: document.Identity, definitionHash, at: now });
}

/**
 * S14: what is dated after the present moment was dated by a clock that ran ahead, and would keep the job from running until
 * then: it counts as now.
 */
export function redate(document: StateDocument, now: EpochMs): Transition {
  const { DefinedAt = "", EvaluatesFrom = "", DefinitionHash = "" } = document;
  const isAhead = (text: string): boolean => {
    const at = parseInstant(text);
    return at.ok && at.value > now;
  };
  if (!isAhead(DefinedAt) && !isAhead(EvaluatesFrom)) {
    return unchanged(document);
  }
  const next: StateDocument = {
    ...document,
    ...(isAhead(DefinedAt) ? { DefinedAt: formatSecond(now) } : {}),
    ...(isAhead(EvaluatesFrom) ? { EvaluatesFrom: formatSecond(now) } : {}),
  };
  return sealed(document, next, {
    kind: "defined",
    identity: document.Identity,
    definitionHash: DefinitionHash,
    at: now,
  });
}

/** S16: a removed job keeps its state, so that adding it again repeats nothing. */
export function retire(document: StateDocument, now: EpochMs): Transition {
  if (document.RemovedAt !== undefined) {
    return unchanged(document);
  }
  const { Retry: _, ...rest } = document;
  const next = { ...rest, RemovedAt: formatSecond(now) };
  return sealed(document, next, { kind: "removed", identity: document.Identity, at: now });
}

/** S17: no trigger until then, to the second (S1); nothing is handled meanwhile. A pause that goes on keeps its beginning. */
export function pause(
  document: StateDocument,
  endAt: EpochMs,
  reason: string,
  now: EpochMs,
  catchesUp = false,
): Transition {
  const untilAt = floorToSecond(endAt);
  const since = document.Pause?.Since ?? formatSecond(now);
  const about = { Until: formatInstant(untilAt), Reason: reason, Since: since };
  const next: StateDocument = { ...document, Pause: { ...about, ...(catchesUp ? { CatchUp: true } : {}) } };
  return sealed(document, next, { kind: "paused", identity: document.Identity, untilAt, reason, catchesUp, at: now });
}

export function resume(document: StateDocument, now: EpochMs, aftermath: Aftermath | null = null): Transition {
  if (document.Pause === undefined) {
    return unchanged(document);
  }
  const { Pause: _, ...rest } = document;
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
  const next: StateDocument = {
    ...document,
    LastHandledPeriodID: to,
    LastOutcome: "skipped",
    LastChosenTime: "",
    LastNominalTime: to,
    LastReason: "rewound",
  };
  const from = document.LastHandledPeriodID;
  return { document: next, facts: [{ kind: "rewound", identity: document.Identity, from, to, by, at: now }] };
}
