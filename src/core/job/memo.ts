/** Enough for every distinct text of a large configuration; a bound, because texts come from outside. */
const MEMO_ENTRIES = 50_000;
/** Longer texts are read again each time rather than kept. */
const MEMO_CHARS = 512;

/**
 * Remembers what a text means: a million definitions share a few thousand schedules, zones and windows, and reading
 * them to the same frozen value saves both time and memory. At its bound it forgets everything and starts again.
 */
export function memoised<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (text.length > MEMO_CHARS) return made;
    if (known.size >= MEMO_ENTRIES) known.clear();
    known.set(text, made);
    return made;
  };
}
