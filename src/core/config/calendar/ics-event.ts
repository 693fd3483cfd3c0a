/** One event of an iCalendar file, on its way to days. */
import { type IntRange, rangeOf } from "../../decision/constraint/kind.js";
import { readIcsDate } from "./ics-date.js";
import type { IcsLine, Refuse } from "./ics-lines.js";
import { readYearly, yearlyDays } from "./ics-yearly.js";

/** What makes days, or moves them, in ways that are not read. */
const REFUSED: Readonly<Record<string, string>> = {
  RDATE: "write each further day as an event of its own",
  EXRULE: "write EXDATE;VALUE=DATE with the days that are left out",
  "RECURRENCE-ID": "write the changed day as an event of its own, and leave it out of the repeated one by EXDATE",
};
const TAKEN = new Set(["DTSTART", "DTEND", "DURATION", "RRULE", "STATUS"]);
const DAYS_PER_WEEK = 7;
/** The first day that can be a nominal time's, in the westernmost zone: what repeated events had before is left out. */
const FIRST_DAY = -1;

export class EventReader {
  readonly #line: number;
  readonly #refuse: Refuse;
  readonly #lines = new Map<string, IcsLine>();
  readonly #left = new Set<number>();
  #isSound = true;

  constructor(line: number, refuse: Refuse) {
    this.#line = line;
    this.#refuse = (...problem) => {
      this.#isSound = false;
      refuse(...problem);
    };
  }

  take(line: IcsLine): void {
    const { name, number } = line;
    const refusal = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (refusal !== undefined) this.#refuse(number, `${name} is not read`, refusal);
    else if (name === "EXDATE") this.#leaveOut(line);
    else if (TAKEN.has(name)) {
      if (this.#lines.has(name)) this.#refuse(number, `${name} is written twice in one event`, "leave one of them");
      this.#lines.set(name, line);
    }
  }

  /** Both ends included; none of an event that is wrong, or called off. */
  days(): readonly IntRange[] {
    const start = this.#lines.get("DTSTART");
    if (start === undefined) {
      this.#refuse(this.#line, "an event has no DTSTART", "write DTSTART;VALUE=DATE:20261225");
      return [];
    }
    const first = readIcsDate(start, this.#refuse);
    if (first === null) return [];
    const length = this.#length(first);
    const rule = this.#lines.get("RRULE");
    const yearly = rule === undefined ? null : readYearly(rule, first, this.#refuse);
    if (!this.#isSound || this.#lines.get("STATUS")?.value.toUpperCase() === "CANCELLED") return [];
    const starts = yearly === null ? [first] : yearlyDays(first, yearly);
    return starts
      .filter((day) => !this.#left.has(day) && (yearly === null || day + length > FIRST_DAY))
      .map((day) => rangeOf(day, day + length - 1));
  }

  /** In days. The end is the first day that does not belong to the event any more. */
  #length(first: number): number {
    const [end, duration] = [this.#lines.get("DTEND"), this.#lines.get("DURATION")];
    if (end !== undefined) return this.#lengthTo(end, first);
    if (duration === undefined) return 1;
    const [, weeks, days] = /^\+?P(?:(\d{1,4})W|(\d{1,5})D)$/.exec(duration.value) ?? [];
    const length = weeks === undefined ? Number(days) : Number(weeks) * DAYS_PER_WEEK;
    if (length >= 1) return length;
    this.#refuse(duration.number, "this is no duration of whole days", "write it like DURATION:P2D");
    return 1;
  }

  #lengthTo(end: IcsLine, first: number): number {
    const day = readIcsDate(end, this.#refuse);
    if (day === null || day > first) return day === null ? 1 : day - first;
    // Some programs write the same day twice for a single one.
    if (day === first) return 1;
    this.#refuse(end.number, "the event ends before it begins", "DTEND is the day after the last one");
    return 1;
  }

  #leaveOut(line: IcsLine): void {
    for (const value of line.value.split(",")) {
      const day = readIcsDate({ ...line, value }, this.#refuse);
      if (day === null) return;
      this.#left.add(day);
    }
  }
}
