/**
 * Hints on record: what somebody who watches the job wants of its schedule for a while (S41). They are part of the
 * document, so that they survive a restart and go in the transaction that consumes or ends them (S42).
 */
import type { HintsInForce } from "../governor/governor.js";
import type { Hint, HintKind } from "../governor/hint.js";
import { type EpochMs, formatInstant, formatSecond, knownInstant } from "../time/instant.js";
import { type Aftermath, gapFacts, passedOver, wholeSecond } from "./aftermath.js";
import { type HintsState, hintsOf, isSlotUsed, type StateDocument } from "./document.js";
import type { LedgerFact } from "./facts.js";
import { withoutStartFailure } from "./start-failure.js";
import { sealed, type Transition, unchanged } from "./transition.js";

/** S40: a one-shot for an instant that was claimed before is none. */
export function isHintUsed(document: StateDocument, hint: Hint): boolean {
  return hint.kind === "oneshot" && isSlotUsed(document, "hint-oneshot", hint.nextRunAt);
}

/** One of a kind: a newer one takes the place of an older one. */
export function setHint(
  document: StateDocument,
  hint: Hint,
  now: EpochMs,
  aftermath: Aftermath | null = null,
): Transition {
  if (isHintUsed(document, hint)) {
    return unchanged(document);
  }
  const by = hint.by === undefined ? {} : { By: hint.by };
  const about = { ExpiresAt: wholeSecond(hint.expiresAt), SetAt: formatSecond(now), Reason: hint.reason, ...by };
  const changed: HintsState =
    hint.kind === "interval"
      ? { Interval: { IntervalMs: hint.intervalMs, ...about } }
      : { Oneshot: { NextRunAt: formatInstant(hint.nextRunAt), ...about } };
  const left = isOther(document, hint) ? withoutStartFailure(document, ["hint-oneshot"]) : document;
  const next = { ...passedOver(left, aftermath), Hints: { ...document.Hints, ...changed } };
  const set = { kind: "hint_set", identity: document.Identity, hint, at: now } as const;
  return sealed(document, next, set, ...passedFacts(document, hintKinds(document), aftermath, now));
}

/** S46: the slot of the one-shot before is not wanted any more. */
function isOther({ Hints }: StateDocument, hint: Hint): boolean {
  if (hint.kind !== "oneshot" || Hints?.Oneshot === undefined) return false;
  return oneshotOf(Hints.Oneshot).nextRunAt !== hint.nextRunAt;
}

export function clearHints(
  document: StateDocument,
  kind: HintKind | "all",
  aftermath: Aftermath | null,
  now: EpochMs,
): Transition {
  const ended = hintKinds(document).filter((each) => kind === "all" || each === kind);
  return ending(document, ended, "cleared", aftermath, now);
}

export function expireHints(document: StateDocument, aftermath: Aftermath | null, now: EpochMs): Transition {
  return ending(document, expiredKinds(document, now), "expired", aftermath, now);
}

/** S42: called by the claim of the run that the one-shot has caused. */
export function consumeOneshot(
  document: StateDocument,
  hintedAt: EpochMs,
  aftermath: Aftermath | null,
  now: EpochMs,
): Transition {
  const kinds = hintKinds(document).filter((kind) => kind === "oneshot" && isOneshotOf(document, hintedAt));
  return ending(document, kinds, "consumed", aftermath, now);
}

/** S42: a later one that was set meanwhile asks for a run of its own. */
export function isOneshotOf({ Hints }: StateDocument, hintedAt: EpochMs): boolean {
  return Hints?.Oneshot !== undefined && oneshotOf(Hints.Oneshot).nextRunAt <= hintedAt;
}

interface HintsLeft {
  /** Absent: none. */
  readonly left: HintsInForce | undefined;
  /** When those that are left out ended; null: there is none to end. */
  readonly endedAt: EpochMs | null;
}

/** What would be left, and since when. */
export function hintsAfter(document: StateDocument, ended: HintKind | "all" | "expired", now: EpochMs): HintsLeft {
  const hints = hintsOf(document);
  const expired = expiredKinds(document, now);
  const ends = (kind: HintKind): boolean =>
    ended === "expired" ? expired.includes(kind) : ended === "all" || ended === kind;
  const gone = hintKinds(document).filter(ends);
  if (hints === undefined || gone.length === 0) {
    return { left: hints, endedAt: null };
  }
  const { interval, oneshot } = hints;
  const left = { interval: ends("interval") ? null : interval, oneshot: ends("oneshot") ? null : oneshot };
  const lastAt = Math.max(...gone.map((kind) => hints[kind]?.expiresAt ?? now));
  const isNone = left.interval === null && left.oneshot === null;
  return { left: isNone ? undefined : left, endedAt: Math.min(now, lastAt) };
}

