/**
 * Cuts a line of the line format into its parts:
 *
 *     line     = schedule *( blank ( modifier | field ) )
 *     schedule = five words without "=" and "@", or one macro such as @hourly, or "@every" blank duration, or "@at" blank time;
 *                absent where the modifier @every(...) or @at(...) stands in its place
 *     modifier = "@" name "(" anything, quoted texts whole ")"
 *     field    = name "=" ( word | '"' text '"' )        ; \" and \\ are the only escapes
 */
import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import type { Stretch } from "../located.js";
import type { WrittenStyle } from "../written-text.js";

/** A text and where in the line it is written. */
export interface LinePart {
  readonly text: string;
  /** Where it is written, quotes included. */
  readonly start: number;
  readonly end: number;
  readonly style: WrittenStyle;
}

export interface NamedPart {
  readonly name: string;
  readonly nameStart: number;
  readonly value: LinePart;
}

export interface LineProblem extends Stretch {
  readonly problem: Problem;
}

export interface LineParts {
  readonly schedule: LinePart | null;
  readonly modifiers: readonly NamedPart[];
  readonly fields: readonly NamedPart[];
}

const MACRO = /@(?:every[ \t]+[0-9.][^ \t]*|at[ \t]+[0-9][^ \t]*|[A-Za-z]+)(?=[ \t]|$)/iy;
const WORD = /[^ \t]+/y;
const MODIFIER = /@([A-Za-z_]+)\(/y;
const FIELD = /([A-Za-z_]+)=/y;
const NAME_ONLY = /([A-Za-z_]+)[ \t]*=[ \t]*/y;
const QUOTE_OR_ESCAPE = /["\\]/g;
const BARE_FIELD = /[^ \t]*/y;
const BARE_ARGUMENT = /[^,)]*/y;
const SCHEDULE_WORDS = 5;

/** A cursor over one line; trouble is noted and what follows is read all the same, as far as that makes sense. */
export class LineScanner {
  readonly problems: LineProblem[] = [];
  readonly #line: string;
  #at = 0;
  #isCutShort = false;

  constructor(line: string) {
    this.#line = line;
  }

  /** Whether a quote or parenthesis that is not closed has swallowed the rest of the line. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  readLine(): LineParts {
    const schedule = this.#readSchedule();
    const modifiers: NamedPart[] = [];
    const fields: NamedPart[] = [];
    for (this.#skipBlanks(); this.#at < this.#line.length; this.#skipBlanks()) {
      if (fields.length + modifiers.length + this.problems.length >= LIMITS.lineParts) {
        this.#refuseRest();
        break;
      }
      const modifier = this.#match(MODIFIER);
      const field = modifier === null ? this.#match(FIELD) : null;
      if (modifier !== null) this.#keep(modifiers, modifier, this.#readArguments(modifier));
      else if (field !== null) this.#keep(fields, field, this.#readValue(BARE_FIELD));
      else this.#refuseWord(fields.length + modifiers.length === 0);
    }
    return { schedule, modifiers, fields };
  }

  /** `a, b=c, d="e, f"`: the elements of a modifier's arguments. */
  readList(part: LinePart): readonly (LinePart | NamedPart)[] {
    const elements: (LinePart | NamedPart)[] = [];
    this.#at = part.start;
    while (this.#at <= part.end && elements.length < LIMITS.lineParts) {
      this.#skipBlanks();
      const name = this.#match(NAME_ONLY);
      const value = this.#readValue(BARE_ARGUMENT);
      if (value === null) return elements;
      elements.push(name === null ? value : { name: name[1] ?? "", nameStart: name.index, value });
      this.#skipBlanks();
      if (this.#at < part.end && this.#line[this.#at] !== ",") {
        this.#refuse("expected a comma", this.#at, this.#at + 1);
        return elements;
      }
      this.#at++;
    }
    return elements;
  }

  /** A quoted text, or what `bare` matches. Null, with a problem, when neither is sound. */
  #readValue(bare: RegExp): LinePart | null {
    const start = this.#at;
    if (this.#line[start] === '"') return this.#readQuoted();
    const text = (this.#match(bare)?.[0] ?? "").trimEnd();
    const quote = text.indexOf('"');
    if (quote < 0) return { text, start, end: start + text.length, style: "plain" };
    this.#refuse("quotes stand around a whole value", start + quote, start + quote + 1, 'write name="a value"');
    // The rest of the line depends on where the quotes were meant to be.
    return this.#cutShort();
  }

  #readSchedule(): LinePart | null {
    this.#skipBlanks();
    const start = this.#at;
    const macro = this.#match(MACRO);
    let end = macro === null ? start : this.#at;
    for (let words = 0; macro === null && words < SCHEDULE_WORDS; words++) {
      this.#skipBlanks();
      const wordStart = this.#at;
      const word = this.#match(WORD)?.[0] ?? "";
      if (word === "" || word.startsWith("@") || word.includes("=")) {
        this.#at = wordStart;
        break;
      }
      end = this.#at;
    }
    return end === start ? null : { text: this.#line.slice(start, end), start, end, style: "plain" };
  }

  /** Up to the closing parenthesis, which is not looked for inside quotes. */
  #readArguments(modifier: RegExpExecArray): LinePart | null {
    const start = this.#at;
    let isQuoted = false;
    for (let at = start; at < this.#line.length; at++) {
      const char = this.#line[at];
      if (char === "\\" && isQuoted) at++;
      else if (char === '"') isQuoted = !isQuoted;
      else if (char === ")" && !isQuoted) {
        this.#at = at + 1;
        return { text: this.#line.slice(start, at), start, end: at, style: "plain" };
      }
    }
    this.#refuse(`the parenthesis of @${modifier[1]} is not closed`, start - 1, start);
    return this.#cutShort();
  }

  #readQuoted(): LinePart | null {
    const start = this.#at;
    for (let at = start + 1; ; at += 2) {
      QUOTE_OR_ESCAPE.lastIndex = at;
      const found = QUOTE_OR_ESCAPE.exec(this.#line);
      if (found === null) {
        this.#refuse("the quote is not closed", start, start + 1);
        return this.#cutShort();
      }
      at = found.index;
      if (found[0] === '"') return this.#endQuoted(start, at + 1);
      this.#checkEscape(at);
    }
  }

  #checkEscape(at: number): void {
    const escaped = this.#line[at + 1];
    if (escaped === '"' || escaped === "\\" || this.problems.length >= LIMITS.lineParts) return;
    this.#refuse('only \\" and \\\\ are escapes', at, at + 2, "write \\\\");
  }

  #refuseRest(): void {
    this.#refuse(`more than ${LIMITS.lineParts} fields and modifiers`, this.#at, this.#line.length);
    this.#cutShort();
  }

  #cutShort(): null {
    this.#isCutShort = true;
    this.#at = this.#line.length;
    return null;
  }

  #endQuoted(start: number, end: number): LinePart {
    this.#at = end;
    if (!/[ \t,)]/.test(this.#line[end] ?? " ")) {
      this.#refuse("expected a blank after the quote", end, end + 1);
      this.#match(WORD);
    }
    const text = this.#line.slice(start + 1, end - 1).replace(/\\(.)/gsu, "$1");
    return { text, start, end, style: "double" };
  }

  #keep(parts: NamedPart[], match: RegExpExecArray, value: LinePart | null): void {
    if (value !== null) parts.push({ name: match[1] ?? "", nameStart: match.index, value });
  }

  #refuseWord(isFirst: boolean): void {
    const start = this.#at;
    const word = this.#match(WORD)?.[0] ?? "";
    if (word.startsWith("#")) {
      this.#refuse("a comment stands on a line of its own", start, this.#line.length);
      this.#at = this.#line.length;
    } else if (isFirst && /^[\d*?/,A-Za-z#-]+$/.test(word)) {
      this.#refuse("a schedule has five fields", start, this.#at, "the window chooses the second; there are no years");
    } else {
      this.#refuse("expected name=value or @modifier(...)", start, this.#at);
    }
  }

  #refuse(message: string, start: number, end: number, hint?: string): void {
    const problem: Problem = { code: "file-syntax", message, path: [], ...(hint === undefined ? {} : { hint }) };
    this.problems.push({ problem, start, end });
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#line);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #skipBlanks(): void {
    while (this.#line[this.#at] === " " || this.#line[this.#at] === "\t") this.#at++;
  }
}
