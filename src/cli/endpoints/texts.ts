/** Endpoints and runs in words for people. */
import { formatDuration } from "../../core/time/duration.js";
import type { EndpointAnswer, RunAnswer } from "../../operations/endpoints/shapes.js";
import type { Paint } from "../style.js";
import type { Cell } from "../table.js";

type Baseline = Pick<EndpointAnswer, "baselineCron" | "baselineIntervalMs" | "timezone" | "windowMs" | "windowMode">;

export function scheduleText(endpoint: Baseline): string {
  const { baselineCron, baselineIntervalMs, timezone, windowMs, windowMode } = endpoint;
  if (baselineCron === null) return `every ${formatDuration(baselineIntervalMs ?? 0)}`;
  const window = windowMs === 0 ? "" : `, within ${formatDuration(windowMs)} ${windowMode}`;
  return `${baselineCron} ${timezone}${window}`;
}

/** Without what stands elsewhere in most cases. */
export function shortSchedule({ baselineCron, baselineIntervalMs }: Baseline): string {
  return baselineCron ?? `every ${formatDuration(baselineIntervalMs ?? 0)}`;
}

type Status = RunAnswer["status"];

const COLOUR_OF: Readonly<Record<Status, keyof Paint>> = {
  running: "cyan",
  success: "green",
  failure: "red",
  timeout: "red",
  cancelled: "yellow",
  unknown: "yellow",
};

export function statusCell(status: Status | null, more = ""): Cell {
  return status === null ? { text: "-" } : { text: `${status}${more}`, short: status, colour: COLOUR_OF[status] };
}

/** To three digits: `87ms`, `1.25s`, `12m40s`. */
export function tookText(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms < 60_000 ? `${Number((ms / 1_000).toPrecision(3))}s` : formatDuration(Math.round(ms / 1_000) * 1_000);
}

/** Of a rate between 0 and 1; never rounded to all or nothing. */
export function rateText(rate: number | null): string {
  if (rate === null) return "-";
  const tenths = Math.floor(rate * 1_000) / 10;
  return `${rate > 0 && tenths === 0 ? "<0.1" : tenths}%`;
}

/** What the other side has said may not speak to the terminal. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[^\P{C}]/gu, "\ufffd");
}
