/** Both series as bars in a terminal, one above the other on one scale, so that their heights compare. */
import type { Forecast } from "../../core/forecast/forecaster.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import { DAY_MS, type EpochMs, formatInstant, MINUTE_MS } from "../../core/time/instant.js";
import type { Paint } from "../style.js";

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ROWS = 8;
const NARROWEST = 20;
/** Between two labels of the time axis, label included. */
const LABEL_CHARS = 8;

export function plotText(forecast: Forecast, width: number, paint: Paint): string {
  const { horizon, chosen, nominal } = forecast;
  const most = Math.max(1, maximum(chosen.counts), maximum(nominal.counts));
  const gutter = String(most).length;
  const columns = Math.min(horizon.buckets, Math.max(NARROWEST, width - gutter - 2));
  const panel = (title: string, counts: Uint32Array, colour: (text: string) => string): string =>
    `${paint.bold(title)}\n${panelText(columnsOf(counts, columns), most, gutter, colour)}${axisText(horizon, columns, gutter)}`;
  return [
    panel(`with windows: peak ${maximum(chosen.counts)}`, chosen.counts, paint.cyan),
    panel(`without windows: peak ${maximum(nominal.counts)}`, nominal.counts, paint.yellow),
    `${noteText(horizon, columns)}\n`,
  ].join("\n");
}

function maximum(counts: Uint32Array): number {
  return counts.reduce((most, starts) => Math.max(most, starts), 0);
}

/** A column shows the fullest of its buckets: a peak of one bucket must not vanish on a narrow screen. */
function columnsOf(counts: Uint32Array, columns: number): number[] {
  return Array.from({ length: columns }, (_, column) => {
    const first = Math.floor((column * counts.length) / columns);
    const end = Math.max(first + 1, Math.floor(((column + 1) * counts.length) / columns));
    return maximum(counts.subarray(first, end));
  });
}

function panelText(values: readonly number[], most: number, gutter: number, colour: (text: string) => string): string {
  let text = "";
  for (let row = ROWS - 1; row >= 0; row--) {
    const label = row === ROWS - 1 ? String(most) : row === 0 ? "0" : "";
    const cells = values.map((value) => cellOf(value, most, row)).join("");
    text += `${label.padStart(gutter)} ┤${colour(cells.trimEnd())}\n`;
  }
  return text;
}

/** Whatever is not zero shows: at least an eighth of a row. */
function cellOf(value: number, most: number, row: number): string {
  const eighths = value === 0 ? 0 : Math.max(1, Math.round((value / most) * ROWS * BARS.length));
  const here = Math.min(BARS.length, eighths - row * BARS.length);
  return here <= 0 ? " " : (BARS[here - 1] ?? " ");
}

function axisText(horizon: Horizon, columns: number, gutter: number): string {
  let marks = "";
  for (const at of roundTimes(horizon, Math.max(1, Math.floor(columns / LABEL_CHARS)))) {
    const column = Math.floor(((at - horizon.fromAt) * columns) / (horizon.buckets * horizon.bucketMs));
    const label = labelOf(at, horizon);
    if (column >= marks.length && column + label.length <= columns) marks = `${marks.padEnd(column)}${label} `;
  }
  return `${" ".repeat(gutter)} └${"─".repeat(columns)}\n${" ".repeat(gutter + 2)}${marks.trimEnd()}\n`;
}

const STEP_MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 7 * 1440, 14 * 1440, 28 * 1440];

/** Times that read well, in equal steps, at most so many. */
function* roundTimes({ fromAt, toAt }: Horizon, most: number): Generator<EpochMs> {
  const steps = STEP_MINUTES.map((minutes) => minutes * MINUTE_MS);
  const stepMs = steps.find((step) => (toAt - fromAt) / step <= most) ?? toAt - fromAt;
  for (let at = Math.ceil(fromAt / stepMs) * stepMs; at < toAt; at += stepMs) yield at;
}

/** Of a horizon of up to two days the time of day, else the day. */
function labelOf(at: EpochMs, { fromAt, toAt }: Horizon): string {
  const text = formatInstant(at);
  return toAt - fromAt <= 2 * DAY_MS ? text.slice(11, 16) : text.slice(5, 10);
}

function noteText({ fromAt, toAt, buckets }: Horizon, columns: number): string {
  const per = buckets / columns;
  const share =
    per === 1 ? "one bucket" : `the fullest of ${per === Math.floor(per) ? "" : "about "}${Math.round(per)} buckets`;
  return `${formatInstant(fromAt)} to ${formatInstant(toAt)} (UTC); a column is ${share}`;
}
