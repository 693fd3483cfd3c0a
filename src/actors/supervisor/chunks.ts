/** Many things at a time, but not all: each one costs memory until it is done. */
const AT_ONCE = 1_000;

export async function inChunks<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    await Promise.all(items.slice(from, from + AT_ONCE).map(each));
  }
}
