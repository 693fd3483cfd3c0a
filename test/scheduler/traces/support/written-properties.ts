/** For every property a trace that breaks it, and a near-identical one that does not. */
import type { PropertyId } from "../../../../src/scheduler/testing/index.js";
import type { WrittenTrace } from "./written-trace.js";

export interface PropertyRow {
  readonly property: PropertyId;
  readonly what: string;
  readonly good: string;
  readonly bad: string;
}

/** x is due at every full hour and tried again after 5 minutes; y at half past. */
export const LISTS: WrittenTrace["lists"] = {
  none: [],
  X: [["x", "0 * * * *", 5]],
  XY: [
    ["x", "0 * * * *", 5],
    ["y", "30 * * * *", 5],
  ],
  Y: [["y", "30 * * * *", 5]],
  patient: [["x", "0 * * * *", 120]],
  wrong: [["x", "0 24 * * *", 5]],
};

const UP = "10:30:30 IS 1 X\n10:30:30 IEs 1";

export const PROPERTY_ROWS: readonly PropertyRow[] = [
  {
    property: "P1",
    what: "a start needs a cause newer than the last start",
    good: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:10:00 END`,
    bad: `${UP}\n10:40:00 RS x\n10:40:01 REs x\n10:50:00 END`,
  },
  {
    property: "P2",
    what: "the cause comes before the start",
    good: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:10:00 END`,
    bad: `${UP}\n10:59:59 RS x\n11:00:01 REs x\n11:10:00 END`,
  },
  {
    property: "P3",
    what: "no start before initialize returned",
    good: "11:00:00 IS 1 X\n11:00:00 IEs 1\n11:00:00 RS x@1\n11:00:01 END",
    bad: "11:00:00 IS 1 X\n11:00:00 RS x@1\n11:00:00 IEs 1\n11:00:01 END",
  },
  {
    property: "P4",
    what: "no start after stop was called",
    good: `${UP}\n11:00:00 RS x\n11:00:00 SS 2\n11:00:01 REs x\n11:00:01 SE 2\n11:00:02 END`,
    bad: `${UP}\n11:00:00 SS 2\n11:00:00 RS x\n11:00:01 REs x\n11:00:01 SE 2\n11:00:02 END`,
  },
  {
    property: "P5",
    what: "no start after stop returned",
    good: `${UP}\n11:00:00 SS 2\n11:00:00 SE 2\n11:00:00 IS 3 X\n11:00:00 IEs 3\n11:00:00 RS x\n11:00:01 END`,
    bad: `${UP}\n11:00:00 SS 2\n11:00:00 SE 2\n11:00:00 RS x\n11:00:01 END`,
  },
  {
    property: "P6",
    what: "no start after a crash until initialised again",
    good: `${UP}\n11:00:00 Crash\n11:00:00 IS 2 X\n11:00:00 IEs 2\n11:00:00 RS x\n11:00:01 END`,
    bad: `${UP}\n11:00:00 Crash\n11:00:00 RS x\n11:00:01 END`,
  },
  {
    property: "P7",
    what: "only tasks of the active list",
    good: `10:10:00 IS 1 XY\n10:10:00 IEs 1\n10:10:00 SS 2\n10:10:00 SE 2\n10:20:00 IS 3 XY\n10:20:00 IEs 3\n10:30:00 RS y\n10:30:01 END`,
    bad: `10:10:00 IS 1 XY\n10:10:00 IEs 1\n10:10:00 SS 2\n10:10:00 SE 2\n10:20:00 IS 3 X\n10:20:00 IEs 3\n10:30:00 RS y\n10:30:01 END`,
  },
  {
    property: "P7",
    what: "with the callback of the active list",
    good: `${UP}\n10:40:00 SS 2\n10:40:00 SE 2\n10:40:00 IS 3 X\n10:40:00 IEs 3\n11:00:00 RS x@3\n11:00:01 END`,
    bad: `${UP}\n10:40:00 SS 2\n10:40:00 SE 2\n10:40:00 IS 3 X\n10:40:00 IEs 3\n11:00:00 RS x@1\n11:00:01 END`,
  },
  {
    property: "P8",
    what: "a task never overlaps itself",
    good: `${UP}\n11:00:00 RS x\n11:59:59 REs x\n12:00:00 RS x\n12:00:01 END`,
    bad: `${UP}\n11:00:00 RS x\n12:00:00 RS x\n12:00:01 END`,
  },
  {
    property: "P9",
    what: "at most one successful start for a due period",
    good: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n12:00:00 RS x\n12:00:01 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:00:30 RS x\n11:00:31 END`,
  },
  {
    property: "P9",
    what: "a successful retry serves the period of the run it repeats",
    good: `${UP}\n11:00:00 RS x\n11:00:01 REf x\n11:05:01 RS x\n11:05:02 REs x\n12:00:00 RS x\n12:00:01 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:01 REf x\n11:05:01 RS x\n11:05:02 REs x\n11:06:00 RS x\n11:06:01 END`,
  },
  {
    property: "P9",
    what: "a clock set back repeats no period",
    good: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:00:10 Clock 10:59:50\n11:00:10 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:00:10 Clock 10:59:50\n11:00:05 RS x\n11:00:10 END`,
  },
  {
    property: "P10",
    what: "one start consumes the occurrence and the retry",
    good: `${UP}\n11:00:00 RS x\n11:56:00 REf x\n11:56:00 Saved x\n11:56:00 Crash\n12:30:00 IS 2 X\n12:30:00 IEs 2\n12:30:00 RS x\n12:30:01 REs x\n12:40:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:56:00 REf x\n11:56:00 Saved x\n11:56:00 Crash\n12:30:00 IS 2 X\n12:30:00 IEs 2\n12:30:00 RS x\n12:30:01 REs x\n12:30:02 RS x\n12:40:00 END`,
  },
  {
    property: "P11",
    what: "four occurrences while down get one start",
    good: `${UP}\n10:40:00 Crash\n14:30:00 IS 2 X\n14:30:00 IEs 2\n14:30:00 RS x\n14:30:01 REs x\n14:40:00 END`,
    bad: `${UP}\n10:40:00 Crash\n14:30:00 IS 2 X\n14:30:00 IEs 2\n14:30:00 RS x\n14:30:01 REs x\n14:30:02 RS x\n14:40:00 END`,
  },
  {
    property: "P11",
    what: "and not none",
    good: `${UP}\n10:40:00 Crash\n14:30:00 IS 2 X\n14:30:00 IEs 2\n14:31:00 RS x\n14:31:01 REs x\n14:40:00 END`,
    bad: `${UP}\n10:40:00 Crash\n14:30:00 IS 2 X\n14:30:00 IEs 2\n14:40:00 END`,
  },
  {
    property: "P12",
    what: "an occurrence during a run is owed afterwards",
    good: `${UP}\n11:00:00 RS x\n12:10:00 REs x\n12:10:00 RS x\n12:10:01 REs x\n12:20:00 END`,
    bad: `${UP}\n11:00:00 RS x\n12:10:00 REs x\n12:20:00 END`,
  },
  {
    property: "P12",
    what: "also when the run failed, and once",
    good: `${UP}\n11:00:00 RS x\n12:10:00 REf x\n12:10:00 RS x\n12:10:01 REs x\n12:20:00 END`,
    bad: `${UP}\n11:00:00 RS x\n12:10:00 REf x\n12:10:00 RS x\n12:10:01 REs x\n12:10:02 RS x\n12:20:00 END`,
  },
  {
    property: "P13",
    what: "no retry early",
    good: `${UP}\n11:00:00 RS x\n11:00:10 REf x\n11:05:10 RS x\n11:05:11 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:10 REf x\n11:05:09 RS x\n11:05:11 END`,
  },
  {
    property: "P14",
    what: "an occurrence pre-empts the backoff",
    good: "10:30:30 IS 1 patient\n10:30:30 IEs 1\n11:00:00 RS x\n11:00:10 REf x\n12:00:00 RS x\n12:02:00 END",
    bad: "10:30:30 IS 1 patient\n10:30:30 IEs 1\n11:00:00 RS x\n11:00:10 REf x\n13:00:10 RS x\n13:02:00 END",
  },
  {
    property: "P15",
    what: "any start resolves an older retry",
    good: `${UP}\n11:00:00 RS x\n11:58:00 REf x\n12:00:00 RS x\n12:01:00 REs x\n12:10:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:58:00 REf x\n12:00:00 RS x\n12:01:00 REs x\n12:03:00 RS x\n12:10:00 END`,
  },
  {
    property: "P16",
    what: "absence from a successful list forgets the causes",
    good: `${UP}\n10:40:00 Crash\n11:10:00 IS 2 Y\n11:10:00 IEs 2\n11:11:00 Crash\n11:20:00 IS 3 X\n11:20:00 IEs 3\n11:20:10 END`,
    bad: `${UP}\n10:40:00 Crash\n11:10:00 IS 2 Y\n11:10:00 IEs 2\n11:11:00 Crash\n11:20:00 IS 3 X\n11:20:00 IEs 3\n11:20:00 RS x\n11:20:10 END`,
  },
  {
    property: "P17",
    what: "first seen in a minute that is not named: no start",
    good: "11:00:30 IS 1 X\n11:00:30 IEs 1\n11:00:30 RS x\n11:00:31 END",
    bad: "11:01:00 IS 1 X\n11:01:00 IEs 1\n11:01:00 RS x\n11:01:01 END",
  },
  {
    property: "P17",
    what: "first seen in a minute that is named: a start",
    good: "11:00:30 IS 1 X\n11:00:30 IEs 1\n11:01:10 RS x\n11:01:11 REs x\n11:02:00 END",
    bad: "11:00:30 IS 1 X\n11:00:30 IEs 1\n11:02:00 END",
  },
  {
    property: "P18",
    what: "causes survive a stop, downtime and failed initialisations",
    good: `${UP}\n10:40:00 SS 2\n10:40:00 SE 2\n11:10:00 IS 3 wrong\n11:10:00 IEf 3\n11:20:00 IS 4 X\n11:20:00 IEs 4\n11:20:00 RS x\n11:20:01 REs x\n11:22:00 END`,
    bad: `${UP}\n10:40:00 SS 2\n10:40:00 SE 2\n11:10:00 IS 3 wrong\n11:10:00 IEf 3\n11:20:00 IS 4 X\n11:20:00 IEs 4\n11:22:00 END`,
  },
  {
    property: "P18",
    what: "a retry survives a crash",
    good: `${UP}\n11:00:00 RS x\n11:01:00 REf x\n11:01:00 Saved x\n11:02:00 Crash\n11:10:00 IS 4 X\n11:10:00 IEs 4\n11:10:00 RS x\n11:10:01 REs x\n11:20:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:01:00 REf x\n11:01:00 Saved x\n11:02:00 Crash\n10:10:00 IS 4 X\n11:10:00 IEs 4\n11:20:00 END`.replace(
      "10:10:00 IS 4",
      "11:10:00 IS 4",
    ),
  },
  {
    property: "P19",
    what: "an orphan is restarted",
    good: `${UP}\n11:00:00 RS x\n11:10:00 Crash\n11:20:00 IS 2 X\n11:20:00 IEs 2\n11:20:00 RS x\n11:22:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:10:00 Crash\n11:20:00 IS 2 X\n11:20:00 IEs 2\n11:22:00 END`,
  },
  {
    property: "P19",
    what: "once",
    good: `${UP}\n11:00:00 RS x\n11:10:00 Crash\n11:20:00 IS 2 X\n11:20:00 IEs 2\n11:20:00 RS x\n11:20:01 REs x\n11:22:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:10:00 Crash\n11:20:00 IS 2 X\n11:20:00 IEs 2\n11:20:00 RS x\n11:20:01 REs x\n11:21:00 RS x\n11:22:00 END`,
  },
  {
    property: "P19",
    what: "never after a clean stop",
    good: `${UP}\n11:00:00 RS x\n11:01:00 REs x\n11:01:00 Saved x\n11:10:00 SS 2\n11:10:00 SE 2\n11:20:00 IS 3 X\n11:20:00 IEs 3\n11:21:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:01:00 REs x\n11:01:00 Saved x\n11:10:00 SS 2\n11:10:00 SE 2\n11:20:00 IS 3 X\n11:20:00 IEs 3\n11:20:00 RS x\n11:21:00 END`,
  },
  {
    property: "P20",
    what: "when stop returns, nothing runs",
    good: `${UP}\n11:00:00 RS x\n11:00:10 SS 2\n11:00:20 REs x\n11:00:20 SE 2\n11:00:30 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:10 SS 2\n11:00:10 SE 2\n11:00:20 REs x\n11:00:30 END`,
  },
  {
    property: "P20",
    what: "and no initialisation is in progress",
    good: "10:30:00 IS 1 X\n10:30:00 SS 2\n10:30:00 IEs 1\n10:30:00 SE 2\n10:31:00 END",
    bad: "10:30:00 IS 1 X\n10:30:00 SS 2\n10:30:00 SE 2\n10:30:00 IEs 1\n10:31:00 END",
  },
  {
    property: "P21",
    what: "an invalid list never succeeds",
    good: "10:30:00 IS 1 wrong\n10:30:00 IEf 1\n10:31:00 END",
    bad: "10:30:00 IS 1 wrong\n10:30:00 IEs 1\n10:31:00 END",
  },
  {
    property: "P22",
    what: "a valid list does not fail for nothing",
    good: "10:30:00 IS 1 X\n10:30:00 StoreFailed\n10:30:00 IEf 1\n10:31:00 END",
    bad: "10:30:00 IS 1 X\n10:30:00 IEf 1\n10:31:00 END",
  },
  {
    property: "P22",
    what: "it may while another is in progress, and not before",
    good: "10:30:00 IS 1 X\n10:30:00 IS 2 X\n10:30:00 IEf 2\n10:30:00 IEs 1\n10:31:00 END",
    bad: "10:30:00 IS 1 X\n10:30:00 IS 2 X\n10:30:00 IEf 1\n10:30:00 IEs 2\n10:31:00 END",
  },
  {
    property: "P23",
    what: "between two successes there is a stop or a crash",
    good: `${UP}\n10:31:00 Crash\n10:32:00 IS 2 X\n10:32:00 IEs 2\n10:33:00 END`,
    bad: `${UP}\n10:32:00 IS 2 X\n10:32:00 IEs 2\n10:33:00 END`,
  },
  {
    property: "P24",
    what: "ends match starts",
    good: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:00:02 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:01 REs x\n11:00:01 REf x\n11:00:02 END`,
  },
  {
    property: "P25",
    what: "answers follow their calls",
    good: "10:30:00 IS 1 X\n10:30:00 IEs 1\n10:31:00 END",
    bad: "10:30:00 IEs 1\n10:30:00 IS 1 X\n10:31:00 END",
  },
  {
    property: "P25",
    what: "time moves forward",
    good: `${UP}\n10:40:00 SS 2\n10:41:00 SE 2\n10:42:00 END`,
    bad: `${UP}\n10:41:00 SS 2\n10:40:00 SE 2\n10:42:00 END`,
  },
  {
    property: "P26",
    what: "a dead instance never touches the store",
    good: `${UP}\n10:40:00 Crash\n10:41:00 IS 2 X\n10:41:00 IEs 2\n10:42:00 END`,
    bad: `${UP}\n10:40:00 Crash\n10:41:00 IS 2 X\n10:41:00 IEs 2\n10:41:00 LateWrite\n10:42:00 END`,
  },
  {
    property: "P26",
    what: "but it may until another has taken over, and then what was cut off need not be run again",
    good: `${UP}\n11:00:00 RS x\n11:00:10 Crash\n11:00:20 LateWrite\n11:01:00 IS 2 X\n11:01:00 IEs 2\n11:09:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:10 Crash\n11:01:00 IS 2 X\n11:01:00 IEs 2\n11:01:20 LateWrite\n11:01:30 END`,
  },
  {
    property: "L1",
    what: "owed and active: started within a minute",
    good: `${UP}\n11:01:00 RS x\n11:01:01 END`,
    bad: `${UP}\n11:01:01 RS x\n11:01:02 END`,
  },
  {
    property: "L1",
    what: "a retry too",
    good: `${UP}\n11:00:00 RS x\n11:00:10 REf x\n11:06:10 RS x\n11:07:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:00:10 REf x\n11:07:00 END`,
  },
  {
    property: "L2",
    what: "initialize returns",
    good: "10:30:00 IS 1 X\n10:30:40 IEs 1\n10:40:00 END",
    bad: "10:30:00 IS 1 X\n10:40:00 END",
  },
  {
    property: "L3",
    what: "stop returns once the callbacks have ended",
    good: `${UP}\n11:00:00 RS x\n11:01:00 SS 2\n11:20:00 END`,
    bad: `${UP}\n11:00:00 RS x\n11:01:00 SS 2\n11:10:00 REs x\n11:20:00 END`,
  },
  {
    property: "L4",
    what: "a hanging task delays no other",
    good: "10:50:00 IS 1 XY\n10:50:00 IEs 1\n11:00:00 RS x\n11:30:00 RS y\n11:40:00 END",
    bad: "10:50:00 IS 1 XY\n10:50:00 IEs 1\n11:00:00 RS x\n11:40:00 END",
  },
];
