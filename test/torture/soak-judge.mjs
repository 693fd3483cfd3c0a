/**
 * Whether something grows that should not. A measure grows if, behind the beginning, all of its last third lies above all of its
 * first, and its slope makes more of it than there may be: what only goes up and down does not.
 */

/** The beginning is left out: caches fill, code is compiled. */
export const WARM_UP_SHARE = 0.35;

/** What may come on top of what there was, over the whole time: a share of it, and so much. */
export const ALLOWED = {
  "memory of the daemon, MB": { share: 0.25, more: 16 },
  "descriptors of the daemon": { share: 0, more: 8 },
  "memory of the launchers, MB": { share: 0.25, more: 16 },
  "descriptors of the launchers": { share: 0, more: 16 },
  "files of the state directory": { share: 0.1, more: 50 },
  "bytes of the state directory, MB": { share: 0.25, more: 32 },
  "half of the runs of endpoints are later than, ms": { share: 0.5, more: 1_000 },
};

/** Least squares, a minute. */
export function slopeOf(points) {
  const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const over = points.reduce((total, [x, y]) => total + (x - meanX) * (y - meanY), 0);
  return over / points.reduce((total, [x]) => total + (x - meanX) ** 2, 0);
}

/** `samples`: `{ minute, values }`, by measure. Gives what is left of them behind the beginning, as points. */
export function pointsOf(samples, name) {
  const untilMinute = samples.at(-1)?.minute ?? 0;
  const behind = samples.filter(({ minute }) => minute >= untilMinute * WARM_UP_SHARE);
  return behind.map(({ minute, values }) => [minute, values[name]]).filter(([, value]) => typeof value === "number");
}

/** What has grown, in words; empty: nothing. `slack`: how much more may come on top, where little time is looked at. */
export function grown(samples, slack = 1) {
  return Object.entries(ALLOWED).flatMap(([name, { share, more }]) => {
    const points = pointsOf(samples, name);
    const third = Math.floor(points.length / 3);
    if (third < 2) return [];
    const [first, last] = [points.slice(0, third), points.slice(-third)].map((some) => some.map(([, value]) => value));
    const [most, least] = [Math.max(...first), Math.min(...last)];
    const growth = slopeOf(points) * (points.at(-1)[0] - points[0][0]);
    if (least <= most || growth <= most * share + more * slack) return [];
    return [`${name}: by ${growth.toFixed(1)}, from at most ${most.toFixed(1)} to at least ${least.toFixed(1)}`];
  });
}
