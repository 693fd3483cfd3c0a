/**
 * Hints on record: what somebody who watches the job wants of its schedule for a while (S41). They are part of the
 * document, so that they survive a restart and go in the transaction that consumes or ends them (S42).
 */
import type { HintsInForce } from "../governor/governor.js";
import type { Hint, HintKind } from "../governor/hint.js";
import { type EpochMs, formatInstant, formatSecond, parseInstant } from "../time/instant.js";
import { type Aftermath, gapFacts, passedOver, wholeSecond } from "./aftermath.js";
import { type HintsState, hintsOf, isSlotUsed, type StateDocument } from "./document.js";
import type { LedgerFact } from "./facts.js";
import { sealed, type Transition, unchanged } from "./transition.js";

/** S40: a one-shot for an instant that was claimed before is none. */
export function isHintUsed(document: StateDocument, hint: Hint): boolean {
  return hint.kind === "oneshot" && isSlotUsed(document, "hint-oneshot", hint.nextRunAt);
}

/** One of a kind: a newer one takes the place of an older one. */
export function setHint(document: StateDocument, hint: Hint, now: EpochMs): Transition {
  if (isHintUsed(document, hint)) {
    return unchanged(document);
  }
  const about = { ExpiresAt: wholeSecond(hint.expiresAt), SetAt: formatSecond(now), Reason: hint.reason };
  const changed: HintsState =
    hint.kind === "interval"
      ? { Interval: { IntervalMs: hint.intervalMs, ...about } }
      : { Oneshot: { NextRunAt: formatInstant(hint.nextRunAt), ...about } };
  const next = { ...document, Hints: { ...document.Hints, ...changed } };
  return sealed(document, next, { kind: "hint_set", identity: document.Identity, hint, at: now });
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
export function consumeOneshot(document: StateDocument, aftermath: Aftermath | null, now: EpochMs): Transition {
  const kinds = hintKinds(document).filter((kind) => kind === "oneshot");
  return ending(document, kinds, "consumed", aftermath, now);
}

export interface HintsLeft {
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
  const { Hints, ...rest } = document;
  const { Interval, Oneshot } = Hints ?? {};
  const left: HintsState = {
    ...(Interval === undefined || kinds.includes("interval") ? {} : { Interval }),
    ...(Oneshot === undefined || kinds.includes("oneshot") ? {} : { Oneshot }),
  };
  const hints = Object.keys(left).length === 0 ? {} : { Hints: left };
  const hint = endedHint(document, kinds);
  facts.push(...gapFacts(document, aftermath, { reason: "hinted", ...(hint === null ? {} : { hint }) }, now));
  return sealed(document, { ...passedOver(rest, aftermath), ...hints }, ...facts);
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
    ...(Oneshot === undefined ? [] : [{ hint: oneshotOf(Oneshot), setAt: recorded(Oneshot.SetAt) }]),
    ...(Interval === undefined ? [] : [{ hint: intervalOf(Interval), setAt: recorded(Interval.SetAt) }]),
  ];
  return known.find(({ hint, setAt }) => setAt <= at && at < hint.expiresAt) ?? null;
}

function oneshotOf({ NextRunAt, ExpiresAt, Reason: reason }: NonNullable<HintsState["Oneshot"]>): Hint {
  return { kind: "oneshot", nextRunAt: recorded(NextRunAt), expiresAt: recorded(ExpiresAt), reason };
}

function intervalOf({ IntervalMs: intervalMs, ExpiresAt, Reason: reason }: NonNullable<HintsState["Interval"]>): Hint {
  return { kind: "interval", intervalMs, expiresAt: recorded(ExpiresAt), reason };
}

/** Documents are validated when they are read. */
function recorded(text: string): EpochMs {
  const at = parseInstant(text);
  if (!at.ok) throw new Error(`invariant broken: a hint on record holds the timestamp ${JSON.stringify(text)}`);
  return at.value;
}
