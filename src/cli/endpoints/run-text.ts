/** Runs of endpoints as tables, and one of them in full. */
import { plainText } from "../../core/base/plain-text.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Zone } from "../../core/time/zone.js";
import type { RunAnswer, RunDetailAnswer } from "../../operations/endpoints/shapes.js";
import { Times } from "../list/columns.js";
import { type Paint, renderPairs } from "../style.js";
import type { Cell, Column } from "../table.js";
import { oneLine, statusCell, tookText } from "./texts.js";

export interface NamedRun {
  readonly label: string;
  readonly run: RunAnswer;
}

/** `hasLabels`: they are of several endpoints. */
export function runColumns(now: EpochMs, zone: Zone | null, hasLabels: boolean): readonly Column<NamedRun>[] {
  const times = new Times(now, zone);
  const where = zone === null ? "UTC" : "LOCAL";
  const endpoint: Column<NamedRun> = { title: "ENDPOINT", rank: 5, least: 12, cap: 40, cell: ({ label }) => label };
  return [
    ...(hasLabels ? [endpoint] : []),
    {
      title: `SCHEDULED (${where})`,
      shortTitle: "SCHEDULED",
      rank: 4,
      least: 14,
      cell: ({ run }) => timeCell(times.text(run.scheduledFor)),
    },
    { title: "STATUS", rank: 7, least: 7, cell: ({ run }) => statusCell(run.status) },
    { title: "HTTP", rank: 6, least: 4, cell: ({ run }) => String(run.httpStatus ?? "-") },
    { title: "TOOK", rank: 3, least: 5, cell: ({ run }) => tookText(run.durationMs) },
    { title: "BY", rank: 2, least: 6, cell: sourceCell },
    { title: "ERROR", rank: 1, least: 8, cap: 80, cell: ({ run }) => errorText(run) },
  ];
}

/** On a narrow terminal without the year: `11-19 10:12:26`. */
function timeCell(text: string): Cell {
  return { text, short: text.slice(5, 19).replace("T", " ") };
}

function sourceCell({ run: { source, attempt } }: NamedRun): Cell {
  const text = attempt === null ? source : `${source} ${attempt}`;
  return { text, short: text.replace(/^(?:baseline|ai)-/, "") };
}

function errorText({ error }: RunAnswer): string {
  if (error === null) return "";
  return error.code === error.message ? error.code : `${error.code}: ${oneLine(error.message)}`;
}

type Pair = readonly [name: string, value: string];

export function runText(label: string, run: RunDetailAnswer, paint: Paint): string {
  const { id, status, source, attempt, scheduledFor, startedAt, finishedAt, durationMs, waitedMs } = run;
  const waited = waitedMs === null || waitedMs === 0 ? "" : `, waited ${tookText(waitedMs)} for room`;
  const took = durationMs === null ? "" : `${waited}, took ${tookText(durationMs)}`;
  const pairs: readonly Pair[] = [
    ["id", id],
    ["status", status],
    ["by", attempt === null ? source : `${source}, attempt ${attempt}`],
    ["scheduled", scheduledFor],
    ["started", startedAt ?? "-"],
    ["finished", finishedAt === null ? "-" : `${finishedAt}${took}`],
    ...answerPairs(run),
    ...(run.error === null ? [] : [["error", errorText(run)] as const]),
    ["failed before", String(run.failureCount)],
    ...run.violations.map(({ constraint, message }): Pair => [`bound ${constraint}`, oneLine(message)]),
    ...run.hints.map((hint): Pair => ["in force", oneLine(hint)]),
  ];
  const colour = statusCell(status).colour;
  const shown = colour === undefined ? status : paint[colour](status);
  return `${paint.bold(`${plainText(label)}@${scheduledFor}`)}: ${shown}\n${renderPairs(pairs, paint)}${excerptText(run)}`;
}

function answerPairs({ httpStatus, responseBytes, wasSent }: RunDetailAnswer): readonly Pair[] {
  const sent = wasSent === null ? [] : [["request", wasSent ? "was sent" : "not a byte of it was sent"] as const];
  if (httpStatus === null) return sent;
  return [...sent, ["answer", `HTTP ${httpStatus}${responseBytes === null ? "" : `, ${responseBytes} bytes`}`]];
}

/** Somebody else has written it. */
function excerptText({ responseExcerpt }: RunDetailAnswer): string {
  if (responseExcerpt === null || responseExcerpt === "") return "";
  const lines = responseExcerpt.split(/\r?\n/).map((line) => `  ${line.replace(/[^\P{C}\t]/gu, "\ufffd")}\n`);
  return `the answer begins:\n${lines.join("")}`;
}
