import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../../src/core/base/limits.js";
import { readIcs } from "../../../../src/core/config/calendar/ics.js";
import { formatDays } from "../../../../src/core/decision/constraint/date.js";
import { FUZZ, IS_LONG } from "../../../support/fuzz.js";

const RUNS = { ...FUZZ, numRuns: IS_LONG ? 100_000 : 1000 };

function calendar(...lines: readonly string[]): string {
  return ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n");
}

function event(...lines: readonly string[]): readonly string[] {
  return ["BEGIN:VEVENT", ...lines, "END:VEVENT"];
}

function daysOf(text: string): string {
  const { ranges, problems } = readIcs("x.ics", text);
  return (
    ranges?.map(formatDays).join(",") ?? problems.map(({ line, problem }) => `${line}: ${problem.message}`).join("; ")
  );
}

describe("events of whole days", () => {
  test.each([
    { name: "one day", lines: ["DTSTART;VALUE=DATE:20261225"], days: "2026-12-25" },
    {
      name: "the end is exclusive",
      lines: ["DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261227"],
      days: "2026-12-25..2026-12-26",
    },
    {
      name: "an end on the same day is one day",
      lines: ["DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261225"],
      days: "2026-12-25",
    },
    {
      name: "over a new year",
      lines: ["DTSTART;VALUE=DATE:20261231", "DTEND;VALUE=DATE:20270102"],
      days: "2026-12-31..2027-01-01",
    },
    {
      name: "a duration of days",
      lines: ["DTSTART;VALUE=DATE:20261225", "DURATION:P3D"],
      days: "2026-12-25..2026-12-27",
    },
    {
      name: "a duration of weeks",
      lines: ["DTSTART;VALUE=DATE:20260701", "DURATION:P1W"],
      days: "2026-07-01..2026-07-07",
    },
    { name: "without VALUE=DATE", lines: ["DTSTART:20261225"], days: "2026-12-25" },
    { name: "names in any case", lines: ["dtstart;value=date:20261225"], days: "2026-12-25" },
    { name: "a folded date", lines: ["DTSTART;VALUE=DA", " TE:2026", "\t1225"], days: "2026-12-25" },
    { name: "colons in a quoted parameter", lines: ['DTSTART;X-A="a:b;c";VALUE=DATE:20261225'], days: "2026-12-25" },
    {
      name: "called off",
      lines: ["DTSTART;VALUE=DATE:20261225", "STATUS:CANCELLED", "END:VEVENT", "BEGIN:VEVENT", "DTSTART:20270101"],
      days: "2027-01-01",
    },
    {
      name: "what says nothing of days",
      lines: [
        "UID:1",
        "SUMMARY:a: b; c",
        "DTSTART:20261225",
        "BEGIN:VALARM",
        "TRIGGER:-P1D",
        "DTSTART:20200101T000000",
        "END:VALARM",
      ],
      days: "2026-12-25",
    },
    {
      name: "every year, so often",
      lines: ["DTSTART:20241225", "RRULE:FREQ=YEARLY;COUNT=3"],
      days: "2024-12-25,2025-12-25,2026-12-25",
    },
    {
      name: "every other year",
      lines: ["DTSTART:20241225", "RRULE:FREQ=YEARLY;INTERVAL=2;COUNT=2"],
      days: "2024-12-25,2026-12-25",
    },
    {
      name: "until a day, that one included",
      lines: ["DTSTART:20241225", "RRULE:FREQ=YEARLY;UNTIL=20251225"],
      days: "2024-12-25,2025-12-25",
    },
    {
      name: "until an instant",
      lines: ["DTSTART:20241225", "RRULE:FREQ=YEARLY;UNTIL=20251224T230000Z"],
      days: "2024-12-25",
    },
    {
      name: "a rule that names its day",
      lines: ["DTSTART:20241225", "RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25;WKST=MO;COUNT=1"],
      days: "2024-12-25",
    },
    {
      name: "29 February only where there is one",
      lines: ["DTSTART:20240229", "RRULE:FREQ=YEARLY;COUNT=2"],
      days: "2024-02-29,2028-02-29",
    },
    {
      name: "a year left out",
      lines: ["DTSTART:20241225", "RRULE:FREQ=YEARLY;COUNT=3", "EXDATE;VALUE=DATE:20251225"],
      days: "2024-12-25,2026-12-25",
    },
    {
      name: "several days every year",
      lines: ["DTSTART:20241231", "DTEND:20250102", "RRULE:FREQ=YEARLY;COUNT=2"],
      days: "2024-12-31..2025-01-01,2025-12-31..2026-01-01",
    },
  ])("$name", ({ lines, days }) => {
    expect(daysOf(calendar(...event(...lines)))).toBe(days);
  });

  test("those that touch are put together, in whatever order they stand", () => {
    const text = calendar(...event("DTSTART:20261226"), ...event("DTSTART:20260101"), ...event("DTSTART:20261225"));
    expect(daysOf(text)).toBe("2026-01-01,2026-12-25..2026-12-26");
  });

  test("without an end a yearly event goes from 1970 to 2100, whenever it began and whenever it is read", () => {
    const { ranges } = readIcs("x.ics", calendar(...event("DTSTART:19000501", "RRULE:FREQ=YEARLY")));
    expect([ranges?.length, ranges?.slice(0, 1).map(formatDays), ranges?.slice(-1).map(formatDays)]).toEqual([
      131,
      ["1970-05-01"],
      ["2100-05-01"],
    ]);
  });

  test("line ends of any kind, a byte order mark, blank lines and time zones", () => {
    const zone = [
      "BEGIN:VTIMEZONE",
      "BEGIN:STANDARD",
      "DTSTART:19701025T030000",
      "RRULE:FREQ=HOURLY",
      "END:STANDARD",
      "END:VTIMEZONE",
    ];
    const lines = ["\ufeffBEGIN:VCALENDAR", ...zone, "", ...event("DTSTART:20261225"), "END:VCALENDAR"];
    for (const end of ["\n", "\r\n", "\r"]) expect(daysOf(lines.join(end))).toBe("2026-12-25");
  });
});

