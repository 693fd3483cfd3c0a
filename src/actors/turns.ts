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
