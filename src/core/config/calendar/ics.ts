/**
 * Reads the days of an iCalendar file (RFC 5545): events of whole days, once or every year. Whatever else would make days
 * is refused with its line, because a holiday that is silently missing is worse than a file that is not accepted.
 */
import { LIMITS } from "../../base/limits.js";
import { type IntRange, mergedRanges } from "../../decision/constraint/kind.js";
import type { LocatedProblem } from "../located.js";
import { EventReader } from "./ics-event.js";
import { type IcsLine, icsLines, type Refuse } from "./ics-lines.js";

interface IcsReading {
  /** In their order, those that touch put together; null when anything is wrong. */
  readonly ranges: readonly IntRange[] | null;
  readonly problems: readonly LocatedProblem[];
}

/** What says nothing about which days there are. */
const PASSED_OVER = new Set(["VTIMEZONE", "STANDARD", "DAYLIGHT", "VALARM"]);

export function readIcs(file: string, text: string): IcsReading {
  return new IcsReader(file).read(text);
}

class IcsReader {
  readonly #file: string;
  readonly #problems: LocatedProblem[] = [];
  readonly #ranges: IntRange[] = [];
  /** Components that are open, by name. */
  readonly #open: string[] = [];
  #event: EventReader | null = null;
  #events = 0;

  constructor(file: string) {
    this.#file = file;
  }

  read(text: string): IcsReading {
    let last = 1;
    for (const line of icsLines(text, this.#refuse)) {
      last = line.number;
      if (this.#isOver()) break;
      this.#take(line);
    }
    this.#finish(last);
    return { ranges: this.#problems.length === 0 ? mergedRanges(this.#ranges) : null, problems: this.#problems };
  }

  #isOver(): boolean {
    if (this.#ranges.length > LIMITS.calendarOccurrences) return true;
    return this.#problems.length >= LIMITS.problemsPerJob;
  }

  #finish(line: number): void {
    if (this.#isOver()) {
      if (this.#problems.length > 0) return;
      const message = `the events stand for more than ${LIMITS.calendarOccurrences} days`;
      this.#refuse(line, message, "let repeated events end with UNTIL", "limit-exceeded");
    } else if (this.#open.length > 0) {
      this.#refuse(line, `${this.#open.at(-1)} has no end`, `the file is cut off before END:${this.#open.at(-1)}`);
    } else if (this.#problems.length === 0 && this.#events === 0) {
      this.#refuse(
        line,
        "there is no event in the file",
        "write BEGIN:VEVENT, DTSTART;VALUE=DATE:20261225, END:VEVENT",
      );
    }
  }

  #take(line: IcsLine): void {
    if (line.name === "BEGIN") this.#begin(line);
    else if (line.name === "END") this.#end(line);
    else if (this.#open.length === 0) this.#refuse(line.number, ...NOT_ICALENDAR);
    else if (this.#event !== null && this.#open.at(-1) === "VEVENT") this.#event.take(line);
  }

  #begin({ number, value }: IcsLine): void {
    const name = value.toUpperCase();
    const isKnown = name === "VEVENT" || PASSED_OVER.has(name) || name.startsWith("X-");
    if (this.#open.length === 0) {
      if (name !== "VCALENDAR") this.#refuse(number, ...NOT_ICALENDAR);
    } else if (name === "VEVENT" ? this.#open.length !== 1 : this.#open.length >= LIMITS.jsonDepth) {
      this.#refuse(number, `${name} stands inside ${this.#open.at(-1)}`, "close what is open before it with END");
    } else if (!isKnown)
      this.#refuse(number, `${name} makes no days that can be read`, "take it out: only events count");
    if (name === "VEVENT") this.#event = new EventReader(number, this.#refuse);
    // Deeper than anybody needs it is refused, and then what closes what does not matter.
    if (this.#open.length < LIMITS.jsonDepth) this.#open.push(name);
  }

  #end({ number, value }: IcsLine): void {
    const name = value.toUpperCase();
    const open = this.#open.pop();
    if (open !== name) {
      const hint = open === undefined ? "nothing is open here" : `write END:${open}`;
      this.#refuse(number, `END:${name} closes nothing`, hint);
    } else if (name === "VEVENT" && this.#event !== null) {
      this.#events += 1;
      this.#ranges.push(...this.#event.days());
      this.#event = null;
    }
  }

  readonly #refuse: Refuse = (line, message, hint, code = "calendar-invalid") => {
    if (this.#problems.length >= LIMITS.problemsPerJob) return;
    const problem = { code, message, path: [], hint };
    this.#problems.push({ problem, file: this.#file, line, column: 1, length: 1, identity: null });
  };
}

const NOT_ICALENDAR = [
  "this is no iCalendar file",
  "it begins with BEGIN:VCALENDAR and ends with END:VCALENDAR",
] as const;