describe("everything else is refused, with its line", () => {
  test.each([
    { name: "a time of day", lines: event("DTSTART:20261225T100000Z"), says: "4: DTSTART has a time of day" },
    {
      name: "an end with a time",
      lines: event("DTSTART:20261225", "DTEND:20261226T000000"),
      says: "5: DTEND has a time of day",
    },
    { name: "no start", lines: event("SUMMARY:x"), says: "3: an event has no DTSTART" },
    { name: "no such day", lines: event("DTSTART:20260230"), says: "4: there is no day 2026-02-30" },
    { name: "no day", lines: event("DTSTART:tomorrow"), says: "4: the value of DTSTART is no day" },
    {
      name: "an end before the beginning",
      lines: event("DTSTART:20261225", "DTEND:20261224"),
      says: "5: the event ends before it begins",
    },
    {
      name: "a duration of hours",
      lines: event("DTSTART:20261225", "DURATION:PT5H"),
      says: "5: this is no duration of whole days",
    },
    {
      name: "a duration of nothing",
      lines: event("DTSTART:20261225", "DURATION:P0D"),
      says: "5: this is no duration of whole days",
    },
    {
      name: "every month",
      lines: event("DTSTART:20261225", "RRULE:FREQ=MONTHLY"),
      says: "5: only events that come back every year are read",
    },
    {
      name: "every week",
      lines: event("DTSTART:20261225", "RRULE:FREQ=WEEKLY;COUNT=2"),
      says: "5: only events that come back every year are read",
    },
    {
      name: "the fourth Thursday",
      lines: event("DTSTART:20261126", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"),
      says: "5: BYDAY in a rule of repetition is not read",
    },
    {
      name: "another month",
      lines: event("DTSTART:20261126", "RRULE:FREQ=YEARLY;BYMONTH=11,12"),
      says: "5: the rule of repetition names another day than DTSTART",
    },
    {
      name: "a count of none",
      lines: event("DTSTART:20261126", "RRULE:FREQ=YEARLY;COUNT=0"),
      says: "5: INTERVAL, COUNT or UNTIL of the rule of repetition cannot be read",
    },
    {
      name: "a rule said twice",
      lines: event("DTSTART:20261126", "RRULE:FREQ=YEARLY;FREQ=YEARLY"),
      says: "5: this is no rule of repetition",
    },
    {
      name: "two starts",
      lines: event("DTSTART:20261126", "DTSTART:20261127"),
      says: "5: DTSTART is written twice in one event",
    },
    { name: "further days", lines: event("DTSTART:20261126", "RDATE:20261127"), says: "5: RDATE is not read" },
    {
      name: "a changed occurrence",
      lines: event("DTSTART:20261126", "RECURRENCE-ID:20261127"),
      says: "5: RECURRENCE-ID is not read",
    },
    {
      name: "a day left out with a time",
      lines: event("DTSTART:20261126", "EXDATE:20261127T000000Z"),
      says: "5: EXDATE has a time of day",
    },
    {
      name: "a task",
      lines: ["BEGIN:VTODO", "END:VTODO", ...event("DTSTART:20261126")],
      says: "3: VTODO makes no days that can be read",
    },
    {
      name: "an event in an event",
      lines: ["BEGIN:VEVENT", ...event("DTSTART:20261126"), "END:VEVENT"],
      says: "4: VEVENT stands inside VEVENT",
    },
    { name: "no event", lines: [], says: "3: there is no event in the file" },
    { name: "no property", lines: ["a line"], says: "3: this is no line of an iCalendar file" },
    {
      name: "an end too many",
      lines: ["END:VEVENT", ...event("DTSTART:20261126")],
      says: "3: END:VEVENT closes nothing",
    },
  ])("$name", ({ lines, says }) => {
    const { ranges, problems } = readIcs("x.ics", calendar(...lines));
    expect(ranges).toBeNull();
    expect(`${problems[0]?.line}: ${problems[0]?.problem.message}`).toBe(says);
    for (const { problem, file } of problems)
      expect([file, problem.hint]).toEqual(["x.ics", expect.stringMatching(/\S/)]);
  });

  test.each([
    { text: "", says: "1: there is no event in the file" },
    { text: "jobs: []\n", says: "1: this is no iCalendar file" },
    { text: "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\n", says: "3: VEVENT has no end" },
  ])("a file that is none: $text", ({ text, says }) => {
    expect(daysOf(text)).toBe(says);
  });

  test("more days than anybody has, and more problems than anybody reads", () => {
    const yearly = event("DTSTART:19700101", "RRULE:FREQ=YEARLY");
    const many = calendar(...Array.from({ length: 1000 }, () => yearly).flat());
    expect(readIcs("x.ics", many).problems.map(({ problem }) => problem.code)).toEqual(["limit-exceeded"]);
    const wrong = calendar(...Array.from({ length: 1000 }, () => event("DTSTART:x")).flat());
    expect(readIcs("x.ics", wrong).problems).toHaveLength(LIMITS.problemsPerJob);
  });
});

const TOKENS = [
  ...'\n\r\t :;=,"P-\\'.split(""),
  ..."BEGIN:VCALENDAR\n|END:VCALENDAR\n|BEGIN:VEVENT\n|END:VEVENT\n|DTSTART:20261225\n|DTSTART;VALUE=DATE:|DTEND:|20270101|DURATION:P1D\n".split(
    "|",
  ),
  ..."RRULE:FREQ=YEARLY|;COUNT=3|;UNTIL=20300101|;INTERVAL=|999999|EXDATE:|BEGIN:|END:|T000000Z|\n |__proto__|\ufeff|\ud800|\u0000|é".split(
    "|",
  ),
];

describe("R12: any text is answered with days or problems", () => {
  const sound = calendar(
    ...event("DTSTART;VALUE=DATE:20241225", "DTEND;VALUE=DATE:20241227", "RRULE:FREQ=YEARLY;COUNT=3"),
  );
  const tokens = fc.array(fc.constantFrom(...TOKENS), { maxLength: 80 }).map((parts) => parts.join(""));
  const damaged = fc
    .record({ at: fc.nat({ max: sound.length }), cut: fc.nat({ max: 20 }), put: fc.constantFrom(...TOKENS, "") })
    .map(({ at, cut, put }) => sound.slice(0, at) + put + sound.slice(at + cut));

  test("never with an exception, and every problem has a line of the text", () => {
    fc.assert(
      fc.property(fc.oneof(tokens, damaged, fc.string({ unit: "binary", maxLength: 200 })), (text) => {
        const { ranges, problems } = readIcs("f", text);
        expect(ranges === null).toBe(problems.length > 0);
        const lines = text.split(/\r\n|\n|\r/).length;
        for (const { line } of problems) expect(line >= 1 && line <= lines).toBe(true);
        for (const { from, to } of ranges ?? []) expect(from).toBeLessThanOrEqual(to);
      }),
      RUNS,
    );
  });

  test("the worst files of the largest size are answered within their limits", () => {
    const size = LIMITS.calendarFileBytes;
    const worst = [
      "\n ".repeat(size / 2),
      "BEGIN:X-A\n".repeat(size / 10),
      `BEGIN:VCALENDAR\n${"BEGIN:VEVENT\nDTSTART:00010101\nRRULE:FREQ=YEARLY;UNTIL=19600101\nEND:VEVENT\n".repeat(size / 80)}`,
      `A${";A=b".repeat(size / 4)}:x`,
      `A;A="${'"'.repeat(size)}`,
      `BEGIN:VCALENDAR\nBEGIN:VEVENT\nEXDATE:${"20261225,".repeat(size / 9)}`,
    ];
    for (const text of worst) expect(readIcs("f", text).problems.length).toBeGreaterThan(0);
  });
});

test("yearly days are those of an independent count, day by day", () => {
  const start = fc.integer({ min: Date.UTC(1970, 0, 1) / 86_400_000, max: Date.UTC(2099, 0, 1) / 86_400_000 });
  const bounds = fc.record({ start, interval: fc.integer({ min: 1, max: 5 }), count: fc.integer({ min: 1, max: 60 }) });
  const compact = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
  fc.assert(
    fc.property(bounds, ({ start: first, interval, count }) => {
      const begin = compact(first);
      const expected: string[] = [];
      for (let day = first; compact(day) < "21010101" && expected.length < count; day++) {
        const isYear = (Number(compact(day).slice(0, 4)) - Number(begin.slice(0, 4))) % interval === 0;
        if (isYear && compact(day).slice(4) === begin.slice(4)) expected.push(compact(day));
      }
      const text = calendar(...event(`DTSTART:${begin}`, `RRULE:FREQ=YEARLY;INTERVAL=${interval};COUNT=${count}`));
      expect(readIcs("f", text).ranges?.map(({ from }) => compact(from))).toEqual(expected);
    }),
    { ...FUZZ, numRuns: 40 },
  );
});
