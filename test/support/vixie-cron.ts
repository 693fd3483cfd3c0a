/**
 * Cron itself, small and slow, from its documented behaviour: which minutes a line names, and what the daemon's loop makes
 * of them when the clock changes. It shares nothing with the code it is compared to.
 */
export interface VixieLine {
  readonly sets: readonly ReadonlySet<number>[];
  readonly domStar: boolean;
  readonly dowStar: boolean;
  /** Minutes or hours begin with a star: such lines follow the clock. */
  readonly isWild: boolean;
}

const MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const LOW = [0, 0, 1, 1, 0];
const HIGH = [59, 23, 31, 12, 7];
const NAMES = ["", "", "", "jan feb mar apr may jun jul aug sep oct nov dec", "sun mon tue wed thu fri sat"];

export function vixieLine(schedule: string): VixieLine {
  const words = (MACROS[schedule] ?? schedule).split(/[ \t]+/);
  const sets = words.map((word, i) => fieldSet(word, LOW[i] ?? 0, HIGH[i] ?? 0, (NAMES[i] ?? "").split(" ")));
  const dow = sets[4] as Set<number>;
  if (dow.has(7)) dow.add(0);
  const star = words.map((word) => word.startsWith("*"));
  return { sets, domStar: star[2] === true, dowStar: star[4] === true, isWild: star[0] === true || star[1] === true };
}

function fieldSet(word: string, low: number, high: number, names: readonly string[]): Set<number> {
  const set = new Set<number>();
  for (const range of word.toLowerCase().split(",")) {
    const [span = "", step = "1"] = range.split("/");
    const [a = "", b = a] = span === "*" ? [`${low}`, `${high}`] : span.split("-");
    const number = (text: string): number => (names.includes(text) ? names.indexOf(text) + low : Number(text));
    for (let value = number(a); value <= number(b); value += Number(step)) set.add(value);
  }
  return set;
}

/** `wallMinute`: minutes since 1970 as the clock on the wall counts them. */
export function vixieMatches({ sets, domStar, dowStar }: VixieLine, wallMinute: number): boolean {
  const date = new Date(wallMinute * 60_000);
  const has = (index: number, value: number): boolean => sets[index]?.has(value) === true;
  const [dom, dow] = [has(2, date.getUTCDate()), has(4, date.getUTCDay())];
  const isDay = domStar || dowStar ? dom && dow : dom || dow;
  return has(0, date.getUTCMinutes()) && has(1, date.getUTCHours()) && has(3, date.getUTCMonth() + 1) && isDay;
}

/**
 * The instants at which the daemon's loop starts the line between two instants. A clock that leaps up to three hours ahead
 * makes it run what is not wild for each minute left out; one that goes back makes it run only what is wild until it has
 * caught up.
 */
export function vixieRuns(
  line: VixieLine,
  fromAt: number,
  untilAt: number,
  offsetMsAt: (at: number) => number,
): number[] {
  const runs = new Set<number>();
  const wallMinuteAt = (at: number): number => Math.floor((at + offsetMsAt(at)) / 60_000);
  let virtual = wallMinuteAt(fromAt) - 1;
  for (let at = fromAt; at < untilAt; at += 60_000) {
    const clock = wallMinuteAt(at);
    const leap = clock - virtual;
    if (leap === 1) {
      virtual = clock;
      if (vixieMatches(line, clock)) runs.add(at);
    } else if (leap > 1 && leap <= 180) {
      if (line.isWild && vixieMatches(line, clock)) runs.add(at);
      while (virtual < clock) {
        virtual += 1;
        if (!line.isWild && vixieMatches(line, virtual)) runs.add(at);
      }
    } else if (line.isWild && vixieMatches(line, clock)) {
      runs.add(at);
    }
  }
  return [...runs];
}
