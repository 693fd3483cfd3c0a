/** A period that was due and has no outcome: what keeps it open, who will judge it, or why nobody ever will. */
import { plainText } from "../base/plain-text.js";
import { byText } from "../governor/author.js";
import { deadlineAt, deadlineMsOf, isPast } from "../period/lateness.js";
import { currentPeriod, isHandled, nextPeriod, openingAt } from "../period/periods.js";
import { lastHandledAt } from "../state/document.js";
import { type EpochMs, formatSecond, parseInstant } from "../time/instant.js";
import { lastSignBefore, nobodyNow } from "./attended.js";
import { type Finding, type Period, periodUnder, type WhyFacts } from "./facts.js";
import type { PauseEntry } from "./records.js";
import { triedPeriod } from "./start-failures.js";

export function suspended({ definition }: Period): Finding | null {
  return definition.policy.suspend ? { kind: "suspended", text: "the job was suspended by its configuration" } : null;
}

export function paused(facts: WhyFacts, at: EpochMs): Finding | null {
  const pause = openPause(facts, at);
  if (pause === null) return null;
  const text = `the job was paused from ${formatSecond(pause.at)} until ${formatSecond(pause.untilAt)}${byText(pause.by)} (${plainText(pause.reason)})`;
  return { kind: "paused", reason: pause.reason, text, from: pause.at, until: pause.untilAt };
}

/** The pause that covers an instant: begun before, not ended by then, and not lifted. */
export function openPause({ entries }: WhyFacts, at: EpochMs): PauseEntry | null {
  const before = entries
    .filter((entry) => (entry.kind === "paused" || entry.kind === "resumed") && entry.at <= at)
    .sort((one, other) => one.at - other.at);
  const last = before.at(-1);
  return last?.kind === "paused" && at < last.untilAt ? last : null;
}

/** What keeps the job from its next run, whichever period was asked about. */
export function heldNow(facts: WhyFacts): string | null {
  if (facts.versions.at(-1)?.definition?.policy.suspend === true) return "now it is suspended by its configuration";
  const pause = openPause(facts, facts.now);
  return pause === null
    ? null
    : `now it is paused until ${formatSecond(pause.untilAt)}${byText(pause.by)} (${plainText(pause.reason)})`;
}

/** Due, evaluated or about to be, and still open (S24, S25). */
export function waiting(facts: WhyFacts, period: Period): Finding | null {
  const { daemon, spans, now } = facts;
  const tried = triedPeriod(facts, period);
  const open = openPeriod(facts, period);
  // S24: one that is tried is open until the next one is due, and the daemon alone knows when that is.
  if (open === null && (tried === null || daemon !== "running")) return null;
  const held = suspended(open ?? period) ?? paused(facts, now);
  if (held !== null) return held;
  const due = tried === null ? "it is due" : `it is due, and cannot be started: ${tried.text}`;
  if (daemon === "running") {
    if (tried === null) {
      return { kind: "waiting", text: "it is due: it is being started, or tried again until its deadline" };
    }
    return { kind: "waiting", reason: tried.reason, text: `${due}; it is tried again${tried.until}` };
  }
  const then = open === null ? "" : nextStart(open, now);
  if (daemon === "stopping") {
    const text = `${due}, but the daemon is stopping and starts nothing any more${then}`;
    return { kind: "waiting", reason: "stopping", text };
  }
  const last = lastSignBefore(spans, Number.POSITIVE_INFINITY);
  const sign = last === null ? "" : ` (last sign of life: ${formatSecond(last)})`;
  return { kind: "waiting", reason: "no_daemon", text: `${due}, but ${nobodyNow(facts)}${sign}${then}` };
}

/** The period as the next step or the next start will judge it; null: handled, passed, or not one of the job any more. */
export function openPeriod({ document, now, nominalAt, versions }: WhyFacts, { version }: Period): Period | null {
  const handledAt = document === null ? null : lastHandledAt(document);
  const inForce = periodUnder(versions.at(-1) ?? version, nominalAt);
  if (inForce === null || isHandled(handledAt, nominalAt)) return null;
  return currentPeriod(inForce.compiled, now) === nominalAt ? inForce : null;
}

/** S13, S20: what a start makes of a period that is open. Nothing is known of what it will find configured. */
export function nextStart(open: Period, now: EpochMs): string {
  const { decision, definition } = open;
  const goneAt = successionAt(open);
  const passed = goneAt === null ? "" : `; from ${formatSecond(goneAt)} on the next period takes its place`;
  const judged = "; the next start judges it, if the job is still configured";
  if (decision.chosenAt === null) return `${judged}: no instant in its window is allowed${passed}`;
  const limitAt = deadlineAt(decision.chosenAt, deadlineMsOf(definition.policy.deadlineMs, decision), null);
  const limit = isPast(limitAt, now) ? "its deadline passed at" : "it is in time until";
  return `${judged}: ${limit} ${formatSecond(limitAt)}${passed}`;
}

/** When the period after it becomes the current one. */
function successionAt({ compiled, decision }: Period): EpochMs | null {
  const nextAt = nextPeriod(compiled, decision.nominalAt);
  return nextAt === null ? null : openingAt(compiled, nextAt);
}

/** The definition went, or changed while it was the current period, before it was handled. */
export function replaced({ versions }: WhyFacts, period: Period): Finding | null {
  const { version, dueAt: due } = period;
  const next = versions.find(({ definedAt }) => definedAt > version.definedAt && definedAt >= due);
  if (next === undefined) return null;
  const when = `at ${formatSecond(next.definedAt)}, before it was handled`;
  if (next.definition === null) return { kind: "removed", text: `the job was removed ${when}`, from: next.definedAt };
  if (next.definedAt >= (successionAt(period) ?? Number.POSITIVE_INFINITY)) return null;
  return { kind: "redefined", text: `the definition was changed ${when}`, from: next.definedAt };
}

/**
 * Marks of being alive cover it, but whoever made them ended before it wrote anything about it: killed as it was due, or
 * after it had stood still. Where it handled a later period, this is no answer: that one should have come first (S13).
 */
export function leftOpen({ spans, daemon, entries, nominalAt }: WhyFacts, { dueAt: due }: Period): Finding | null {
  const span = spans.findLast(({ bootedAt, at }) => bootedAt <= due && due <= at);
  if (span === undefined || (daemon !== "none" && span === spans.at(-1))) return null;
  const hasGoneOn = entries.some((entry) => {
    return entry.kind === "period" && entry.at > nominalAt && isUpTo(entry.recordedAt, span.at);
  });
  if (hasGoneOn) return null;
  const end = `the daemon that was there ended before it judged it (last sign of life: ${formatSecond(span.at)})`;
  return { kind: "not_evaluated", reason: "daemon_ended", text: `not evaluated: ${end}`, until: span.at };
}

function isUpTo(text: string, at: EpochMs): boolean {
  const instant = parseInstant(text);
  return instant.ok && instant.value <= at;
}
