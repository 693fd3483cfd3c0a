/** What the reading of a timer says about each line of its units. */
import type { JobDefinition } from "../../job/definition.js";
import type { LocatedProblem } from "../located.js";
import type { UnitVerdict } from "./settings.js";
import type { UnitEntry } from "./unit.js";

export interface SystemdRules {
  /** The zone of the host, in which calendar events are read. */
  readonly timezone: string;
  /** Units of a user's own manager: they run as that user, in the home directory. */
  readonly isUser: boolean;
}

interface SystemdLine {
  readonly file: string;
  /** One-based. */
  readonly line: number;
  readonly text: string;
  readonly verdict: UnitVerdict;
  readonly notes: readonly string[];
}

export interface SystemdReading {
  /** The timer: `backup.timer`. */
  readonly name: string;
  readonly file: string;
  /** None when something that matters cannot be said; several when no one schedule says all. */
  readonly jobs: readonly JobDefinition[];
  readonly lines: readonly SystemdLine[];
  /** Why there is no job. */
  readonly problems: readonly LocatedProblem[];
}

/** Collects what is to be said about each line. */
export class UnitNotes {
  readonly #lines = new Map<UnitEntry, { verdict: UnitVerdict; notes: string[] }>();
  readonly #problems: LocatedProblem[] = [];

  /** The worst verdict on a line counts; notes add up. */
  say(entry: UnitEntry, verdict: UnitVerdict, note = ""): void {
    const line = this.#lines.get(entry) ?? { verdict: "same", notes: [] };
    if (RANK[verdict] > RANK[line.verdict]) line.verdict = verdict;
    if (note !== "" && !line.notes.includes(note)) line.notes.push(note);
    this.#lines.set(entry, line);
  }

  /** Without it there is no job. */
  refuse(entry: UnitEntry, message: string, hint?: string): void {
    this.say(entry, "unsupported", message);
    this.problem(entry.file, entry.line, message, hint);
  }

  /** Of a unit as a whole. */
  problem(file: string, line: number, message: string, hint?: string): void {
    const problem = { code: "field-range" as const, message, path: [], ...(hint === undefined ? {} : { hint }) };
    this.#problems.push({ problem, file, line, column: 1, length: 1, identity: null });
  }

  get problems(): readonly LocatedProblem[] {
    return this.#problems;
  }

  /** In the order in which they stand; those of which nothing was said are left out. */
  lines(): readonly SystemdLine[] {
    return [...this.#lines].map(([{ file, line, key, value }, { verdict, notes }]) => {
      return { file, line, text: key === "" ? value : `${key}=${value}`, verdict, notes };
    });
  }
}

const RANK = { same: 0, noted: 1, unsupported: 2 } as const;
