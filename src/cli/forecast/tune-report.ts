/** What tuning proposes, for people and as data with stable field names. */

import type { SchedulingRule, WindowRule } from "../../core/decision/rule.js";
import type { Horizon } from "../../core/forecast/horizon.js";
import { bucketStartAt } from "../../core/forecast/horizon.js";
import { peaksOf } from "../../core/forecast/series.js";
import { unifiedDiff } from "../../core/forecast/tune/edit/diff.js";
import { formatDuration } from "../../core/time/duration.js";
import { formatInstant, SECOND_MS } from "../../core/time/instant.js";
import { plural } from "../format.js";
import { type Paint, renderTable } from "../style.js";
import { shownName } from "./names.js";
import type { Reason, WrittenPlan } from "./tune-plan.js";

interface PeakAt {
  readonly starts: number;
  readonly start: string | null;
}

interface ProposalReport {
  readonly identity: string;
  readonly file: string;
  readonly line: number;
  readonly window_before: string | null;
  readonly window_after: string;
  readonly salt_before: string;
  readonly salt_after: string;
}

export interface TuneReport {
  readonly format: 1;
  readonly engine_version: string;
  readonly tz_version: string;
  readonly from: string;
  readonly to: string;
  readonly bucket_seconds: number;
  readonly target_peak: number;
  readonly before: PeakAt;
  readonly after: PeakAt;
  readonly peak_of_fixed: number;
  readonly is_target_reached: boolean;
  readonly left_alone: Readonly<Record<Reason, number>>;
  readonly proposals: readonly ProposalReport[];
  readonly diff: string;
  readonly written: readonly string[];
}

function diffOf({ files }: WrittenPlan): string {
  return files.map(({ file, edits }) => unifiedDiff(file.name, file.text, edits)).join("");
}

export function tuneReport(
  written: WrittenPlan,
  horizon: Horizon,
  versions: { readonly engineVersion: string; readonly tzVersion: string },
  writtenFiles: readonly string[],
): TuneReport {
  const { plan, files, leftAlone } = written;
  return {
    format: 1,
    engine_version: versions.engineVersion,
    tz_version: versions.tzVersion,
    from: formatInstant(horizon.fromAt),
    to: formatInstant(horizon.toAt),
    bucket_seconds: horizon.bucketMs / SECOND_MS,
    target_peak: plan.targetPeak,
    before: peakAt(plan.countsBefore, horizon),
    after: peakAt(plan.countsAfter, horizon),
    peak_of_fixed: plan.peakOfFixed,
    is_target_reached: plan.peakAfter <= plan.targetPeak,
    left_alone: leftAlone,
    proposals: files.flatMap(({ file, changes }) =>
      changes.map(({ definition, rule, line }) => proposal(definition, rule, file.name, line)),
    ),
    diff: diffOf(written),
    written: writtenFiles,
  };
}

function peakAt(counts: Uint32Array, horizon: Horizon): PeakAt {
  const [peak] = peaksOf(counts, 1);
  if (peak === undefined) return { starts: 0, start: null };
  return { starts: peak.starts, start: formatInstant(bucketStartAt(horizon, peak.bucket)) };
}

function proposal(before: SchedulingRule, after: SchedulingRule, file: string, line: number): ProposalReport {
  return {
    identity: before.identity,
    file,
    line,
    window_before: before.window.durationMs === 0 ? null : windowText(before.window),
    window_after: windowText(after.window),
    salt_before: before.seed.salt,
    salt_after: after.seed.salt,
  };
}

function windowText({ mode, durationMs }: WindowRule): string {
  return `${mode} ${formatDuration(durationMs)}`;
}

const REASON_TEXTS: Readonly<Record<Reason, string>> = {
  suspended: "suspended",
  fixed: "tagged as fixed",
  not_selected: "not selected by --only",
  interval: "with an interval, which has no windows",
  reboot: "run at boot: no windows",
  once: "run once, at the time that they name",
  has_window: "with a window of their own (--widen, --reseed)",
  not_editable: "written where only a person can change them",
  deadline: "held to a window no longer than their deadline (deadline: window goes along)",
};

export function tuneText(report: TuneReport, paint: Paint): string {
  const { proposals, diff, written } = report;
  const parts = [headText(report)];
  if (proposals.length === 0) parts.push("Nothing to propose.\n");
  else parts.push(proposalTable(proposals, paint), written.length > 0 ? "" : diffText(diff, paint));
  if (written.length > 0) parts.push(`written: ${written.join(", ")}\n`);
  return parts.filter((part) => part !== "").join("\n");
}

function headText(report: TuneReport): string {
  const { from, to, bucket_seconds, before, after, target_peak, left_alone } = report;
  const bucket = formatDuration(bucket_seconds * SECOND_MS);
  const left = Object.entries(left_alone).filter(([, count]) => count > 0);
  // Not left alone altogether: told last.
  const alone = left.map(([reason, count]) => `${count} ${REASON_TEXTS[reason as Reason]}`).join(", ");
  return `${from} to ${to} by ${bucket}
peak ${before.starts}${atText(before)} becomes ${after.starts}${atText(after)}; ${targetText(report, target_peak)}
${alone === "" ? "" : `left alone: ${alone}\n`}`;
}

function targetText({ is_target_reached, peak_of_fixed }: TuneReport, target: number): string {
  if (is_target_reached) return `the target of ${target} is reached`;
  const why = peak_of_fixed > target ? `: jobs that are left alone make a peak of ${peak_of_fixed}` : "";
  return `the target of ${target} is not reached${why}`;
}

function atText({ start }: PeakAt): string {
  return start === null ? "" : ` at ${start}`;
}

/** In the table; the diff has all. */
const LISTED_PROPOSALS = 50;

function proposalTable(proposals: readonly ProposalReport[], paint: Paint): string {
  const rows = proposals
    .slice(0, LISTED_PROPOSALS)
    .map((row) => [
      shownName(row.identity),
      row.window_before ?? "-",
      row.window_after,
      row.salt_before === row.salt_after
        ? ""
        : `${shownName(row.salt_before) || "(none)"} to ${shownName(row.salt_after)}`,
      `${shownName(row.file)}:${row.line}`,
    ]);
  const table = renderTable(
    ["JOB", "WINDOW", "BECOMES", "SALT", "AT"],
    rows,
    ["left", "left", "left", "left", "left"],
    paint,
  );
  const hidden = proposals.length - rows.length;
  return `${table}${hidden === 0 ? "" : `and ${hidden} more\n`}${plural(proposals.length, "job")} to change\n`;
}

function diffText(diff: string, paint: Paint): string {
  const colour = (line: string): string => {
    if (line.startsWith("+++") || line.startsWith("---")) return paint.bold(line);
    if (line.startsWith("@@")) return paint.cyan(line);
    if (line.startsWith("+")) return paint.green(line);
    return line.startsWith("-") ? paint.red(line) : line;
  };
  return diff.split("\n").map(colour).join("\n");
}
