/** Instants and durations in words: in the reader's zone, in UTC, and in a job's own. */
import { signal } from "@preact/signals";

export type Moment = string | number;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const VIEWER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** In which clock times are told. */
export const zone = signal(VIEWER_ZONE);

/** The daemon's own time, as far as it is known: its clock and the browser's may differ. */
export const nowMs = signal(Date.now());

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat("en-GB", { timeZone: name, ...options });
  formats.set(key, known);
  return known;
}

/** What is no instant is told as it is written: a page never falls over a text. */
function formatted(name: string, options: Intl.DateTimeFormatOptions, moment: Moment): string {
  const at = instantOf(moment);
  return Number.isNaN(at) ? String(moment) : formatOf(name, options).format(at);
}

const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const DATE = { day: "numeric", month: "short" } as const;
const FULL_DATE = { ...DATE, year: "numeric" } as const;

export function instantOf(moment: Moment): number {
  return typeof moment === "number" ? moment : Date.parse(moment);
}

/** As the API takes it: whole seconds. */
export function wireText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** `02:32:20`. */
export function clockText(moment: Moment, name: string = zone.value): string {
  return formatted(name, CLOCK, moment);
}

export function minuteText(moment: Moment, name: string = zone.value): string {
  return clockText(moment, name).slice(0, 5);
}

export function dateText(moment: Moment, name: string = zone.value): string {
  const isThisYear = new Date(instantOf(moment)).getUTCFullYear() === new Date(nowMs.value).getUTCFullYear();
  return formatted(name, isThisYear ? DATE : FULL_DATE, moment);
}

/** With its date where that is not today's. */
export function momentText(moment: Moment, name: string = zone.value): string {
  const isToday = dateText(moment, name) === dateText(nowMs.value, name);
  return isToday ? clockText(moment, name) : `${dateText(moment, name)}, ${clockText(moment, name)}`;
}

/** `4 min`, `11 h 4 min`, `3 d`: two places at most. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < SECOND_MS) return `${Math.round(span)} ms`;
  if (span < MINUTE_MS) return `${Math.floor(span / SECOND_MS)} s`;
  if (span < HOUR_MS) return twoOf(span, MINUTE_MS, "min", SECOND_MS, "s");
  if (span < DAY_MS) return twoOf(span, HOUR_MS, "h", MINUTE_MS, "min");
  return twoOf(span, DAY_MS, "d", HOUR_MS, "h");
}

function twoOf(span: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((span % large) / small);
  const first = `${Math.floor(span / large)} ${largeName}`;
  // What is far away is not told to the second.
  return rest === 0 || span >= 10 * large ? first : `${first} ${rest} ${smallName}`;
}

/** How long something took: much is on record in whole seconds. */
export function lengthText(ms: number): string {
  return ms < 1 ? "under 1 s" : spanText(ms);
}

const WRITTEN = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A sentence of the daemon, which tells instants in UTC, with those of whoever reads it. */
export function localText(sentence: string): string {
  return sentence.replace(WRITTEN, (instant) => momentText(instant));
}

/** How far the clocks of a zone are from UTC: `GMT+2`. */
export function offsetText(moment: Moment, name: string): string {
  const at = instantOf(moment);
  const parts = Number.isNaN(at) ? [] : formatOf(name, { timeZoneName: "shortOffset" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** `in 4 min`, `9 s ago`; nobody waits for less than a second. */
export function distanceText(moment: Moment): string {
  const ms = instantOf(moment) - nowMs.value;
  if (Math.abs(ms) < SECOND_MS) return "now";
  return ms >= 0 ? `in ${spanText(ms)}` : `${spanText(-ms)} ago`;
}

/** The midnight at which the day of an instant begins in a zone; near enough where a clock change moves it. */
export function midnightOf(moment: Moment, name: string = zone.value): number {
  const at = instantOf(moment);
  const [hours = 0, minutes = 0] = clockText(at, name).split(":").map(Number);
  const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
  const offsetMinutes = minutes - new Date(at).getUTCMinutes();
  return hour - hours * HOUR_MS - (((offsetMinutes % 60) + 60) % 60) * MINUTE_MS;
}
