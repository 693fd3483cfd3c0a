/**
 * Remembers what was computed for a text. Real configurations use a few hundred different texts; the bound is against
 * hostile ones: when it is reached everything is forgotten, which costs time and nothing else.
 */
const REMEMBERED = 4096;

export function boundedMemo<T>(): { get(key: string): T | undefined; set(key: string, value: T): T } {
  const known = new Map<string, T>();
  return {
    get: (key) => known.get(key),
    set(key, value) {
      if (known.size >= REMEMBERED) known.clear();
      known.set(key, value);
      return value;
    },
  };
}
