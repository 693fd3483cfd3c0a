/** The columns of `kron list`, the least important ones shortened first. */

import type { JobStatus } from "../../actors/supervisor/port.js";
import { isReboot } from "../../core/cron/reboot.js";
import { endingText, type RunResult } from "../../core/state/ending.js";
import { formatDuration } from "../../core/time/duration.js";
import { type EpochMs, parseInstant, SECOND_MS } from "../../core/time/instant.js";
import type { Zone } from "../../core/time/zone.js";
import type { Sort } from "../../operations/jobs/order.js";
import { formatDistance, formatWall } from "../format.js";
import { nameCell } from "../job-name.js";
import { outcomeText } from "../outcome-text.js";
import type { Paint } from "../style.js";
import type { Cell, Column } from "../table.js";

const COLOUR_OF: Readonly<Record<RunResult, keyof Paint>> = {
  success: "green",
  failure: "red",
  signal: "red",
  unknown: "yellow",
};

const OUTCOME_COLOURS: Readonly<Record<string, keyof Paint>> = {
  missed: "red",
  unschedulable: "red",
  skipped: "yellow",
};

/** What a list in this order has a column for, beside those that all have. */
const SORTED_BY: Partial<Record<Sort, Column<JobStatus>>> = {
  duration: { title: "TOOK", rank: 8, least: 4, cell: ({ lastRun }) => lengthCell(lastRun?.durationMs) },
  lateness: { title: "LATE", rank: 8, least: 4, cell: ({ lastRun }) => lengthCell(lastRun?.lateMs) },
};

/** `zone` null: times are those of UTC, as everywhere else. */
export function listColumns(now: EpochMs, zone: Zone | null, sort: Sort = "name"): readonly Column<JobStatus>[] {
  const sortedBy = SORTED_BY[sort];
  const times = new Times(now, zone);
  const where = zone === null ? "UTC" : "LOCAL";
  return [
    { title: "JOB", rank: 4, least: 16, cap: 40, cell: nameCell },
    { title: "SCHEDULE", rank: 1, least: 9, cap: 40, cell: scheduleCell },
    { title: `NEXT (${where})`, shortTitle: "NEXT", rank: 5, least: 10, cell: (row) => nextCell(row, times) },
    { title: "BY", rank: 2, least: 5, cell: sourceCell },
    { title: "RUNNING", shortTitle: "RUN", rank: 3, least: 3, cap: 24, cell: runningCell },
    { title: "EXIT", rank: 7, least: 4, cell: exitCell },
    {
      title: "LAST OUTCOME, PERIOD",
      shortTitle: "LAST OUTCOME",
      rank: 6,
      least: 16,
      cell: (row) => outcomeCell(row, times),
    },
    ...(sortedBy === undefined ? [] : [sortedBy]),
  ];
}

/** Of the newest run; a daemon of an earlier version tells nothing of it. */
function lengthCell(ms: number | null | undefined): Cell {
  return { text: ms == null ? "-" : formatDuration(ms) };
}

/** Instants as a table shows them. */
export class Times {
  readonly #now: EpochMs;
  readonly #zone: Zone | null;

  constructor(now: EpochMs, zone: Zone | null) {
    this.#now = now;
    this.#zone = zone;
  }

  text(written: string): string {
    const at = parseInstant(written);
    return this.#zone === null || !at.ok ? written : formatWall(at.value, this.#zone);
  }

  /** By a whole second: what is due this second is being started. */
  isPast(written: string): boolean {
    const at = parseInstant(written);
    return at.ok && at.value <= this.#now - SECOND_MS;
  }

  distance(written: string): string {
    const at = parseInstant(written);
    return at.ok ? formatDistance(this.#now, at.value) : written;
  }
}

function scheduleCell({ schedule, timezone }: JobStatus): Cell {
  return { text: `${schedule} ${timezone}`, short: schedule };
}

function nextCell(status: JobStatus, times: Times): Cell {
  const { standing, pausedUntil, nextChosenTime, unserved } = status;
  if (unserved !== undefined) return { text: `unserved (${unserved})`, short: "unserved", colour: "yellow" };
  if (standing === "suspended" || standing === "removed") return { text: standing, colour: "dim" };
  if (pausedUntil === null && nextChosenTime !== null && times.isPast(nextChosenTime)) return dueCell(status);
  const distance = nextChosenTime === null ? "-" : times.distance(nextChosenTime);
  const when = nextChosenTime === null ? withoutNext(status) : `${times.text(nextChosenTime)} (${distance})`;
  if (pausedUntil === null) return { text: when, short: distance };
  const until = `paused until ${times.text(pausedUntil)}`;
  const left = times.distance(pausedUntil).replace(/^in /, "");
  return { text: `${when} ${until}`, short: `paused ${left}`, colour: "yellow" };
}

/** S24: its second has come, and it has not been started. The period says which one it is. */
function dueCell({ nextPeriodId, startFailure }: JobStatus): Cell {
  const text = startFailure === null ? "due now" : "tried again";
  const which = nextPeriodId === null ? "" : ` (${nextPeriodId})`;
  return { text: `${text}${which}`, short: text, colour: startFailure === null ? "yellow" : "red" };
}

/** What there is to say of a job that waits for no instant. */
function withoutNext({ schedule, once }: JobStatus): string {
  if (isReboot(schedule)) return "at boot";
  return once === null || once === "ahead" ? "-" : once;
}

/** A hint is told with its kind: it is not what the configuration says. */
function sourceCell({ nextSource }: JobStatus): Cell {
  const text = nextSource ?? "-";
  if (text === "interval") return { text, short: "every" };
  return text.startsWith("hint") ? { text, short: "hint", colour: "cyan" } : { text };
}

function runningCell({ active }: JobStatus): Cell {
  if (active.length === 0) return { text: "-" };
  const names = active.map(({ pid, holder }) => String(holder ?? pid));
  return {
    text: names.join(","),
    short: names.length === 1 ? (names[0] ?? "") : `${names.length} runs`,
    colour: "cyan",
  };
}

/** Of the newest run that has ended, whatever it came from. */
function exitCell({ lastRun }: JobStatus): Cell {
  if (lastRun === null) return { text: "-" };
  return { text: endingText(lastRun.ending), colour: COLOUR_OF[lastRun.result] };
}

function outcomeCell(status: JobStatus, times: Times): Cell {
  const { lastPeriodId, lastOutcome, lastReason, lastPeriodRun, startFailure } = status;
  // S46: what is wrong now goes before what was.
  if (startFailure !== null) {
    const { reason, since } = startFailure;
    return { text: `${reason} since ${times.text(since)}`, short: reason, colour: "red" };
  }
  if (lastOutcome === null) return { text: "-" };
  const what = outcomeText(lastOutcome, lastPeriodRun?.ending ?? null);
  const text = `${what}${lastReason === null ? "" : ` (${lastReason})`}`;
  const result = lastPeriodRun?.result ?? "success";
  const colour = result === "success" ? OUTCOME_COLOURS[lastOutcome] : COLOUR_OF[result];
  const shown = { text: `${text} ${times.text(lastPeriodId ?? "")}`.trimEnd(), short: text };
  return colour === undefined ? shown : { ...shown, colour };
}
