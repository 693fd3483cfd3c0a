/**
 * The `kron` dialect: five fields, `* , - /`, names, weekday 0-7, `L`, `MON#2`, `MON#L`, macros. Whatever other dialects add is rejected with
 * what to write instead, because an expression that is silently read differently is worse than one that is refused.
 */

import { boundedMemo } from "../base/bounded-memo.js";
import { LIMITS } from "../base/limits.js";
import type { Problem, TextSpan } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { elementValues } from "./element-values.js";
import { CRON_FIELD_NAMES, type CronFieldName, type CronFields, isImpossible, type NthWeekday } from "./fields.js";
import { type ElementTrouble, isLastDay, readElement, readNthWeekday } from "./kron-element.js";

const MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

const FIVE_FIELDS = "write five fields: minute hour day month weekday, like 0 3 * * *";

interface Token {
  readonly text: string;
  readonly start: number;
}

type Refusal = { readonly ok: false; readonly error: Problem };

function fail(code: Problem["code"], message: string, hint: string, span: TextSpan): Refusal {
  return err({ code, message, path: [], span, hint });
}

function spanOf(first: Token, last: Token): TextSpan {
  return { start: first.start, end: last.start + last.text.length };
}

function tokens(text: string): readonly Token[] {
  return Array.from(text.matchAll(/[^ \t]+/g), (match) => ({ text: match[0], start: match.index }));
}

function unknownMacro(macro: string): { message: string; hint: string } {
  if (/^@reboot$/i.test(macro))
    return { message: "@reboot names no times", hint: "write steps, like */5 * * * *, or let the job run with krond" };
  if (/^@at$/i.test(macro))
    return { message: "@at names one time", hint: "write five fields, or let the job run with krond" };
  if (/^@every/i.test(macro)) return { message: "@every is not supported", hint: "write steps, like */5 * * * *" };
  return { message: `unknown macro ${macro.slice(0, 20)}`, hint: `write one of ${Object.keys(MACROS).join(" ")}` };
}

function fieldCountHint(count: number): string {
  if (count > 5) return "write five fields: seconds and years are not supported, the window chooses the second";
  return `${FIVE_FIELDS}; ${CRON_FIELD_NAMES.slice(count).join(", ")} missing`;
}

/** An empty element is shown by the comma next to it. */
function elementSpan(token: Token, start: number, element: string): TextSpan {
  if (element !== "") return { start, end: start + element.length };
  const comma = Math.min(start, token.start + token.text.length - 1);
  return { start: comma, end: comma + 1 };
}

/** What one field names: plain values, and days in relation to a month. */
interface FieldReading {
  readonly values: readonly number[];
  readonly lastDay: boolean;
  readonly nthWeekdays: readonly NthWeekday[];
}

/** Jobs by the million share a few hundred different fields: they share the lists of values, too. */
const rememberedFields = boundedMemo<FieldReading>();

function readField(field: CronFieldName, token: Token): Result<FieldReading, Problem> {
  const key = `${field} ${token.text}`;
  const known = rememberedFields.get(key);
  if (known !== undefined) return ok(known);
  const found = new FieldValues(field);
  let start = token.start;
  for (const element of token.text.split(",")) {
    const trouble = found.add(element);
    if (trouble !== null) {
      const { code, message, hint } = trouble;
      return fail(code, `${field} field: ${message}`, hint, elementSpan(token, start, element));
    }
    start += element.length + 1;
  }
  return ok(rememberedFields.set(key, found.reading()));
}

/** Collects the elements of one field. */
class FieldValues {
  readonly #field: CronFieldName;
  readonly #values = new Set<number>();
  readonly #nth = new Map<string, NthWeekday>();
  #lastDay = false;

  constructor(field: CronFieldName) {
    this.#field = field;
  }

  add(element: string): ElementTrouble | null {
    if (isLastDay(this.#field, element)) {
      this.#lastDay = true;
      return null;
    }
    const nth = readNthWeekday(this.#field, element);
    if (nth !== null) {
      if (!nth.ok) return nth.error;
      this.#nth.set(`${nth.value.weekday}#${nth.value.nth}`, nth.value);
      return null;
    }
    const atom = readElement(this.#field, element);
    if (!atom.ok) return atom.error;
    for (const value of elementValues(this.#field, atom.value)) this.#values.add(value);
    return null;
  }

  reading(): FieldReading {
    const sorted = [...this.#nth].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.freeze({
      values: Object.freeze([...this.#values].sort((a, b) => a - b)),
      lastDay: this.#lastDay,
      nthWeekdays: Object.freeze(sorted.map(([, nth]) => Object.freeze(nth))),
    });
  }
}

function readFields(found: readonly Token[], text: string): Result<CronFields, Problem> {
  const read: FieldReading[] = [];
  for (const [i, field] of CRON_FIELD_NAMES.entries()) {
    const reading = readField(field, found[i] as Token);
    if (!reading.ok) return reading;
    read.push(reading.value);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = read.map(({ values }) => values);
  const nthWeekdays = read[4]?.nthWeekdays ?? [];
  return ok(
    Object.freeze({
      minutes,
      hours,
      days,
      months,
      weekdays,
      ...(read[2]?.lastDay === true ? { lastDay: true } : {}),
      ...(nthWeekdays.length === 0 ? {} : { nthWeekdays }),
      dayIsStar: found[2]?.text === "*",
      weekdayIsStar: found[4]?.text === "*",
      text,
    }),
  );
}

function readMacro(macro: Token, text: string): Result<CronFields, Problem> {
  const name = macro.text.toLowerCase();
  if (Object.hasOwn(MACROS, name)) return readFields(tokens(MACROS[name] as string), text);
  const { message, hint } = unknownMacro(macro.text);
  return fail("cron-syntax", message, hint, spanOf(macro, macro));
}

function refuseMacroLine(macro: Token, whole: TextSpan): Refusal {
  if (Object.hasOwn(MACROS, macro.text.toLowerCase())) {
    return fail("cron-syntax", "a macro stands alone", `write ${macro.text} only`, whole);
  }
  const { message, hint } = unknownMacro(macro.text);
  return fail("cron-syntax", message, hint, whole);
}

function refuseImpossible(day: Token, month: Token): Refusal {
  const message = `the schedule never occurs: no month of ${month.text} has a day of ${day.text}`;
  return fail("cron-impossible", message, "choose a day that the month has", spanOf(day, month));
}

/** Reads an expression; the problem's span points at the offending element. */
export function parseKronCron(text: string): Result<CronFields, Problem> {
  const whole = { start: 0, end: text.length };
  if (text.length > LIMITS.expressionChars) {
    const message = `a cron expression has at most ${LIMITS.expressionChars} characters, this one has ${text.length}`;
    return fail("limit-exceeded", message, "split the job in two", whole);
  }
  const found = tokens(text);
  const [first, , day, month, weekday] = found;
  if (first === undefined) return fail("cron-syntax", "the cron expression is empty", FIVE_FIELDS, whole);
  const { start, end } = spanOf(first, found.at(-1) ?? first);
  const written = text.slice(start, end);
  if (first.text.startsWith("@")) {
    return found.length === 1 ? readMacro(first, written) : refuseMacroLine(first, whole);
  }
  if (day === undefined || month === undefined || weekday === undefined || found.length > 5) {
    const message = `a cron expression has 5 fields, this one has ${found.length}`;
    return fail("cron-syntax", message, fieldCountHint(found.length), whole);
  }
  const fields = readFields(found, written);
  return fields.ok && isImpossible(fields.value) ? refuseImpossible(day, month) : fields;
}
