interface MemoBounds {
  readonly entries: number;
  /** Longer texts are read again each time rather than kept. */
  readonly chars: number;
}

/** Enough for every distinct text of a large configuration; a bound, because texts come from outside. */
const USUAL_BOUNDS: MemoBounds = { entries: 50_000, chars: 512 };

/**
 * Remembers what a text means: a million definitions share a few thousand schedules, zones and windows, and reading
 * them to the same frozen value saves both time and memory. At its bound it forgets everything and starts again.
 */
export function memoised<V>(make: (text: string) => V, bounds: MemoBounds = USUAL_BOUNDS): (text: string) => V {
  const { entries, chars } = bounds;
  const known = new Map<string, V>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (text.length > chars) return made;
    if (known.size >= entries) known.clear();
    known.set(text, made);
    return made;
  };
}
