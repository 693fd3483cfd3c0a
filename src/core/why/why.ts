/**
 * What became of one period of a job, and why: an answer for every instant anybody may ask about (S36). Pure: records,
 * definitions, spans and the present moment come in as arguments.
 */

import { isErrorCode } from "../base/errors/registry.js";
import { plainText } from "../base/plain-text.js";
import { isEvery } from "../cron/every.js";
import { compileRule } from "../decision/compile.js";
import { byText } from "../governor/author.js";
import { hintText } from "../governor/hint.js";
import { isPeriod } from "../period/occasion.js";
import { isHandled } from "../period/periods.js";
import { gapText, notStarted, reasonText } from "../period/reasons.js";
import { activeStates, lastHandledAt } from "../state/document.js";
import { endingFields, holderField, NO_ENDING_FIELDS } from "../state/ending.js";
import { type EpochMs, formatInstant, formatSecond } from "../time/instant.js";
import { attemptsText, furtherAttempts, isRetryRunning } from "./attempts.js";
import { absenceAt, nobodyNow } from "./attended.js";
import { whyBoot } from "./boots.js";
import { refusedBy } from "./constraints.js";
import { comingAt } from "./current.js";
import {
  type Finding,
  type Period,
  periodUnder,
  type WhyAnswer,
  type WhyFacts,
  type WhyRun,
  type WhyVersion,
} from "./facts.js";
import { hintAt, hinted, hinterText } from "./hinted.js";
import { heldNow, leftOpen, nextStart, openPause, openPeriod, paused, replaced, suspended, waiting } from "./open.js";
import type { GapEntry, PeriodEntry, RunEntry } from "./records.js";
import { lastSlot, nearestRuns, slotRun, sourceText } from "./slots.js";
import { failedStart, failingStart } from "./start-failures.js";
import { runText } from "./texts.js";

export function whyPeriod(facts: WhyFacts): WhyAnswer {
  const boot = whyBoot(facts);
  if (boot !== null) return answer({ ...facts, nominalAt: boot.slotAt }, null, boot.finding);
  const record = facts.entries.find((entry) => entry.kind === "period" && entry.at === facts.nominalAt);
  const period = periodOf(facts);
  if (record?.kind === "period") return answer(facts, period, ofRecord(facts, record));
  if (period === null) return answer(facts, null, ofSlot(facts) ?? coming(facts) ?? withoutPeriod(facts));
  return answer(facts, period, withoutRecord(facts, period));
}

/** Their text speaks of what holds the job already. */
const SAYING_SO: ReadonlySet<WhyAnswer["kind"]> = new Set(["paused", "suspended", "waiting", "not_yet"]);

/** Who asks about no period in particular wants to know why nothing runs: what holds the job now is said as well. */
export function whyCurrent(facts: WhyFacts): WhyAnswer {
  const period = whyPeriod(facts);
  const found = withFailingStart(facts, period);
  const held = SAYING_SO.has(period.kind)
    ? null
    : (heldNow(facts) ?? unservedNow(facts, period) ?? nextOf(facts, period));
  return held === null ? found : { ...found, text: `${found.text}; ${held}` };
}

/** C17: beside what ran before. Where nothing did, the answer says it itself. */
function unservedNow(facts: WhyFacts, { kind }: WhyAnswer): string | null {
  return facts.unserved == null || (kind !== "executed" && kind !== "running") ? null : nobodyNow(facts);
}

/** S40: of a job without periods, whose last run it was. */
function nextOf({ versions, document, now }: WhyFacts, { kind }: WhyAnswer): string | null {
  const definition = versions.at(-1)?.definition ?? null;
  if (kind !== "executed" || definition === null || !isEvery(definition.schedule)) return null;
  if (document?.StartFailure !== undefined) return null;
  const at = comingAt(compileRule(definition), document, now);
  return at === null ? null : `the next is due at ${formatInstant(Math.max(at, now))}`;
}

