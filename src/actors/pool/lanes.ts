/** Many pieces of work, some at a time: what is made is handed over one after the other before more is made. */

/**
 * `make` runs for at most `width` items at once, and counts until `take` is done with what it gave. The first failure
 * stops the rest; it is thrown when nothing is under way any more.
 */
export async function throughLanes<I, T>(
  items: readonly I[],
  width: number,
  make: (item: I) => Promise<T>,
  take: (made: T, index: number) => void | Promise<void>,
): Promise<void> {
  let next = 0;
  let failure: { readonly cause: unknown } | null = null;
  let turn: Promise<void> = Promise.resolve();
  const lane = async (): Promise<void> => {
    while (next < items.length && failure === null) {
      const index = next++;
      const made = await make(items[index] as I);
      const mine = turn.then(() => (failure === null ? take(made, index) : undefined));
      turn = mine.catch(() => {});
      await mine;
    }
  };
  const guarded = (): Promise<void> =>
    lane().catch((cause: unknown) => {
      failure ??= { cause };
    });
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, guarded));
  // The type checker does not see assignments in callbacks.
  const failed = failure as { readonly cause: unknown } | null;
  if (failed !== null) throw failed.cause;
}
