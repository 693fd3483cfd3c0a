/** Pairs of traces of which both are possible, because a trace does not show all that a scheduler knows. */
import type { WrittenTask } from "./written-trace.js";

export interface DoubtRow {
  readonly doubt: string;
  readonly either: string;
  readonly or: string;
}

const UP = "10:30:30 IS 1 X\n10:30:30 IEs 1";
const RUN = `${UP}\n11:00:00 RS x\n11:10:00 REs x`;
const BACK = "11:20:00 IS 2 X\n11:20:00 IEs 2";
/** The refused call only marks the moment at which the claim began. */
const SLOW = `11:30:00 IS 1 X\n11:30:00 IEs 1\n12:00:00 IS 2 X\n12:00:00 IEf 2\n13:00:10 StoreSlow 12:00:00\n13:00:10 RS x@1\n13:00:11 REs x`;
const CUT_OFF = "10:30:30 IS 1 X\n10:30:30 Crash";

export const DOUBT_ROWS: readonly DoubtRow[] = [
  {
    doubt: "a run ended, and the process died before that was durable: an orphan, or none",
    either: `${RUN}\n11:10:00 Crash\n${BACK}\n11:20:00 RS x\n11:30:00 END`,
    or: `${RUN}\n11:10:00 Crash\n${BACK}\n11:30:00 END`,
  },
  {
    doubt: "an end could not be written until stop gave up",
    either: `${RUN}\n11:10:00 StoreFailed\n11:12:00 SS 3\n11:12:00 SE 3\n${BACK}\n11:20:00 RS x\n11:30:00 END`,
    or: `${RUN}\n11:10:00 StoreFailed\n11:12:00 SS 3\n11:12:00 SE 3\n${BACK}\n11:30:00 END`,
  },
  {
    doubt: "the process died while a start was being claimed: the claim survives another list",
    either: `${UP}\n11:00:00 Crash\n11:00:30 IS 2 X2\n11:00:30 IEs 2\n11:00:30 RS x\n11:10:00 END`,
    or: `${UP}\n11:00:00 Crash\n11:00:30 IS 2 X2\n11:00:30 IEs 2\n11:10:00 END`,
  },
  {
    doubt: "a first initialisation was cut off: the task is known since then, or not",
    either: `${CUT_OFF}\n11:05:00 IS 2 X\n11:05:00 IEs 2\n11:05:00 RS x\n11:10:00 END`,
    or: `${CUT_OFF}\n11:05:00 IS 2 X\n11:05:00 IEs 2\n11:10:00 END`,
  },
  {
    doubt: "an initialisation without the task failed in the store: its causes are forgotten, or not",
    either: `${UP}\n10:40:00 Crash\n11:05:00 IS 2 none\n11:05:00 StoreFailed\n11:05:00 IEf 2\n11:06:00 IS 3 X\n11:06:00 IEs 3\n11:06:00 RS x\n11:10:00 END`,
    or: `${UP}\n10:40:00 Crash\n11:05:00 IS 2 none\n11:05:00 StoreFailed\n11:05:00 IEf 2\n11:06:00 IS 3 X\n11:06:00 IEs 3\n11:10:00 END`,
  },
  {
    doubt: "a claim took its time: an occurrence meanwhile belongs to this start, or to the next",
    either: `${SLOW}\n13:00:11 RS x@1\n13:00:12 END`,
    or: `${SLOW}\n13:10:00 END`,
  },
  {
    doubt: "the zone changed: the recent past is read in the old zone, or in the new one",
    either: `${UP}\n11:00:30 Zone Asia/Kathmandu\n11:15:00 RS x\n11:15:01 END`,
    or: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:00:30 Zone Asia/Kathmandu\n11:15:00 RS x\n11:15:01 END`,
  },
];

export const DOUBT_LISTS: Readonly<Record<string, readonly WrittenTask[]>> = {
  none: [],
  X: [["x", "0 * * * *", 5]],
  X2: [["x", "0 0 30 2 *", 5]],
};

export interface CalendarRow {
  readonly what: string;
  readonly timeZone: string;
  readonly date: string;
  readonly cron: string;
  readonly good: string;
  readonly bad: string;
}

/** `L` is a list with one task `x` of the row's expression. Times are UTC. */
export const CALENDAR_ROWS: readonly CalendarRow[] = [
  {
    what: "a time that a clock change skips is not due",
    timeZone: "Europe/Berlin",
    date: "2026-03-29",
    cron: "30 2 * * *",
    good: "00:10:00 IS 1 L\n00:10:00 IEs 1\n06:00:00 END",
    bad: "00:10:00 IS 1 L\n00:10:00 IEs 1\n01:30:00 RS x\n06:00:00 END",
  },
  {
    what: "a time that comes twice is due twice",
    timeZone: "Europe/Berlin",
    date: "2026-10-25",
    cron: "30 2 * * *",
    good: "00:10:00 IS 1 L\n00:10:00 IEs 1\n00:30:00 RS x\n00:30:01 REs x\n01:30:00 RS x\n01:30:01 REs x\n06:00:00 END",
    bad: "00:10:00 IS 1 L\n00:10:00 IEs 1\n00:30:00 RS x\n00:30:01 REs x\n06:00:00 END",
  },
  {
    what: "a change of half an hour repeats half an hour",
    timeZone: "Australia/Lord_Howe",
    date: "2026-04-04",
    cron: "45 1 * * *",
    good: "14:30:00 IS 1 L\n14:30:00 IEs 1\n14:45:00 RS x\n14:45:01 REs x\n15:15:00 RS x\n15:15:01 REs x\n20:00:00 END",
    bad: "14:30:00 IS 1 L\n14:30:00 IEs 1\n14:45:00 RS x\n14:45:01 REs x\n20:00:00 END",
  },
  {
    what: "day and weekday: either is enough",
    timeZone: "UTC",
    date: "2026-03-01",
    cron: "0 12 15 * 0",
    good: "11:00:00 IS 1 L\n11:00:00 IEs 1\n12:00:00 RS x\n12:00:01 REs x\n13:00:00 END",
    bad: "11:00:00 IS 1 L\n11:00:00 IEs 1\n13:00:00 END",
  },
  {
    what: "after a change of zone the new zone is followed",
    timeZone: "UTC",
    date: "2026-03-01",
    cron: "0 9 * * *",
    good: "08:00:00 IS 1 L\n08:00:00 IEs 1\n08:10:00 Zone America/New_York\n14:00:00 RS x\n14:10:00 END",
    bad: "08:00:00 IS 1 L\n08:00:00 IEs 1\n08:10:00 Zone America/New_York\n09:00:00 RS x\n14:10:00 END",
  },
  {
    what: "a clock that jumps over an occurrence owes it",
    timeZone: "UTC",
    date: "2026-03-01",
    cron: "0 9 * * *",
    good: "08:00:00 IS 1 L\n08:00:00 IEs 1\n08:10:00 Clock 09:10:00\n09:10:30 RS x\n09:20:00 END",
    bad: "08:00:00 IS 1 L\n08:00:00 IEs 1\n08:10:00 Clock 09:10:00\n09:20:00 END",
  },
  {
    what: "a frozen process owes its start a minute after it thaws, and not earlier",
    timeZone: "UTC",
    date: "2026-03-01",
    cron: "0 9 * * *",
    good: "08:00:00 IS 1 L\n08:00:00 IEs 1\n08:10:00 Pause 11:10:00\n11:11:00 RS x\n11:20:00 END",
    bad: "08:00:00 IS 1 L\n08:00:00 IEs 1\n08:10:00 Pause 11:10:00\n11:11:01 RS x\n11:20:00 END",
  },
  {
    what: "a store that fails postpones a duty, and does not lift it",
    timeZone: "UTC",
    date: "2026-03-01",
    cron: "0 9 * * *",
    good: "08:00:00 IS 1 L\n08:00:00 IEs 1\n09:00:00 StoreFailed\n09:02:00 RS x\n09:20:00 END",
    bad: "08:00:00 IS 1 L\n08:00:00 IEs 1\n09:00:00 StoreFailed\n09:02:01 RS x\n09:20:00 END",
  },
];