/** S46: of a job without periods it is the answer, beside a period it is more of it. */
function withFailingStart(facts: WhyFacts, found: WhyAnswer): WhyAnswer {
  const failing = failingStart(facts);
  // S24: of a period the answer says it itself.
  if (failing === null || failing.slot === found.period_id) return found;
  const { kind, reason = null, text, slot } = failing;
  if (found.kind !== "not_a_period" && found.kind !== "unknown") return { ...found, text: `${found.text}; ${text}` };
  return { ...found, kind, reason, text, period_id: slot, nearest: [] };
}

function answer(facts: WhyFacts, period: Period | null, finding: Finding): WhyAnswer {
  const { identity, nominalAt } = facts;
  const decision = period?.decision ?? null;
  const { run = null, record } = finding;
  return {
    identity,
    period_id: formatInstant(nominalAt),
    kind: finding.kind,
    reason: finding.reason ?? null,
    text: finding.text,
    chosen_time: record?.decision?.chosen_time ?? instantText(decision?.chosenAt ?? null),
    window_start: record?.decision?.window_start ?? instantText(decision?.windowStartAt ?? null),
    window_end: record?.decision?.window_end ?? instantText(decision?.windowEndAt ?? null),
    run: run === null ? null : runOf(run),
    ...attemptsOf(facts),
    from: instantText(finding.from ?? null),
    until: instantText(finding.until ?? null),
    nearest: finding.nearest ?? [],
    decision: record?.decision ?? null,
  };
}

function attemptsOf(facts: WhyFacts): Pick<WhyAnswer, "attempts"> {
  const further = furtherAttempts(facts);
  return further.length === 0 ? {} : { attempts: further.map(runOf) };
}

function instantText(at: EpochMs | null): string | null {
  return at === null ? null : formatSecond(at);
}

function runOf(run: RunEntry): WhyRun {
  const { pid, holder, node, startedAt, endedAt, ending } = run;
  const how = ending === null ? NO_ENDING_FIELDS : endingFields(ending);
  const where = node === null ? {} : { node };
  return { pid, started_at: startedAt, ended_at: endedAt, ...holderField(holder), ...where, ...how };
}

// --- The period has an outcome ---

function ofRecord(facts: WhyFacts, record: PeriodEntry): Finding {
  const { outcome, reason } = record;
  if (outcome === null) return { ...beforeDefinition(`${reason ?? "before_definition"}`), record };
  if (outcome === "executed") return { ...executed(facts), record };
  const more = `${spanText(record)}${failureText(record)}${refusalText(record)}`;
  const why = reason === null ? "" : `: ${reasonText(reason)}${more}`;
  const text = `${outcome}${why} (recorded at ${record.recordedAt})`;
  return { kind: outcome, reason, text, from: record.fromAt, until: record.untilAt, record };
}

function spanText({ fromAt, untilAt }: PeriodEntry): string {
  return fromAt === null || untilAt === null ? "" : `, from ${formatSecond(fromAt)} to ${formatSecond(untilAt)}`;
}

function failureText({ startFailure }: PeriodEntry): string {
  if (startFailure === null) return "";
  return isErrorCode(startFailure) ? `: ${reasonText(notStarted(startFailure))}` : `: ${startFailure}`;
}

function refusalText({ decision }: PeriodEntry): string {
  const refused = refusedBy(decision);
  return refused === null ? "" : `, ${refused}`;
}

/** S40: no period, but a run that came from something else. */
function ofSlot(facts: WhyFacts): Finding | null {
  const run = slotRun(facts);
  return run === null ? (lastSlot(facts) ?? failedStart(facts)) : ranAs(facts, run, run.source);
}

/** S40: of a job without periods, the first run that it has before it. */
function coming({ versions, document, nominalAt, now }: WhyFacts): Finding | null {
  const definition = versions.at(-1)?.definition ?? null;
  if (definition === null || !isEvery(definition.schedule) || nominalAt <= now) return null;
  if (comingAt(compileRule(definition), document, now) !== nominalAt) return null;
  const but = definition.policy.suspend ? "; but the job is suspended" : "";
  return { kind: "not_yet", text: `not yet: due at ${formatInstant(nominalAt)} ${sourceText("interval")}${but}` };
}

function executed(facts: WhyFacts): Finding {
  const { entries, nominalAt } = facts;
  const run = entries.find((entry) => entry.kind === "run" && entry.at === nominalAt && isPeriod(entry.source));
  return ranAs(facts, run?.kind === "run" ? run : null, null);
}

