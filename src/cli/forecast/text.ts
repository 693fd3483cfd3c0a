/** The forecast for people: the totals, the fullest buckets with those who make them, groups, and runs at once. */

import { formatDuration } from "../../core/time/duration.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { plural } from "../format.js";
import { type Column, type Screen, tableText, WHOLE, withoutYear } from "../table.js";
import { shownName, whoText } from "./names.js";
import type { ForecastReport, GateReport, GroupReport, OverlapReport, PeakReport, SeriesReport } from "./report.js";

/** `hasGroups`: whether the groups get a table of their own. */
export function forecastText(report: ForecastReport, hasGroups: boolean, screen: Screen): string {
  const parts = [headText(report), summaryTable(report, screen)];
  parts.push(peaksText("Fullest buckets", report.with_windows.peaks, report, screen));
  parts.push(peaksText("Fullest buckets without windows", report.without_windows.peaks, report, screen));
  if (hasGroups) parts.push(groupsText(report, screen));
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

interface SummaryRow {
  readonly name: string;
  readonly series: SeriesReport;
  readonly running: OverlapReport["with_windows"] | undefined;
}

/** A number of which nothing may be cut. */
function counted<T>(title: string, rank: number, of: (row: T) => number, shortTitle = title): Column<T> {
  return { title, shortTitle, rank, least: WHOLE, align: "right", cell: (row) => String(of(row)) };
}

function instant<T>(title: string, rank: number, of: (row: T) => string | null | undefined): Column<T> {
  return { title, shortTitle: "AT", rank, least: WHOLE, cell: (row) => withoutYear(of(row) ?? "-") };
}

const SUMMARY: readonly Column<SummaryRow>[] = [
  { title: "", rank: 7, least: WHOLE, cell: ({ name }) => name },
  counted("STARTS", 5, ({ series }) => series.starts),
  counted("BUSY BUCKETS", 1, ({ series }) => series.busy_buckets, "BUSY"),
  counted("PEAK", 6, ({ series }) => series.peaks[0]?.starts ?? 0),
  instant("AT (UTC)", 4, ({ series }) => series.peaks[0]?.start),
];

const RUNNING: readonly Column<SummaryRow>[] = [
  counted("AT ONCE", 3, ({ running }) => running?.peak ?? 0, "ONCE"),
  instant("AT (UTC)", 2, ({ running }) => running?.peak_at),
];

function summaryTable({ with_windows, without_windows, overlap }: ForecastReport, screen: Screen): string {
  const rows = [
    { name: "with windows", series: with_windows, running: overlap?.with_windows },
    { name: "without windows", series: without_windows, running: overlap?.without_windows },
  ];
  const table = tableText(overlap === null ? SUMMARY : [...SUMMARY, ...RUNNING], rows, screen);
  return overlap === null ? table : `${table}${overlapNote(overlap)}`;
}

function overlapNote({ jobs, jobs_without_duration, with_windows }: OverlapReport): string {
  const notes = [`at once: of ${plural(jobs, "job")} with a known or assumed duration`];
  if (jobs_without_duration > 0) notes.push(`${jobs_without_duration} without are left out`);
  if (with_windows.skipped > 0) notes.push(`${plural(with_windows.skipped, "start")} would be skipped by their policy`);
  return `${notes.join("; ")}\n`;
}

function peaksText(title: string, peaks: readonly PeakReport[], { by }: ForecastReport, screen: Screen): string {
  const head = screen.paint.bold(title);
  if (peaks.length === 0) return `${head}\nnothing starts\n`;
  const columns: readonly Column<PeakReport>[] = [
    { title: "BUCKET (UTC)", shortTitle: "BUCKET", rank: 2, least: WHOLE, cell: ({ start }) => withoutYear(start) },
    counted("STARTS", 3, ({ starts }) => starts),
    { title: `BY ${by.toUpperCase()}`, rank: 1, least: 16, cell: whoText },
  ];
  return `${head}\n${tableText(columns, peaks, screen)}`;
}

function groupsText({ by, groups, groups_total }: ForecastReport, screen: Screen): string {
  const columns: readonly Column<GroupReport>[] = [
    { title: by.toUpperCase(), rank: 7, least: 12, cell: ({ name }) => shownName(name) },
    counted("JOBS", 3, ({ jobs }) => jobs),
    counted("STARTS", 5, ({ starts }) => starts),
    counted("PEAK", 6, ({ peak }) => peak),
    instant("AT (UTC)", 4, ({ peak_start }) => peak_start),
    counted("PEAK WITHOUT WINDOWS", 2, ({ peak_without_windows }) => peak_without_windows, "WITHOUT"),
    instant("AT (UTC)", 1, ({ peak_start_without_windows }) => peak_start_without_windows),
  ];
  const hidden = groups_total - groups.length;
  const more = hidden === 0 ? "" : `and ${hidden} more: raise --top to see them\n`;
  return `${screen.paint.bold(`By ${by}`)}\n${tableText(columns, groups, screen)}${more}`;
}

/** For standard error, whatever the form of the output: what a gate in CI shows. */
export function gateText({ max_peak, buckets_over, culprits }: GateReport): string {
  const verb = buckets_over === 1 ? "bucket exceeds" : "buckets exceed";
  const lines = culprits.map((peak) => `  ${peak.start}  ${peak.starts} starts: ${whoText(peak)}\n`);
  const hidden = buckets_over - culprits.length;
  const more = hidden === 0 ? "" : `  and ${hidden} more\n`;
  return `kron: ${buckets_over} ${verb} the limit of ${plural(max_peak, "start")}\n${lines.join("")}${more}`;
}
