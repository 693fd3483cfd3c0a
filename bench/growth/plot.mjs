/**
 * Curves on two logarithmic axes as a picture of its own, without a library: no script, no font to load, readable on a
 * light and on a dark page.
 */
import { CURVES, US_NS } from "./curves.mjs";
import { exponentText } from "./slope.mjs";

const WIDTH = 920;
const HEIGHT = 520;
const PLOT = { left: 88, right: 560, top: 48, bottom: 448 };
/** Told apart also without colours: each curve has its own mark. */
const STYLES = [
  { light: "#0b62c4", dark: "#6cb2ff", mark: "circle" },
  { light: "#b3261e", dark: "#ff8a80", mark: "square" },
  { light: "#1b7a3d", dark: "#6fd896", mark: "triangle" },
  { light: "#8a4bb8", dark: "#d3a4ff", mark: "diamond" },
  { light: "#9a5b00", dark: "#ffbe5c", mark: "cross" },
  { light: "#00707a", dark: "#5fdbe6", mark: "plus" },
];
const X_UNITS = [
  [1e6, "M"],
  [1e3, "k"],
];
const Y_UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

const SHAPES = {
  circle: (x, y) => `<circle cx="${x}" cy="${y}" r="4.5"/>`,
  square: (x, y) => `<rect x="${x - 4}" y="${y - 4}" width="8" height="8"/>`,
  triangle: (x, y) => `<path d="M${x} ${y - 5.5}l5.5 9.5h-11z"/>`,
  diamond: (x, y) => `<path d="M${x} ${y - 6}l6 6l-6 6l-6-6z"/>`,
  cross: (x, y) => `<path d="M${x - 5} ${y - 5}l10 10m0-10l-10 10" class="line"/>`,
  plus: (x, y) => `<path d="M${x} ${y - 6}v12m-6-6h12" class="line"/>`,
};

function short(value, units) {
  const [size, name] = units.find(([least]) => value >= least) ?? [1, ""];
  return `${Number((value / size).toPrecision(3))}${name === "k" || name === "M" ? name : ` ${name}`}`.trim();
}

function decades(values) {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
}

/** From a logarithmic range to pixels, rounded so that equal data give equal bytes. */
function axis([from, to], start, end) {
  const step = (end - start) / Math.max(1, to - from);
  return (value) => Number((start + (Math.log10(value) - from) * step).toFixed(1));
}

function ticks([from, to]) {
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

function gridOf(xRange, yRange, x, y) {
  const vertical = ticks(xRange).map(
    (value) =>
      `<path class="grid" d="M${x(value)} ${PLOT.top}V${PLOT.bottom}"/><text x="${x(value)}" y="${PLOT.bottom + 20}" text-anchor="middle">${short(value, X_UNITS)}</text>`,
  );
  const horizontal = ticks(yRange).map(
    (value) =>
      `<path class="grid" d="M${PLOT.left} ${y(value)}H${PLOT.right}"/><text x="${PLOT.left - 10}" y="${y(value) + 4}" text-anchor="end">${short(value, Y_UNITS)}</text>`,
  );
  return [...vertical, ...horizontal];
}

function curveOf({ points }, index, x, y) {
  const path = points.map((point, i) => `${i === 0 ? "M" : "L"}${x(point.x)} ${y(point.y)}`).join("");
  const marks = points.map((point) => SHAPES[STYLES[index % STYLES.length].mark](x(point.x), y(point.y)));
  return `<g class="c${index}"><path class="line" d="${path}"/>${marks.join("")}</g>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** In the order in which the curves end, the highest first. */
function legendOf(curves) {
  const ranked = curves.map((curve, index) => ({ curve, index })).sort((a, b) => lastOf(b.curve) - lastOf(a.curve));
  return ranked.map(({ curve, index }, place) => {
    const top = PLOT.top + 12 + place * 62;
    const left = PLOT.right + 28;
    const mark = SHAPES[STYLES[index % STYLES.length].mark](left, top - 4);
    const told = `by ${escaped(curve.of)}: exponent ${exponentText(curve.slope).replace("-", "−")}`;
    return `<g class="c${index}">${mark}</g><text x="${left + 14}" y="${top}" class="name">${escaped(curve.label)}</text><text x="${left + 14}" y="${top + 18}">${told}</text>`;
  });
}

function lastOf({ points }) {
  return points.at(-1).y;
}

function colours(key) {
  return STYLES.map((style, index) => `.c${index}{fill:${style[key]};stroke:${style[key]}}`).join("");
}

function plot(curves) {
  const xRange = decades(curves.flatMap(({ points }) => points.map(({ x }) => x)));
  const yRange = decades(curves.flatMap(({ points }) => points.map(({ y }) => y)));
  const x = axis(xRange, PLOT.left, PLOT.right);
  const y = axis(yRange, PLOT.bottom, PLOT.top);
  const style = `text{font:13px system-ui,sans-serif;fill:#444;stroke:none}.name,.title{font-weight:600;fill:#111}.title{font-size:15px}.page{fill:#fff}.grid{stroke:#ddd;fill:none}.line{fill:none;stroke-width:2}${colours("light")}@media(prefers-color-scheme:dark){text{fill:#b9bec6}.name,.title{fill:#f2f4f7}.page{fill:#14171c}.grid{stroke:#343a43}${colours("dark")}}`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="t">`,
    `<title id="t">What one event costs, by how much there is: both axes logarithmic</title>`,
    `<style>${style}</style>`,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="8"/>`,
    `<text class="title" x="${PLOT.left}" y="28">What one event costs, by how much there is</text>`,
    ...gridOf(xRange, yRange, x, y),
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 46}" text-anchor="middle">how much there is of what the legend names (logarithmic)</text>`,
    `<text transform="translate(20 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">cost of one event (logarithmic)</text>`,
    ...curves.map((curve, index) => curveOf(curve, index, x, y)),
    ...legendOf(curves),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

/** From the rows of a report; null when they hold no curve. */
export function growthPicture(rows) {
  const names = Object.keys(CURVES).filter((name) => rows.some(({ curve }) => curve === name));
  const curves = names.map((name) => {
    const own = rows.filter(({ curve }) => curve === name);
    const points = own.map(({ size, value }) => ({ x: size, y: value * US_NS }));
    return { ...CURVES[name], points, slope: own[0].slope };
  });
  return curves.length === 0 ? null : plot(curves);
}
