/**
 * Many things to do, some at a time: each one costs memory until it is done, and the loop must get to breathe between
 * the beginnings of a few.
 */

/** Enough that one commit serves many. */
const AT_ONCE = 2_000;
/** Begun before everything else has its turn again. */
const PER_TURN = 16;
/** Compared and moved, likewise. */
const SORTED_PER_TURN = 4_096;

/** Rejects with the first failure, when everything that was begun has ended; nothing is begun after it. */
export async function inTurns<T>(items: Iterable<T>, each: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  let underWay = 0;
  let begun = 0;
  let wake = (): void => {};
  const oneEnds = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  const end = (): void => {
    underWay -= 1;
    wake();
  };
  for (const item of items) {
    if (failures.length > 0) break;
    underWay += 1;
    begun += 1;
    each(item).then(end, (error: unknown) => {
      failures.push(error);
      end();
    });
    if (underWay >= AT_ONCE) await oneEnds();
    else if (begun % PER_TURN === 0) await turnOfLoop();
  }
  while (underWay > 0) await oneEnds();
  if (failures.length > 0) throw failures[0];
}

export function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

type Compare = (one: number, other: number) => number;

/** Runs of a few thousand, then merged: after each run everything else has its turn. */
export async function sortInTurns(
  values: Uint32Array<ArrayBuffer>,
  compare: Compare,
): Promise<Uint32Array<ArrayBuffer>> {
  const count = values.length;
  for (let from = 0; from < count; from += SORTED_PER_TURN) {
    values.subarray(from, from + SORTED_PER_TURN).sort(compare);
    if (count > SORTED_PER_TURN) await turnOfLoop();
  }
  let [source, target] = [values, count > SORTED_PER_TURN ? new Uint32Array(count) : values];
  for (let width = SORTED_PER_TURN; width < count; width *= 2) {
    await mergeRuns(source, target, width, compare);
    [source, target] = [target, source];
  }
  return source;
}

async function mergeRuns(source: Uint32Array, target: Uint32Array, width: number, compare: Compare): Promise<void> {
  for (let from = 0; from < source.length; from += 2 * width) {
    const [middle, end] = [Math.min(from + width, source.length), Math.min(from + 2 * width, source.length)];
    let [left, right] = [from, middle];
    for (let at = from; at < end; at++) {
      const isLeft = left < middle && (right >= end || compare(source[left] as number, source[right] as number) <= 0);
      target[at] = source[isLeft ? left++ : right++] as number;
      if (at % SORTED_PER_TURN === SORTED_PER_TURN - 1) await turnOfLoop();
    }
  }
}

/** Keys of 32 bits are sorted by a digit at a time, the last one first; so many places are counted for each. */
const DIGIT_BITS = 11;
const DIGITS = 3;
/** Counted and moved before everything else has its turn. */
const MOVED_PER_TURN = 32_768;

/** The values in the order of their keys, by place; equal ones stay as they are. Takes three rounds, whatever there is. */
export async function sortByKeys(
  values: Uint32Array<ArrayBuffer>,
  keys: Uint32Array<ArrayBuffer>,
): Promise<Uint32Array<ArrayBuffer>> {
  let [from, to] = [
    { values, keys },
    { values: new Uint32Array(values.length), keys: new Uint32Array(values.length) },
  ];
  const spare = { values: new Uint32Array(values.length), keys: new Uint32Array(values.length) };
  for (let digit = 0; digit < DIGITS; digit++) {
    await moveByDigit(from, to, digit * DIGIT_BITS);
    // What was handed in stays as it is.
    [from, to] = [to, digit === 0 ? spare : from];
  }
  return from.values;
}

interface Keyed {
  readonly values: Uint32Array<ArrayBuffer>;
  readonly keys: Uint32Array<ArrayBuffer>;
}

async function moveByDigit(from: Keyed, to: Keyed, shift: number): Promise<void> {
  const mask = (1 << DIGIT_BITS) - 1;
  const places = new Uint32Array(mask + 2);
  const count = from.keys.length;
  for (let start = 0; start < count; start += MOVED_PER_TURN) {
    const end = Math.min(count, start + MOVED_PER_TURN);
    countDigits(from.keys.subarray(start, end), places, shift, mask);
    if (end < count) await turnOfLoop();
  }
  for (let digit = 1; digit < places.length; digit++) {
    places[digit] = (places[digit] as number) + (places[digit - 1] as number);
  }
  for (let start = 0; start < count; start += MOVED_PER_TURN) {
    const end = Math.min(count, start + MOVED_PER_TURN);
    moveStretch(from, to, places, { start, end, shift, mask });
    if (end < count) await turnOfLoop();
  }
}

function countDigits(keys: Uint32Array, places: Uint32Array, shift: number, mask: number): void {
  for (let at = 0; at < keys.length; at++) {
    const next = (((keys[at] as number) >>> shift) & mask) + 1;
    places[next] = (places[next] as number) + 1;
  }
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly shift: number;
  readonly mask: number;
}

function moveStretch(from: Keyed, to: Keyed, places: Uint32Array, { start, end, shift, mask }: Stretch): void {
  for (let at = start; at < end; at++) {
    const key = from.keys[at] as number;
    const digit = (key >>> shift) & mask;
    const place = places[digit] as number;
    places[digit] = place + 1;
    to.keys[place] = key;
    to.values[place] = from.values[at] as number;
  }
}
