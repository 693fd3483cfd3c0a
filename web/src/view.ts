/** What is shown of very much: which rows are in view, how full a minute looks, how long a name is. Pure. */
export const ROW_PX = 44;
/** Browsers end near 17.9 million pixels; beyond that a pixel of the scroll bar stands for more than a pixel. */
const TALLEST_PX = 8_000_000;
/** Rows beyond the edges, so that nothing is blank while it scrolls. */
const SPARE_ROWS = 8;

export interface View {
  readonly first: number;
  readonly end: number;
  readonly heightPx: number;
  /** Where the first row lies. */
  readonly topPx: number;
  /** Where to scroll so that a row is in view. */
  scrollFor(index: number, nowPx: number): number;
}

export function viewOf(total: number, scrollPx: number, viewPx: number): View {
  const fullPx = total * ROW_PX;
  const heightPx = Math.min(fullPx, TALLEST_PX);
  const inView = viewPx / ROW_PX;
  const rowsPerPx = fullPx > heightPx ? (total - inView) / (heightPx - viewPx) : 1 / ROW_PX;
  const top = scrollPx * rowsPerPx;
  const first = Math.max(0, Math.floor(top) - SPARE_ROWS);
  const end = Math.min(total, Math.ceil(top + inView) + SPARE_ROWS);
  const scrollFor = (index: number, nowPx: number): number => {
    if (index < top) return index / rowsPerPx;
    return index + 1 > top + inView ? (index + 1 - inView) / rowsPerPx : nowPx;
  };
  return { first, end, heightPx, topPx: scrollPx - (top - first) * ROW_PX, scrollFor };
}

/** A name with its middle left out: how it begins and how it ends tells it from others. */
export function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  const ends = Math.floor((most - 1) * 0.6);
  return `${name.slice(0, most - 1 - ends)}…${name.slice(-ends)}`;
}

/** Of a heat map. */
export const LEVELS = 7;

/** The root, so that little is told from nothing. */
export function levelOf(value: number, most: number): number {
  return value === 0 ? 0 : 1 + Math.min(LEVELS - 2, Math.floor(Math.sqrt(value / most) * (LEVELS - 1)));
}

/** Rows in the order in which they were, those that were not there behind them. */
export function inPlace<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  before: readonly string[],
): readonly Row[] {
  const places = new Map(before.map((key, place) => [key, place]));
  const placeOf = (row: Row): number => places.get(keyOf(row)) ?? before.length;
  return [...rows].sort((one, other) => placeOf(one) - placeOf(other));
}
