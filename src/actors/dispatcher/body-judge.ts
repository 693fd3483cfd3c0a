/**
 * Holds the body of an answer against what the job asks of it, as it comes in: of a text that is looked for nothing is
 * kept, of JSON no more than is read.
 */
import { LIMITS } from "../../core/base/limits.js";
import { BODY_FAULTS, valueAtPointer } from "../../core/job/body-rule.js";
import type { BodyRule } from "../../core/job/definition.js";

export interface BodyJudge {
  take(chunk: Buffer): void;
  /** Of all that was taken; null: it is what it must be. */
  fault(): string | null;
}

/** null: nothing is asked of it. */
export function bodyJudgeOf(rule: BodyRule | undefined): BodyJudge | null {
  if (rule === undefined) return null;
  return rule.kind === "contains" ? new TextJudge(rule.text) : new JsonJudge(rule);
}

/**
 * Each byte is looked at once (Knuth, Morris and Pratt): what a server answers, and for what somebody looks in it, may have been
 * made to go together badly, and the loop is everybody's.
 */
class TextJudge implements BodyJudge {
  readonly #text: string;
  readonly #wanted: Buffer;
  /** For each beginning of it, how much of it is also its end. */
  readonly #borders: Uint16Array;
  /** How much of it what has come ends with. */
  #matched = 0;

  constructor(text: string) {
    this.#text = text;
    this.#wanted = Buffer.from(text);
    this.#borders = bordersOf(this.#wanted);
  }

  take(chunk: Buffer): void {
    const [wanted, borders] = [this.#wanted, this.#borders];
    let matched = this.#matched;
    for (let at = 0; at < chunk.length && matched < wanted.length; at++)
      matched = grown(wanted, borders, matched, chunk[at]);
    this.#matched = matched;
  }

  fault(): string | null {
    return this.#matched === this.#wanted.length ? null : BODY_FAULTS.lacksText(this.#text);
  }
}

function bordersOf(wanted: Buffer): Uint16Array {
  const borders = new Uint16Array(wanted.length);
  for (let at = 1; at < wanted.length; at++) borders[at] = grown(wanted, borders, borders[at - 1] ?? 0, wanted[at]);
  return borders;
}

/** So much of it was there; how much is there with this byte behind. */
function grown(wanted: Buffer, borders: Uint16Array, matched: number, byte: number | undefined): number {
  let left = matched;
  while (left > 0 && wanted[left] !== byte) left = borders[left - 1] ?? 0;
  return wanted[left] === byte ? left + 1 : left;
}

class JsonJudge implements BodyJudge {
  readonly #rule: Extract<BodyRule, { kind: "equals" }>;
  /** With room for as much again: what comes byte by byte is one buffer all the same. */
  #room: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(rule: Extract<BodyRule, { kind: "equals" }>) {
    this.#rule = rule;
  }

  take(chunk: Buffer): void {
    const at = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#bytes > LIMITS.judgedBodyBytes) {
      this.#room = Buffer.alloc(0);
      return;
    }
    if (this.#bytes > this.#room.length)
      this.#room = Buffer.concat([this.#room], Math.min(2 * this.#bytes, LIMITS.judgedBodyBytes));
    chunk.copy(this.#room, at);
  }

  fault(): string | null {
    if (this.#bytes > LIMITS.judgedBodyBytes) return BODY_FAULTS.tooLong();
    const { pointer, value } = this.#rule;
    let body: unknown;
    try {
      body = JSON.parse(this.#room.toString("utf8", 0, this.#bytes));
    } catch {
      return BODY_FAULTS.notJson();
    }
    const found = valueAtPointer(body, pointer);
    if (found === undefined) return BODY_FAULTS.lacksValue(pointer);
    return found === value ? null : BODY_FAULTS.differs(pointer, value);
  }
}