/** Since when hints have taken the place of the schedule; null: there are none on record. */
export function hintedFromAt({ Hints }: StateDocument): EpochMs | null {
  const setAt = [Hints?.Interval, Hints?.Oneshot].flatMap((hint) =>
    hint === undefined ? [] : [knownInstant(hint.SetAt)],
  );
  return setAt.length === 0 ? null : Math.min(...setAt);
}

function hintKinds({ Hints }: StateDocument): readonly HintKind[] {
  const { Interval, Oneshot } = Hints ?? {};
  return [
    ...(Interval === undefined ? [] : (["interval"] as const)),
    ...(Oneshot === undefined ? [] : (["oneshot"] as const)),
  ];
}

/** S41: strictly: at `ExpiresAt` it is over. */
function expiredKinds(document: StateDocument, now: EpochMs): readonly HintKind[] {
  const hints = hintsOf(document);
  return hintKinds(document).filter((kind) => (hints?.[kind]?.expiresAt ?? now) <= now);
}

function ending(
  document: StateDocument,
  kinds: readonly HintKind[],
  how: "cleared" | "expired" | "consumed",
  aftermath: Aftermath | null,
  now: EpochMs,
): Transition {
  if (kinds.length === 0) {
    return unchanged(document);
  }
  const identity = document.Identity;
  const facts: LedgerFact[] = kinds.map((hintKind) => ({ kind: "hint_ended", identity, hintKind, how, at: now }));
  const sources = kinds.map((kind) => `hint-${kind}`);
  const { Hints, ...rest } = withoutStartFailure(document, sources);
  const { Interval, Oneshot } = Hints ?? {};
  const left: HintsState = {
    ...(Interval === undefined || kinds.includes("interval") ? {} : { Interval }),
    ...(Oneshot === undefined || kinds.includes("oneshot") ? {} : { Oneshot }),
  };
  const hints = Object.keys(left).length === 0 ? {} : { Hints: left };
  facts.push(...passedFacts(document, kinds, aftermath, now));
  return sealed(document, { ...passedOver(rest, aftermath), ...hints }, ...facts);
}

function passedFacts(
  document: StateDocument,
  kinds: readonly HintKind[],
  aftermath: Aftermath | null,
  now: EpochMs,
): readonly LedgerFact[] {
  const hint = endedHint(document, kinds);
  return gapFacts(document, aftermath, { reason: "hinted", ...(hint === null ? {} : { hint }) }, now);
}

/** A one-shot comes before an interval, so it is the one that was asked first (S41). */
function endedHint({ Hints }: StateDocument, kinds: readonly HintKind[]): Hint | null {
  const { Interval, Oneshot } = Hints ?? {};
  if (Oneshot !== undefined && kinds.includes("oneshot")) return oneshotOf(Oneshot);
  return Interval !== undefined && kinds.includes("interval") ? intervalOf(Interval) : null;
}

export interface HintOnRecord {
  readonly hint: Hint;
  readonly setAt: EpochMs;
}

/** S41: the one that stands in for the schedule at an instant, as far as the document knows; null: none. */
export function hintOnRecordAt({ Hints }: StateDocument, at: EpochMs): HintOnRecord | null {
  const { Interval, Oneshot } = Hints ?? {};
  const known = [
    ...(Oneshot === undefined ? [] : [{ hint: oneshotOf(Oneshot), setAt: knownInstant(Oneshot.SetAt) }]),
    ...(Interval === undefined ? [] : [{ hint: intervalOf(Interval), setAt: knownInstant(Interval.SetAt) }]),
  ];
  return known.find(({ hint, setAt }) => setAt <= at && at < hint.expiresAt) ?? null;
}

function oneshotOf({ NextRunAt, ...about }: NonNullable<HintsState["Oneshot"]>): Extract<Hint, { kind: "oneshot" }> {
  return { kind: "oneshot", nextRunAt: knownInstant(NextRunAt), ...aboutOf(about) };
}

function intervalOf({ IntervalMs: intervalMs, ...about }: NonNullable<HintsState["Interval"]>): Hint {
  return { kind: "interval", intervalMs, ...aboutOf(about) };
}

function aboutOf({ ExpiresAt, Reason, By }: Pick<NonNullable<HintsState["Interval"]>, "ExpiresAt" | "Reason" | "By">) {
  return { expiresAt: knownInstant(ExpiresAt), reason: Reason, ...(By === undefined ? {} : { by: By }) };
}
