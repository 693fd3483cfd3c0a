/** Where the jobs of the formats with one job a line are written: the line format and JSON Lines. */
import { readJsonLine } from "../../../config/line/json-lines.js";
import { type JsonPlace, jsonPlaces } from "../../../config/line/json-text.js";
import { readKronLine } from "../../../config/line/kron-line.js";
import type { LineReader } from "../../../config/line/lines.js";
import { type LineParts, LineScanner, type NamedPart } from "../../../config/line/text.js";
import type { WindowRule } from "../../../decision/rule.js";
import { formatDuration } from "../../../time/duration.js";
import { insertion, type JobSite, type JobSites, type TextEdit } from "./edits.js";

const BYTE_ORDER_MARK = "\ufeff";

export function kronSites(text: string): JobSites {
  return sitesOf(text, readKronLine, (line, start, number) => new KronSite(line, start, number));
}

export function jsonSites(text: string): JobSites {
  return sitesOf(text, readJsonLine, (line, start, number) => new JsonSite(line, start, number));
}

type SiteMaker = (line: string, start: number, number: number) => JobSite;

function sitesOf(text: string, read: LineReader, make: SiteMaker): JobSites {
  const sites = new Map<string, JobSite>();
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  for (let number = 1; start < text.length; number++) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    const { job } = read(line, { file: "", line: number });
    if (job !== null) sites.set(job.definition.identity, make(line, start, number));
    start = end + 1;
  }
  return sites;
}

/** A site reads its line again when it is asked: most are not. */
class KronSite implements JobSite {
  readonly line: number;
  readonly #text: string;
  readonly #start: number;

  constructor(text: string, start: number, line: number) {
    this.#text = text.endsWith("\r") ? text.slice(0, -1) : text;
    this.#start = start;
    this.line = line;
  }

  get hasOwnWindow(): boolean {
    return modifierOf(this.#read().parts, "win") !== undefined;
  }

  windowEdit({ mode, durationMs }: WindowRule): TextEdit | null {
    const { parts } = this.#read();
    const text = `${mode},${formatDuration(durationMs)}`;
    const own = modifierOf(parts, "win");
    if (own === undefined) return this.#behindSchedule(parts, `@win(${text})`);
    return { start: this.#start + own.value.start, end: this.#start + own.value.end, text };
  }

  saltEdit(salt: string): TextEdit | null {
    return this.#namedEdit("seed", "salt", `salt=${quotedArgument(salt)}`);
  }

  deadlineEdit(deadlineMs: number): TextEdit | null {
    return this.#namedEdit("policy", "deadline", `deadline=${formatDuration(deadlineMs)}`);
  }

  /** In the place of the argument of this name; else behind the others, or in a modifier of its own. */
  #namedEdit(modifier: string, name: string, text: string): TextEdit | null {
    const { parts, scanner } = this.#read();
    const own = modifierOf(parts, modifier);
    if (own === undefined) return this.#behindSchedule(parts, `@${modifier}(${text})`);
    const named = scanner.readList(own.value).find((element) => "value" in element && element.name === name);
    if (named === undefined || !("value" in named)) return insertion(this.#start + own.value.end, `,${text}`);
    return { start: this.#start + named.nameStart, end: this.#start + named.value.end, text };
  }

  #read(): { readonly parts: LineParts; readonly scanner: LineScanner } {
    const scanner = new LineScanner(this.#text);
    return { parts: scanner.readLine(), scanner };
  }

  #behindSchedule({ schedule }: LineParts, text: string): TextEdit | null {
    return schedule === null ? null : insertion(this.#start + schedule.end, ` ${text}`);
  }
}

function modifierOf({ modifiers }: LineParts, name: string): NamedPart | undefined {
  return modifiers.find((modifier) => modifier.name === name);
}

function quotedArgument(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

class JsonSite implements JobSite {
  readonly line: number;
  readonly #text: string;
  readonly #start: number;

  constructor(text: string, start: number, line: number) {
    this.#text = text;
    this.#start = start;
    this.line = line;
  }

  get hasOwnWindow(): boolean {
    return jsonPlaces(this.#text).has("window");
  }

  windowEdit({ mode, durationMs }: WindowRule): TextEdit | null {
    return this.#edit("window", { mode, duration: formatDuration(durationMs) }, "duration");
  }

  saltEdit(salt: string): TextEdit | null {
    return this.#edit("seed", { salt }, "salt");
  }

  deadlineEdit(deadlineMs: number): TextEdit | null {
    return this.#edit("policy", { deadline: formatDuration(deadlineMs) }, "deadline");
  }

  /** The one value where it is written; else the whole field, behind the schedule. */
  #edit(field: string, members: Readonly<Record<string, string>>, changed: string): TextEdit | null {
    const places = jsonPlaces(this.#text);
    const known = places.get(`${field}\n${changed}`);
    if (known !== undefined) {
      const text = JSON.stringify(members[changed]);
      return { start: this.#start + known.start, end: this.#start + known.end, text };
    }
    const schedule = places.get("schedule");
    if (places.has(field) || schedule === undefined) return null;
    const blank = this.#blankOf(schedule);
    const inner = Object.entries(members).map(([name, value]) => `"${name}":${blank}${JSON.stringify(value)}`);
    const text = `,${blank}"${field}":${blank}{${inner.join(`,${blank}`)}}`;
    return insertion(this.#start + schedule.end, text);
  }

  /** What the line has behind its colons. */
  #blankOf({ key, start }: JsonPlace): string {
    return key !== null && this.#text.slice(key.end, start).includes(" ") ? " " : "";
  }
}
