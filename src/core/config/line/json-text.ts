/**
 * A strict JSON reader for one definition: unlike `JSON.parse` it refuses repeated keys, bounds nesting, and knows where
 * every value is written.
 */

import { LIMITS } from "../../base/limits.js";
import type { Problem } from "../../base/problem.js";
import { err, ok, type Result } from "../../base/result.js";
import { quote } from "../../job/issues.js";
import type { Stretch } from "../located.js";

/** Where a value is written, and the key before it. */
export interface JsonPlace extends Stretch {
  readonly key: Stretch | null;
}

interface JsonProblem extends Stretch {
  readonly problem: Problem;
}

export function parseJson(text: string): Result<unknown, JsonProblem> {
  return new JsonReader(text, null).readDocument();
}

/** Of every value its place, by path joined with newlines. For texts that `parseJson` has accepted. */
export function jsonPlaces(text: string): ReadonlyMap<string, JsonPlace> {
  const places = new Map<string, JsonPlace>();
  new JsonReader(text, places).readDocument();
  return places;
}

/** Texts that stand for themselves. */
const PLAIN_STRING = /^"[ !#-[\]-~]*"$/;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/** Leaves the descent from any depth; never seen outside. */
class JsonTrouble extends Error {
  readonly found: JsonProblem;

  constructor(found: JsonProblem) {
    super(found.problem.message);
    this.found = found;
  }
}

class JsonReader {
  readonly #text: string;
  readonly #places: Map<string, JsonPlace> | null;
  #at = 0;
  #path: (string | number)[] = [];

  constructor(text: string, places: Map<string, JsonPlace> | null) {
    this.#text = text;
    this.#places = places;
  }

  readDocument(): Result<unknown, JsonProblem> {
    try {
      this.#skipBlanks();
      const value = this.#readValue(null);
      this.#skipBlanks();
      if (this.#at < this.#text.length) this.#fail("expected nothing more on this line", this.#at);
      return ok(value);
    } catch (error) {
      if (error instanceof JsonTrouble) return err(error.found);
      throw error;
    }
  }

  #readValue(key: Stretch | null): unknown {
    const start = this.#at;
    const value = this.#readAny(this.#text[start]);
    if (this.#places !== null) this.#places.set(this.#path.join("\n"), { start, end: this.#at, key });
    return value;
  }

  #readAny(first: string | undefined): unknown {
    if (first === '"') return this.#readString();
    if (first === "{" || first === "[") {
      if (this.#path.length >= LIMITS.jsonDepth) this.#fail(`nested deeper than ${LIMITS.jsonDepth} levels`, this.#at);
      return first === "{" ? this.#readObject() : this.#readArray();
    }
    const literal = this.#match(LITERAL);
    if (literal !== "") return LITERALS[literal];
    const number = this.#match(NUMBER);
    return number === "" ? this.#fail("expected a value", this.#at) : Number(number);
  }

  #readObject(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at++;
    this.#skipBlanks();
    if (this.#take("}")) return object;
    do {
      this.#skipBlanks();
      this.#readMember(object);
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail("expected , or }", this.#at);
    return object;
  }

  #readMember(object: Record<string, unknown>): void {
    const start = this.#at;
    if (this.#text[start] !== '"') this.#fail('expected a key in quotes, like "identity"', start);
    const name = this.#readString();
    const key = { start, end: this.#at };
    if (name === "__proto__") this.#fail('a field cannot be named "__proto__"', start, "field-unknown");
    if (Object.hasOwn(object, name)) this.#fail(`the field ${quote(name)} is written twice`, start, "field-duplicate");
    this.#skipBlanks();
    if (!this.#take(":")) this.#fail("expected :", this.#at);
    this.#skipBlanks();
    this.#path.push(name);
    object[name] = this.#readValue(key);
    this.#path.pop();
  }

  #readArray(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    this.#skipBlanks();
    if (this.#take("]")) return list;
    do {
      this.#skipBlanks();
      this.#path.push(list.length);
      list.push(this.#readValue(null));
      this.#path.pop();
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail("expected , or ]", this.#at);
    return list;
  }

  #readString(): string {
    const start = this.#at;
    const written = this.#text.slice(start, this.#stringEnd(start));
    this.#at += written.length;
    if (PLAIN_STRING.test(written)) return written.slice(1, -1);
    try {
      return JSON.parse(written) as string;
    } catch {
      return this.#fail("the text has an escape or a character that JSON does not allow", start);
    }
  }

  #stringEnd(start: number): number {
    for (let at = start + 1; ; at++) {
      at = this.#text.indexOf('"', at);
      if (at < 0) return this.#fail("the text has no closing quote", start);
      let backslashes = 0;
      while (this.#text[at - 1 - backslashes] === "\\") backslashes++;
      if (backslashes % 2 === 0) return at + 1;
    }
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  /** What the pattern finds here; empty when it does not fit. */
  #match(pattern: RegExp): string {
    const start = this.#at;
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) return "";
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  #skipBlanks(): void {
    let code = this.#text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.#text.charCodeAt(++this.#at);
  }

  #fail(message: string, start: number, code: Problem["code"] = "file-syntax"): never {
    throw new JsonTrouble({ problem: { code, message, path: [...this.#path] }, start, end: start + 1 });
  }
}
