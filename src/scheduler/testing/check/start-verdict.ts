/**
 * Names what is wrong with a start that nothing explains. Every such start breaks P1; what the previous start used up,
 * and what is still to come, tells which further properties it breaks.
 */
import { namedMinutes } from "./civil-minutes.js";
import type { StartRecord, TaskCauses } from "./task-causes.js";
import type { PropertyId } from "./violation.js";

const MINUTE_MS = 60_000;

interface StartContext {
  readonly now: number;
  readonly timeZone: string;
  /** Successful initialisations so far. */
  readonly era: number;
  /** A stop returned since the previous start of the task, and no crash came after it. */
  readonly cameAfterCleanStop: boolean;
}

type Verdict = readonly [PropertyId, string];

function anticipates(causes: TaskCauses, { now, timeZone }: StartContext): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  const soon = now + MINUTE_MS;
  const untilAt = causes.retry?.isReached === false ? causes.retry.untilAt : null;
  const isDueSoon = namedMinutes(causes.task.cron, timeZone, now, soon).length > 0;
  if (isDueSoon || (untilAt !== null && untilAt <= soon)) verdicts.push(["P2", "started before its cause"]);
  if (untilAt !== null) verdicts.push(["P13", `retried ${untilAt - now} ms early`]);
  return verdicts;
}

function kindsOf(start: StartRecord): number {
  return Number(start.periods.length > 0) + Number(start.retry?.isReached === true) + Number(start.orphan !== "no");
}

function repeats(previous: StartRecord, { now }: StartContext): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  if (previous.hasSucceeded && previous.period !== null) {
    verdicts.push(["P9", "started again for a period that a successful run has served"]);
  }
  if (kindsOf(previous) > 1) verdicts.push(["P10", "the previous start had consumed all causes"]);
  if (previous.periods.length > 1) {
    verdicts.push(["P11", `${previous.periods.length} occurrences were owed one start, and got a second`]);
  }
  if (previous.periods.some((period) => period.cameDuringRun)) {
    verdicts.push(["P12", "an occurrence during a run is owed once, not twice"]);
  }
  const { retry } = previous;
  if (retry !== null && !retry.isReached && retry.untilAt <= now) {
    verdicts.push(["P15", "the retry was resolved by the start before it was due"]);
  }
  if (previous.orphan !== "no") verdicts.push(["P19", "an orphan is restarted once"]);
  return verdicts;
}

export function unexplainedStart(causes: TaskCauses, context: StartContext): readonly Verdict[] {
  const previous = causes.lastStart;
  const isFirstSinceSeen = previous === null || previous.era < causes.seenInEra;
  const verdicts: Verdict[] = [["P1", "started although nothing was owed"], ...anticipates(causes, context)];
  if (previous !== null) verdicts.push(...repeats(previous, context));
  if (causes.lostCauses) verdicts.push(["P16", "its causes were forgotten when a list without it was successful"]);
  if (isFirstSinceSeen && causes.seenInEra === context.era) {
    verdicts.push(["P17", "first seen in a minute that its expression does not name"]);
  }
  if (context.cameAfterCleanStop) verdicts.push(["P19", "nothing is an orphan after a clean stop"]);
  return verdicts;
}
