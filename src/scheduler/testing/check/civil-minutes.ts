/**
 * Which minutes an expression names, found the slow and obvious way: the civil reading of every single minute is asked
 * of Temporal. Shares no code with the scheduler's own expressions on purpose. Remembers answers, never shortens them.
 */
import { Temporal } from "temporal-polyfill";

const MINUTE_MS = 60_000;
const MINUTES_PER_CHUNK = 1440;
/** Past this many remembered days the memory is emptied: a long-lived test process must not grow without bound. */
const MAX_CHUNKS = 4_000;

interface CivilMinute {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

interface Expression {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number> | null;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number> | null;
}

const RANGES = [
  { low: 0, high: 59 },
  { low: 0, high: 23 },
  { low: 1, high: 31 },
  { low: 1, high: 12 },
  { low: 0, high: 6 },
] as const;

function readField(text: string, low: number, high: number): ReadonlySet<number> | null {
  const values = new Set<number>();
  for (const element of text === "*" ? [`${low}-${high}`] : text.split(",")) {
    const match = /^([0-9]+)(?:-([0-9]+))?$/.exec(element);
    if (match === null) return null;
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    if (from > to || from < low || to > high) return null;
    for (let value = from; value <= to; value++) values.add(value);
  }
  return values;
}

function readExpression(text: string): Expression | null {
  const texts = text.replace(/^[ \t]+|[ \t]+$/g, "").split(/[ \t]+/);
  if (texts.length !== RANGES.length) return null;
  const [minutes, hours, days, months, weekdays] = RANGES.map(({ low, high }, i) =>
    readField(texts[i] ?? "", low, high),
  );
  if (!minutes || !hours || !days || !months || !weekdays) return null;
  return { minutes, hours, days: texts[2] === "*" ? null : days, months, weekdays: texts[4] === "*" ? null : weekdays };
}

const expressions = new Map<string, Expression | null>();

function expressionOf(text: string): Expression | null {
  let expression = expressions.get(text);
  if (expression === undefined) {
    expression = readExpression(text);
    expressions.set(text, expression);
  }
  return expression;
}

/** Exactly the grammar of the specification: five fields of numbers, lists and rising ranges. */
export function isValidExpression(text: string): boolean {
  return expressionOf(text) !== null;
}

function isDayNamed(expression: Expression, { day, weekday }: CivilMinute): boolean {
  const { days, weekdays } = expression;
  if (days !== null && weekdays !== null) return days.has(day) || weekdays.has(weekday);
  return (days?.has(day) ?? true) && (weekdays?.has(weekday) ?? true);
}

function isNamed(expression: Expression, civil: CivilMinute): boolean {
  const { minutes, hours, months } = expression;
  return minutes.has(civil.minute) && hours.has(civil.hour) && months.has(civil.month) && isDayNamed(expression, civil);
}

function readCivilMinute(at: number, timeZone: string): CivilMinute {
  const civil = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  const { minute, hour, day, month } = civil;
  return { minute, hour, day, month, weekday: civil.dayOfWeek % 7 };
}

const civilChunks = new Map<string, readonly CivilMinute[]>();
const namedChunks = new Map<string, Uint8Array>();

function civilChunk(chunk: number, timeZone: string): readonly CivilMinute[] {
  const key = `${timeZone} ${chunk}`;
  let minutes = civilChunks.get(key);
  if (minutes === undefined) {
    if (civilChunks.size > MAX_CHUNKS) civilChunks.clear();
    const first = chunk * MINUTES_PER_CHUNK * MINUTE_MS;
    minutes = Array.from({ length: MINUTES_PER_CHUNK }, (_, i) => readCivilMinute(first + i * MINUTE_MS, timeZone));
    civilChunks.set(key, minutes);
  }
  return minutes;
}

function namedChunk(expression: Expression, text: string, chunk: number, timeZone: string): Uint8Array {
  const key = `${timeZone} ${chunk} ${text}`;
  let named = namedChunks.get(key);
  if (named === undefined) {
    if (namedChunks.size > MAX_CHUNKS) namedChunks.clear();
    named = Uint8Array.from(civilChunk(chunk, timeZone), (civil) => Number(isNamed(expression, civil)));
    namedChunks.set(key, named);
  }
  return named;
}

export function floorToMinute(at: number): number {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

/** The starts of the minutes that `text` names in `timeZone`, with `after < start <= upTo`, in order (S3). */
export function namedMinutes(text: string, timeZone: string, after: number, upTo: number): readonly number[] {
  const expression = expressionOf(text);
  const found: number[] = [];
  if (expression === null) return found;
  const last = Math.floor(upTo / MINUTE_MS);
  for (let minute = Math.floor(after / MINUTE_MS) + 1; minute <= last; ) {
    const chunk = Math.floor(minute / MINUTES_PER_CHUNK);
    const named = namedChunk(expression, text, chunk, timeZone);
    const chunkEnd = Math.min(last, (chunk + 1) * MINUTES_PER_CHUNK - 1);
    for (; minute <= chunkEnd; minute++) {
      if (named[minute - chunk * MINUTES_PER_CHUNK] === 1) found.push(minute * MINUTE_MS);
    }
  }
  return found;
}
