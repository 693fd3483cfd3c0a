/**
 * Health as it is stored, one short text an endpoint: `h1|through|streak|ring|ring|ring|errors`. A ring is its buckets, each
 * by its distance from the one before, as are the sizes of its durations; a 0 among them is left empty. The last field is
 * JSON, because it holds what others have written. A text of another version, or one with a mistake, is none: whoever reads
 * it counts anew from the ledger.
 */

import { isFields, numberOf, textOf } from "../base/fields.js";
import { type Bucket, GRAINS, type Ring } from "./buckets.js";
import { packed, unpacked, unpackedOrNull } from "./compact.js";
import { keptError, RUN_RESULTS, type RunError } from "./ended-run.js";
import { type Health, LAST_ERRORS, type Streak } from "./health.js";
import { type Histogram, LARGEST_SIZE } from "./histogram.js";

const VERSION = "h1";
const LONGEST_TEXT_CHARS = 256 * 1024;
/** Index, results, idle runs; what follows are durations. */
const HEAD_NUMBERS = RUN_RESULTS.length + 2;
const FIELDS = 4 + GRAINS.length;

export function encodeHealth({ rings, streak, lastErrors, throughAt }: Health): string {
  const { failures, successes, sinceAt } = streak;
  const errors = lastErrors.map(({ at, code, status, message }) => [at, code, status, message]);
  return [
    VERSION,
    packed(throughAt),
    [failures, successes, sinceAt].map(packed).join(","),
    ...rings.map(ringText),
    JSON.stringify(errors),
  ].join("|");
}

function ringText(ring: Ring): string {
  let before = 0;
  return ring
    .map(({ index, counts, idle, durations }) => {
      const results = RUN_RESULTS.map((result) => counts[result]);
      const numbers = [index - before, ...results, idle, ...sizesByDistance(durations)];
      before = index;
      return numbers.map((value) => (value === 0 ? "" : packed(value))).join(",");
    })
    .join(";");
}

function sizesByDistance(durations: Histogram): readonly number[] {
  return durations.map((value, at) => (at % 2 === 0 ? value - (durations[at - 2] ?? 0) : value));
}

/** null: it is no health, or none of this version. */
export function decodeHealth(text: string): Health | null {
  if (text.length > LONGEST_TEXT_CHARS) return null;
  const fields = splitFields(text);
  if (fields === null || fields[0] !== VERSION) return null;
  const throughAt = unpackedOrNull(fields[1]);
  const streak = readStreak(fields[2] ?? "");
  const rings = GRAINS.map((_, at) => readRing(fields[3 + at] ?? "", at));
  const lastErrors = readErrors(fields[FIELDS - 1] ?? "");
  const sound = rings.filter((ring) => ring !== null);
  if (throughAt === undefined || streak === null || lastErrors === null || sound.length < GRAINS.length) return null;
  const health = { rings: sound, streak, lastErrors, throughAt };
  return encodeHealth(health) === text ? health : null;
}

/** What follows the last of the separators belongs to the last field, whatever it holds. */
function splitFields(text: string): readonly string[] | null {
  const parts = text.split("|");
  if (parts.length < FIELDS) return null;
  return [...parts.slice(0, FIELDS - 1), parts.slice(FIELDS - 1).join("|")];
}

function readStreak(text: string): Streak | null {
  const [failures, successes, since, ...more] = text.split(",");
  const streak = { failures: unpacked(failures), successes: unpacked(successes), sinceAt: unpackedOrNull(since) };
  if (streak.failures === undefined || streak.successes === undefined || streak.sinceAt === undefined) return null;
  const isOne = streak.failures === 0 || streak.successes === 0;
  const hasBegun = streak.failures + streak.successes > 0 === (streak.sinceAt !== null);
  return isOne && hasBegun && more.length === 0 ? (streak as Streak) : null;
}

function readRing(text: string, grain: number): Ring | null {
  const ring: Bucket[] = [];
  let before = 0;
  for (const part of text === "" ? [] : text.split(";")) {
    const bucket = readBucket(part, before);
    if (bucket === null || (ring.length > 0 && bucket.index === before)) return null;
    before = bucket.index;
    ring.push(bucket);
  }
  // Kept by their distance from the run that was counted last, which may lie between them.
  return ring.length < 2 * (GRAINS[grain]?.keep ?? 0) ? ring : null;
}

function readBucket(text: string, before: number): Bucket | null {
  const numbers = text.split(",").map((part) => (part === "" ? 0 : (unpacked(part) ?? Number.NaN)));
  if (numbers.some(Number.isNaN) || numbers.length < HEAD_NUMBERS) return null;
  const [gap = 0, success = 0, failure = 0, timeout = 0, cancelled = 0, unknown = 0, idle = 0] = numbers;
  const durations = readDurations(numbers.slice(HEAD_NUMBERS));
  const runs = success + failure + timeout + unknown;
  const told = durations?.reduce((sum, count, at) => sum + (at % 2 === 0 ? 0 : count), 0) ?? 0;
  if (durations === null || told > runs || runs + cancelled === 0 || idle > success) return null;
  return { index: before + gap, counts: { success, failure, timeout, cancelled, unknown }, idle, durations };
}

/** Distances and counts to sizes and counts. */
function readDurations(numbers: readonly number[]): Histogram | null {
  if (numbers.length % 2 !== 0) return null;
  const durations: number[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [distance = 0, count = 0] = [numbers[at], numbers[at + 1]];
    const size = (durations[at - 2] ?? 0) + distance;
    if ((at > 0 && distance === 0) || size > LARGEST_SIZE || count === 0) return null;
    durations.push(size, count);
  }
  return durations;
}

function readErrors(text: string): readonly RunError[] | null {
  const value = parsed(text);
  if (!Array.isArray(value) || value.length > LAST_ERRORS) return null;
  const errors = value.map(readError).filter((error) => error !== null);
  return errors.length === value.length ? errors : null;
}

function readError(value: unknown): RunError | null {
  if (!Array.isArray(value) || value.length !== 4) return null;
  const [at, code, status, message] = [numberOf(value[0]), textOf(value[1]), value[2] as unknown, textOf(value[3])];
  if (at === null || !Number.isSafeInteger(at) || code === null || message === null) return null;
  if (status !== null && !Number.isSafeInteger(status)) return null;
  // Bounded again; what would change by it is not what was written.
  return keptError(at, { code, status: numberOf(status), message });
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? null : value;
  } catch {
    return null;
  }
}
