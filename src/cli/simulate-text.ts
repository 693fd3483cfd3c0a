/** How a simulation reads on a terminal. */

import { formatDuration } from "../core/time/duration.js";
import { formatFigure, type Verdict } from "../simulation/expectations.js";
import type { Findings, JobFindings } from "../simulation/report.js";
import { formatSpan } from "../simulation/span.js";
import type { TimelineEntry } from "../simulation/timeline.js";
import { plural } from "./format.js";
import { type NamedJob, nameCell } from "./job-name.js";
import { type Paint, renderPairs } from "./style.js";
import { type Column, type Screen, tableText, WHOLE } from "./table.js";

/** More rows than this only with --all: those with the most trouble first. */
const SHOWN_JOBS = 30;

const number = (
  title: string,
  shortTitle: string,
  rank: number,
  of: (job: JobFindings) => number,
): Column<NamedFindings> => {
  return { title, shortTitle, rank, least: WHOLE, align: "right", cell: (job) => String(of(job)) };
};

/** Where there is no room for all, what goes well goes first. */
const COLUMNS: readonly Column<NamedFindings>[] = [
  { title: "JOB", rank: 11, least: 12, cell: nameCell },
  number("PERIODS", "PER", 2, ({ periods }) => periods),
  number("EXECUTED", "EXE", 6, ({ executed }) => executed),
  number("SKIPPED", "SKI", 7, ({ skipped }) => skipped),
  number("MISSED", "MIS", 10, ({ missed }) => missed),
  number("UNSCHED", "UNS", 8, ({ unschedulable }) => unschedulable),
  number("NOT EVAL", "NOT", 3, ({ not_evaluated }) => not_evaluated),
  number("OTHER", "OTH", 1, otherOf),
  number("FAILED", "FAI", 9, ({ failed }) => failed),
  number("PEAK", "PEAK", 4, ({ peak }) => peak),
  {
    title: "LATEST",
    shortTitle: "LATE",
    rank: 5,
    least: WHOLE,
    align: "right",
    cell: ({ max_lateness_ms }) => formatDuration(max_lateness_ms),
  },
];

type NamedFindings = JobFindings & NamedJob;

function otherOf(job: JobFindings): number {
  return job.before_definition + job.suspended + job.paused + job.down + job.removed + job.open + job.unaccounted;
}

function troubleOf(job: JobFindings): number {
  return job.missed + job.skipped + job.unschedulable + job.unaccounted + job.failed + job.refused;
}

export function jobTable(jobs: readonly NamedFindings[], isAll: boolean, screen: Screen): string {
  const isCut = !isAll && jobs.length > SHOWN_JOBS;
  const shown = isCut ? [...jobs].sort((a, b) => troubleOf(b) - troubleOf(a)).slice(0, SHOWN_JOBS) : jobs;
  const table = tableText(COLUMNS, shown, screen);
  return isCut ? `${table}… and ${jobs.length - shown.length} more jobs with less trouble: --all shows them\n` : table;
}

const OUTCOMES = ["executed", "skipped", "missed", "unschedulable", "not_evaluated"] as const;
const OTHERS = ["before_definition", "suspended", "paused", "down", "removed", "open", "unaccounted"] as const;

export function summaryText(findings: Findings, verdicts: readonly Verdict[], paint: Paint): string {
  const pairs: [string, string][] = [
    ["periods", periodsText(findings)],
    ["reasons", countsText(findings.reasons)],
    ["runs", runsText(findings)],
    ["exits", countsText(findings.exits)],
    ["lateness", latenessText(findings)],
    ["peaks", peaksText(findings)],
    ["check", checkText(findings, paint)],
  ];
  const rules = verdicts.map(({ rule, actual, holds }): [string, string] => {
    return ["expect", `${rule}: ${holds ? paint.green("holds") : paint.red("broken")} (${formatFigure(rule, actual)})`];
  });
  return renderPairs([...pairs.filter(([, text]) => text !== ""), ...rules], paint);
}

function periodsText({ figures }: Findings): string {
  const counts = [...OUTCOMES, ...OTHERS].filter((name) => name === "executed" || figures[name] > 0);
  return `${figures.periods}: ${counts.map((name) => `${figures[name]} ${name.replaceAll("_", " ")}`).join(", ")}`;
}

function runsText({ figures }: Findings): string {
  const parts = [`${figures.started} started`];
  if (figures.intervals > 0) parts.push(`${figures.intervals} by interval`);
  if (figures.hinted > 0) parts.push(`${figures.hinted} by hint`);
  if (figures.at_boot > 0) parts.push(`${figures.at_boot} at boot`);
  if (figures.retried > 0) parts.push(`${figures.retried} again after a failure`);
  if (figures.manual > 0) parts.push(`${figures.manual} by hand`);
  if (figures.refused > 0) parts.push(`${plural(figures.refused, "attempt")} without a process`);
  if (figures.overlaps > 0) parts.push(`${figures.overlaps} beside an earlier run of the same job`);
  if (figures.still_running > 0) parts.push(`${figures.still_running} still running`);
  if (figures.fatal > 0) parts.push(`the daemon failed ${plural(figures.fatal, "time")}`);
  return parts.join(", ");
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ×${count}`)
    .join(", ");
}

function latenessText({ lateness, figures }: Findings): string {
  if (figures.started === figures.manual + figures.intervals + figures.hinted + figures.retried + figures.at_boot)
    return "";
  const { p50_ms, p99_ms, max_ms, latest } = lateness;
  const most = `most ${formatDuration(max_ms)}${latest === null ? "" : ` (${latest})`}`;
  return `half within ${formatDuration(p50_ms)}, 99% within ${formatDuration(p99_ms)}, ${most}`;
}

function peaksText({ peak, starts_per_second: second }: Findings): string {
  if (peak.at === null || second.at === null) return "";
  return `${plural(peak.count, "run")} at once at ${peak.at}, ${plural(second.count, "start")} in one second at ${second.at}`;
}

const VIOLATIONS_SHOWN = 10;

function checkText({ figures, violations }: Findings, paint: Paint): string {
  if (figures.violations === 0) return paint.green("nothing ran twice, every period is accounted for");
  const shown = violations.slice(0, VIOLATIONS_SHOWN).map((what) => `\n  ${what}`);
  return paint.red(`${plural(figures.violations, "broken promise")}${shown.join("")}`);
}

export function headText({ from, to, simulated_ms: ms, interrupted, jobs }: Findings, seed: string): string {
  const length = `${formatSpan(ms)} from ${from} to ${to}`;
  return `${interrupted ? "interrupted after " : ""}${length}, ${plural(jobs.length, "job")}, seed ${seed}\n`;
}

export function timelineLine({ at, event, identity, period_id: period, fields }: TimelineEntry, paint: Paint): string {
  const about = identity === null ? "" : ` ${identity}${period === null ? "" : `@${period}`}`;
  const details = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? quoted(value) : JSON.stringify(value)}`);
  return `${paint.dim(at)} ${paint.bold(event)}${about}${details.join("")}\n`;
}

function quoted(text: string): string {
  return /^[^\s"]+$/.test(text) ? text : JSON.stringify(text);
}