/** `source` null: a period of the schedule. */
function ranAs(facts: WhyFacts, run: RunEntry | null, source: string | null): Finding {
  const { nominalAt, document } = facts;
  const id = formatInstant(nominalAt);
  const active = document === null ? [] : activeStates(document);
  const running = active.find((state) => state.PeriodID === id && (state.Source ?? null) === source);
  const whence = source === null ? "" : ` ${sourceText(source)}${hinterText(facts, source, nominalAt)}`;
  if (running !== undefined) {
    const what = running.Holder === undefined ? `PID ${running.PID}` : `a ${running.Holder}`;
    return { kind: "running", text: `running${whence} since ${running.StartedAt} (${what})`, run };
  }
  if (run === null) return { kind: "executed", text: `executed${whence}` };
  const more = isPeriod(source) ? attemptsText(facts, run, runText) : "";
  const kind = isPeriod(source) && isRetryRunning(facts) ? "running" : "executed";
  return { kind, reason: run.ending?.reason ?? null, text: `executed${whence}: ${runText(run)}${more}`, run };
}

// --- Which period it is ---

/** The period under the definition in force when it was due; under a later one, when that is the first to know it. */
function periodOf({ versions, nominalAt }: WhyFacts): Period | null {
  let later: Period | null = null;
  for (const [index, version] of versions.entries()) {
    const endAt = versions[index + 1]?.definedAt ?? Number.POSITIVE_INFINITY;
    const period = periodUnder(version, nominalAt);
    if (period === null || period.dueAt >= endAt) continue;
    if (period.dueAt >= version.definedAt) return period;
    later ??= period;
  }
  return later;
}

function versionAt(versions: readonly WhyVersion[], at: EpochMs): WhyVersion | undefined {
  return versions.findLast(({ definedAt }) => definedAt <= at) ?? versions[0];
}

function withoutPeriod(facts: WhyFacts): Finding {
  const { versions, nominalAt, identity } = facts;
  const version = versionAt(versions, nominalAt);
  if (version === undefined) return { kind: "unknown", text: `no definition of ${identity} is on record` };
  if (version.definition === null) {
    const until = versions.find(({ definedAt }) => definedAt > version.definedAt)?.definedAt ?? null;
    const text = `the job was removed at ${formatSecond(version.definedAt)}`;
    return { kind: "removed", text, from: version.definedAt, until };
  }
  const { schedule } = compileRule(version.definition);
  const nearest = [schedule.previous(nominalAt - 1), schedule.next(nominalAt)].filter((at) => at !== null);
  const runs = nearestRuns(facts);
  const names = nearest.length === 0 ? runs : nearest.map(formatSecond);
  const beside = nearest.length === 0 || runs.length === 0 ? "" : `; runs beside it: ${runs.join(", ")}`;
  const isPaced = isEvery(version.definition.schedule);
  const text = isPaced
    ? `no run of the interval "${version.definition.schedule}" is on record at that instant`
    : `not a period of the schedule "${version.definition.schedule}" (${version.definition.timezone})`;
  const why = isPaced ? unservedText(facts) : "";
  return { kind: "not_a_period", text: `${text}${why}; the nearest ${nearText(names)}${beside}`, nearest: names };
}

/** Among several nodes: that nobody had the job at that instant, or has it now. */
function unservedText(facts: WhyFacts): string {
  const { nominalAt, now, unserved } = facts;
  if (unserved === undefined) return "";
  const absence = nominalAt > now ? null : absenceAt(facts, nominalAt);
  return `${absence === null ? "" : `: ${absence.text}`}${unserved === null ? "" : `; ${nobodyNow(facts)}`}`;
}

function nearText(names: readonly string[]): string {
  if (names.length === 0) return "is not on record";
  return names.length === 1 ? `is ${names[0]}` : `are ${names.join(" and ")}`;
}

// --- The period has no outcome ---

