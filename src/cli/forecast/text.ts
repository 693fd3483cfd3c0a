/** The forecast for people: the totals, the fullest buckets with those who make them, groups, and runs at once. */

import { formatDuration } from "../../core/time/duration.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { plural } from "../format.js";
import { type Paint, renderTable } from "../style.js";
import { shownName, whoText } from "./names.js";
import type { ForecastReport, GateReport, GroupReport, OverlapReport, PeakReport, SeriesReport } from "./report.js";

/** `hasGroups`: whether the groups get a table of their own. */
export function forecastText(report: ForecastReport, hasGroups: boolean, paint: Paint): string {
  const parts = [headText(report), summaryTable(report, paint)];
  parts.push(peaksText("Fullest buckets", report.with_windows.peaks, report, paint));
  parts.push(peaksText("Fullest buckets without windows", report.without_windows.peaks, report, paint));
  if (hasGroups) parts.push(groupsText(report, paint));
  return parts.join("\n");
}

function headText({ from, to, bucket_seconds, jobs, suspended, unschedulable, state }: ForecastReport): string {
  const left = suspended === 0 ? "" : `, ${suspended} suspended left out`;
  const lost = unschedulable === 0 ? "" : `, ${plural(unschedulable, "period")} unschedulable`;
  const head = `${from} to ${to} by ${formatDuration(bucket_seconds * SECOND_MS)}: ${plural(jobs, "job")}${left}${lost}\n`;
  return state === undefined ? head : `${head}${stateText(state)}\n`;
}

/** What of the state had a say: pauses and hints hold for as long as they say. */
function stateText({ paused, hinted, counted_from_last_run }: NonNullable<ForecastReport["state"]>): string {
  return `as things stand: ${paused} paused, ${hinted} hinted, ${counted_from_last_run} counted from their last run`;
}

function summaryTable({ with_windows, without_windows, overlap }: ForecastReport, paint: Paint): string {
  const header = [
    "",
    "STARTS",
    "BUSY BUCKETS",
    "PEAK",
    "AT (UTC)",
    ...(overlap === null ? [] : ["AT ONCE", "AT (UTC)"]),
  ];
  const rows = [
    summaryRow("with windows", with_windows, overlap?.with_windows),
    summaryRow("without windows", without_windows, overlap?.without_windows),
  ];
  const table = renderTable(header, rows, ["left", "right", "right", "right", "left", "right", "left"], paint);
  return overlap === null ? table : `${table}${overlapNote(overlap)}`;
}

function summaryRow(
  name: string,
  { starts, busy_buckets, peaks }: SeriesReport,
  running: OverlapReport["with_windows"] | undefined,
): string[] {
  const [peak] = peaks;
  const cells = [name, String(starts), String(busy_buckets), String(peak?.starts ?? 0), peak?.start ?? "-"];
  return running === undefined ? cells : [...cells, String(running.peak), running.peak_at ?? "-"];
}

function overlapNote({ jobs, jobs_without_duration, with_windows }: OverlapReport): string {
  const notes = [`at once: of ${plural(jobs, "job")} with a known or assumed duration`];
  if (jobs_without_duration > 0) notes.push(`${jobs_without_duration} without are left out`);
  if (with_windows.skipped > 0) notes.push(`${plural(with_windows.skipped, "start")} would be skipped by their policy`);
  return `${notes.join("; ")}\n`;
}

function peaksText(title: string, peaks: readonly PeakReport[], { by }: ForecastReport, paint: Paint): string {
  if (peaks.length === 0) return `${paint.bold(title)}\nnothing starts\n`;
  const rows = peaks.map((peak) => [peak.start, String(peak.starts), whoText(peak)]);
  const header = ["BUCKET (UTC)", "STARTS", `BY ${by.toUpperCase()}`];
  return `${paint.bold(title)}\n${renderTable(header, rows, ["left", "right", "left"], paint)}`;
}

function groupsText({ by, groups, groups_total }: ForecastReport, paint: Paint): string {
  const header = [by.toUpperCase(), "JOBS", "STARTS", "PEAK", "AT (UTC)", "PEAK WITHOUT WINDOWS", "AT (UTC)"];
  const align = ["left", "right", "right", "right", "left", "right", "left"] as const;
  const hidden = groups_total - groups.length;
  const more = hidden === 0 ? "" : `and ${hidden} more: raise --top to see them\n`;
  return `${paint.bold(`By ${by}`)}\n${renderTable(header, groups.map(groupCells), align, paint)}${more}`;
}

function groupCells(group: GroupReport): string[] {
  return [
    shownName(group.name),
    String(group.jobs),
    String(group.starts),
    String(group.peak),
    group.peak_start ?? "-",
    String(group.peak_without_windows),
    group.peak_start_without_windows ?? "-",
  ];
}

/** For standard error, whatever the form of the output: what a gate in CI shows. */
export function gateText({ max_peak, buckets_over, culprits }: GateReport): string {
  const verb = buckets_over === 1 ? "bucket exceeds" : "buckets exceed";
  const lines = culprits.map((peak) => `  ${peak.start}  ${peak.starts} starts: ${whoText(peak)}\n`);
  const hidden = buckets_over - culprits.length;
  const more = hidden === 0 ? "" : `  and ${hidden} more\n`;
  return `kron: ${buckets_over} ${verb} the limit of ${plural(max_peak, "start")}\n${lines.join("")}${more}`;
}
