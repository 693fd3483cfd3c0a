/** Numbers and instants only: names, which anybody may choose, could become formulas in a spreadsheet. */
import type { Forecast } from "../../core/forecast/forecaster.js";
import { bucketReports } from "./report.js";

const PLAIN = ["start", "starts", "starts_without_windows"] as const;
const RUNNING = ["running", "running_peak", "running_without_windows", "running_peak_without_windows"] as const;

export function* csvLines(forecast: Forecast): Generator<string> {
  const columns = forecast.overlap === null ? PLAIN : [...PLAIN, ...RUNNING];
  yield `${columns.join(",")}\n`;
  for (const row of bucketReports(forecast)) yield `${columns.map((column) => String(row[column])).join(",")}\n`;
}