function withoutRecord(facts: WhyFacts, period: Period): Finding {
  const { now, keptFromAt } = facts;
  if (period.dueAt < period.version.definedAt) return beforeDefinition(formatSecond(period.version.definedAt));
  if (period.dueAt > now) return notYet(facts, period);
  return (
    suspended(period) ??
    paused(facts, period.dueAt) ??
    (period.dueAt < keptFromAt ? olderThan(keptFromAt) : null) ??
    forgotten(facts) ??
    down(facts, period) ??
    hinted(facts, period) ??
    notEvaluated(facts) ??
    waiting(facts, period) ??
    replaced(facts, period) ??
    leftOpen(facts, period) ?? { kind: "unknown", text: "nothing is on record about it" }
  );
}

function beforeDefinition(since: string): Finding {
  const text =
    since === "before_definition"
      ? "it was due before the definition came into force; adding or editing a job never fires the past"
      : `it was due before the definition came into force at ${since}; adding or editing a job never fires the past`;
  return { kind: "before_definition", reason: "before_definition", text };
}

function notYet(facts: WhyFacts, period: Period): Finding {
  const { chosenAt, windowStartAt } = period.decision;
  const { lastHandledAt: handledAt } = {
    lastHandledAt: facts.document === null ? null : lastHandledAt(facts.document),
  };
  if (isHandled(handledAt, facts.nominalAt)) {
    return { kind: "unknown", text: "it counts as handled already, although its time is still to come" };
  }
  const when =
    chosenAt === null
      ? `not yet: its window opens at ${formatSecond(windowStartAt)}, and no instant in it is allowed`
      : `not yet: chosen at ${formatSecond(chosenAt)}`;
  const pause = openPause(facts, chosenAt ?? windowStartAt);
  const but = period.definition.policy.suspend
    ? "; but the job is suspended"
    : pause === null
      ? ""
      : `; but the job is paused until ${formatSecond(pause.untilAt)}${byText(pause.by)} (${plainText(pause.reason)})`;
  const nobody = facts.unserved == null ? "" : `; but ${nobodyNow(facts)}`;
  return { kind: "not_yet", text: when + but + nobody };
}

function olderThan(keptFromAt: EpochMs): Finding {
  const text = `it is older than what the ledger keeps (since ${formatSecond(keptFromAt)})`;
  return { kind: "older_than_ledger", text };
}

function down(facts: WhyFacts, period: Period): Finding | null {
  const absence = absenceAt(facts, period.dueAt);
  if (absence === null) return null;
  const { text, from, until } = absence;
  if (until !== null) return { kind: "down", text, from, until };
  const open = openPeriod(facts, period);
  const then = open === null ? "" : nextStart(open, facts.now);
  const now = facts.unserved == null ? "it has not been started again" : nobodyNow(facts);
  return { kind: "down", text: `${text}; ${now}${then}`, from, until };
}

/** S53: nobody knows whether it ran. Signs of life of that time may be forgotten too, so that it looks like a time in which nobody was there. */
function forgotten(facts: WhyFacts): Finding | null {
  return gapOver(facts)?.reason === "failover_fenced" ? notEvaluated(facts) : null;
}

function gapOver({ entries, nominalAt }: WhyFacts): GapEntry | null {
  const isOver = (entry: WhyFacts["entries"][number]): entry is GapEntry =>
    entry.kind === "gap" && entry.at <= nominalAt && nominalAt <= entry.lastAt;
  return entries.find(isOver) ?? null;
}

function notEvaluated(facts: WhyFacts): Finding | null {
  const { entries, nominalAt } = facts;
  const gap = gapOver(facts);
  if (gap === null) return null;
  const count = gap.isCountExact ? `${gap.count}` : `at least ${gap.count}`;
  const range = `from ${formatSecond(gap.at)} to ${formatSecond(gap.lastAt)}`;
  const hint = gap.hint ?? (gap.reason === "hinted" ? hintAt(entries, nominalAt) : null);
  const cause = gap.reason === null ? "" : `: ${gapText(gap.reason)}${hint === null ? "" : `, ${hintText(hint)}`}`;
  const text = `not evaluated: one of ${count} periods ${range} that were passed over${cause} (noted at ${gap.notedAt})`;
  return { kind: "not_evaluated", reason: gap.reason, text, from: gap.at, until: gap.lastAt };
}
