/** Nothing below zero that rounds to it. */
export function exponentText(slope) {
  const text = slope.toFixed(2);
  return text === "-0.00" ? "0.00" : text;
}

/** The exponent with which y grows with x: the slope of the straight line that fits best where both axes are logarithmic. */
export function slopeOf(points) {
  const logs = points.map(({ x, y }) => [Math.log(x), Math.log(y)]);
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length;
  const above = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return above / below;
}
