/**
 * Many things to do, some at a time: each one costs memory until it is done, and the loop must get to breathe between
 * the beginnings of a few.
 */

/** Enough that one commit serves many. */
const AT_ONCE = 2_000;
/** Begun before everything else has its turn again. */
const PER_TURN = 16;

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
