/**
 * One list element of the `kron` dialect: what is well-formed, and what to write instead of what is not.
 */
import type { ErrorCode } from "../base/errors/registry.js";
import { err, ok, type Result } from "../base/result.js";
import { CRON_FIELD_RANGES, type CronFieldName, type NthWeekday } from "./fields.js";

export interface ElementTrouble {
  readonly code: Extract<ErrorCode, "cron-syntax" | "cron-range">;
  readonly message: string;
  readonly hint: string;
}

type Reading<T> = Result<T, ElementTrouble>;

const MONTH_NAMES = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const FULL_NAMES =
  /^(january|february|march|april|june|july|august|september|october|november|december|(sun|mon|tues|wednes|thurs|fri|satur)day)$/i;

const LAST_DAY_HINT = "write L for the last day of the month";
const NTH_HINT = "write MON#2 for the second Monday of the month, MON#L for the last";

interface Foreign {
  readonly shape: RegExp;
  /** Absent: in all of them. */
  readonly field?: CronFieldName;
  readonly message: string;
  readonly hint: string;
}

/** What other cron dialects know and this one does not, with what to write instead. First match wins. */
const FOREIGN: readonly Foreign[] = [
  { shape: /\s/, message: "only blanks and tabs separate fields", hint: "remove line breaks and unusual blanks" },
  { shape: /\?/, message: "? is not supported", hint: "write *" },
  { shape: /#/, field: "weekday", message: "# stands between a weekday and its place in the month", hint: NTH_HINT },
  { shape: /#/, message: "# belongs to the weekday field", hint: NTH_HINT },
  { shape: /^H/i, message: "H is not supported", hint: "write a value: the window spreads the runs" },
  { shape: FULL_NAMES, message: "names have three letters", hint: "write JAN to DEC or SUN to SAT" },
  { shape: /^LW$/i, message: "LW is not supported", hint: "write L for the last day, FRI#L for the last Friday" },
  { shape: /^\d+W$/i, message: "W is not supported", hint: "write a day range such as 1-3, and only=dow=MON-FRI" },
  { shape: /^L$/i, field: "weekday", message: "L belongs to the day field", hint: "write SAT#L for the last Saturday" },
  { shape: /^L-\d+$/i, message: "L stands alone", hint: `${LAST_DAY_HINT}; nothing counts back from it` },
  {
    shape: /^(L|L[-/].*|.*-L)$/i,
    field: "day",
    message: "L is no end of a range and has no steps",
    hint: LAST_DAY_HINT,
  },
  { shape: /^L$/i, message: "L belongs to the day field", hint: LAST_DAY_HINT },
  { shape: /\*\*|\*[^/]|[^*]\*/, message: "* stands alone", hint: "write *, or */N for every Nth value" },
];

function trouble(code: ElementTrouble["code"], message: string, hint: string): { ok: false; error: ElementTrouble } {
  return err({ code, message, hint });
}

function namesOf(field: CronFieldName): readonly string[] {
  if (field === "month") return MONTH_NAMES;
  return field === "weekday" ? WEEKDAY_NAMES : [];
}

/** The range as people may write it: Sunday is 0 or 7. */
function writtenRange(field: CronFieldName): { readonly min: number; readonly max: number } {
  return field === "weekday" ? { min: 0, max: 7 } : CRON_FIELD_RANGES[field];
}

function allowedText(field: CronFieldName): string {
  const { min, max } = writtenRange(field);
  const names = namesOf(field);
  return names.length === 0 ? `${min} to ${max}` : `${min} to ${max}, or ${names[0]} to ${names.at(-1)}`;
}

/** `5L` and `FRIL`. Quartz counts weekdays from 1, others from 0: the name says which is meant. */
function lastOfQuartz(text: string): string | null {
  const [, written = "", name = ""] = /^(([0-7]|[a-z]{3}))L$/i.exec(text) ?? [];
  const known = /^\d$/.test(name) ? (WEEKDAY_NAMES[Number(name) % 7] ?? "") : name.toUpperCase();
  return written !== "" && WEEKDAY_NAMES.includes(known) ? `write ${known}#L for the last ${known} of the month` : null;
}

function unreadable(field: CronFieldName, text: string): { ok: false; error: ElementTrouble } {
  const quartz = field === "weekday" ? lastOfQuartz(text) : null;
  if (quartz !== null) return trouble("cron-syntax", `"${text}" is not a value`, quartz);
  const foreign = FOREIGN.find((other) => (other.field ?? field) === field && other.shape.test(text));
  if (foreign !== undefined) return trouble("cron-syntax", foreign.message, foreign.hint);
  if (text === "") return trouble("cron-syntax", "a value is missing", `write ${allowedText(field)}`);
  return trouble("cron-syntax", `"${text}" is not a value`, `write ${allowedText(field)}`);
}

function readValue(field: CronFieldName, text: string): Reading<number> {
  const { min, max } = writtenRange(field);
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    const isInRange = value >= min && value <= max;
    if (!isInRange) return trouble("cron-range", `${text} is out of range`, `write ${allowedText(field)}`);
    return text.length <= 2 ? ok(value) : trouble("cron-syntax", "a value has one or two digits", `write ${value}`);
  }
  const position = namesOf(field).indexOf(text.toUpperCase());
  return position < 0 ? unreadable(field, text) : ok(position + min);
}

function isForeign(field: CronFieldName, text: string): boolean {
  return FOREIGN.some((other) => (other.field ?? field) === field && other.shape.test(text));
}

function wrappedHint(field: CronFieldName, from: number, to: number): string {
  const { min, max } = CRON_FIELD_RANGES[field];
  if (field === "weekday" && to === 0) return `write ${from}-7`;
  const upper = from === max ? `${max}` : `${from}-${max}`;
  const lower = to === min ? `${min}` : `${min}-${to}`;
  return from > max ? `write ${min}-${to}` : `write ${upper},${lower}`;
}

function stepHint(bounds: Bounds, to: number, step: number): string {
  if (bounds.from >= to) return `write ${bounds.from}`;
  return step === 1 ? `write ${bounds.from}-${to}` : `write ${bounds.from}-${to}/${step}`;
}

interface Bounds {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly isSingle: boolean;
}

function readBounds(field: CronFieldName, text: string): Reading<Bounds> {
  const { min, max } = CRON_FIELD_RANGES[field];
  if (text === "*") return ok({ text, from: min, to: max, isSingle: false });
  const [fromText = "", toText, ...rest] = text.split("-");
  if (rest.length > 0) return trouble("cron-syntax", "a range has two ends", "write FROM-TO, commas between ranges");
  const from = readValue(field, fromText);
  if (!from.ok) return isForeign(field, text) ? unreadable(field, text) : from;
  if (toText === undefined) return ok({ text: `${from.value}`, from: from.value, to: from.value, isSingle: true });
  if (isForeign(field, text)) return unreadable(field, text);
  const end = readValue(field, toText);
  if (!end.ok) return end;
  // A range to SUN runs to the end of the week; this is the only range that may look as if it wrapped.
  const to = field === "weekday" && from.value > 0 && toText.toUpperCase() === "SUN" ? 7 : end.value;
  if (from.value > to) {
    return trouble("cron-range", `range ${text} runs backwards`, wrappedHint(field, from.value, to));
  }
  return ok({ text: `${from.value}-${to}`, from: from.value, to, isSingle: false });
}

function readStep(field: CronFieldName, bounds: Bounds, stepText: string): Reading<string> {
  if (!/^\d+$/.test(stepText)) return trouble("cron-syntax", `"${stepText}" is not a step`, "write a number after /");
  const step = Number(stepText);
  if (step === 0) return trouble("cron-range", "a step is at least 1", "leave out /0");
  const to = bounds.isSingle ? CRON_FIELD_RANGES[field].max : bounds.to;
  // A step past the end selects the first value only, which is hardly ever what was meant.
  if (step > 1 && step > to - bounds.from) {
    return trouble("cron-range", `step ${stepText} is larger than the range`, `write ${bounds.from} if that is meant`);
  }
  if (bounds.isSingle) return trouble("cron-syntax", "a step needs * or a range before it", stepHint(bounds, to, step));
  return ok(`${bounds.text}/${step}`);
}

/** `L` in the day field: the last day of the month. */
export function isLastDay(field: CronFieldName, element: string): boolean {
  return field === "day" && (element === "L" || element === "l");
}

/** `MON#2` or `MON#L`, numbers being taken for names; null for an element that is none of these. */
export function readNthWeekday(field: CronFieldName, element: string): Reading<NthWeekday> | null {
  const hash = element.indexOf("#");
  if (field !== "weekday" || hash <= 0) return null;
  const [dayText, nthText] = [element.slice(0, hash), element.slice(hash + 1)];
  if (/[-/*]/.test(dayText)) {
    return trouble("cron-syntax", "# belongs to one weekday", "write each of them, like MON#2,TUE#2");
  }
  const swapped = /^(\d|L)$/i.test(dayText) && WEEKDAY_NAMES.includes(nthText.toUpperCase());
  if (swapped) return trouble("cron-syntax", "the weekday comes first", `write ${nthText}#${dayText}`);
  const weekday = readValue(field, dayText);
  if (!weekday.ok) return weekday;
  if (/^L$/i.test(nthText)) return ok({ weekday: weekday.value % 7, nth: "last" });
  const name = WEEKDAY_NAMES[weekday.value % 7] ?? dayText;
  if (!/^\d+$/.test(nthText)) return trouble("cron-syntax", `"${nthText}" is not a place in the month`, nthHint(name));
  const nth = Number(nthText);
  if (nth < 1 || nth > 5) return trouble("cron-range", `no month has a ${name}#${nthText}`, nthHint(name));
  return ok({ weekday: weekday.value % 7, nth: nth as 1 | 2 | 3 | 4 | 5 });
}

function nthHint(name: string): string {
  return `write ${name}#1 to ${name}#5, or ${name}#L for the last`;
}

/** Reads one element and returns it written out in numbers, as `elementValues` takes it. */
export function readElement(field: CronFieldName, element: string): Reading<string> {
  if (element === "") return trouble("cron-syntax", "an element of the list is empty", "leave out the extra comma");
  const [boundsText = "", stepText, ...rest] = element.split("/");
  if (rest.length > 0) return trouble("cron-syntax", "there is more than one step", "write one / per element");
  const bounds = readBounds(field, boundsText);
  if (!bounds.ok) return bounds;
  return stepText === undefined ? ok(bounds.value.text) : readStep(field, bounds.value, stepText);
}
