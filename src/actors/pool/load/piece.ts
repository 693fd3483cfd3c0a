/**
 * A piece of a configuration on its way from bytes to definitions. The same on this thread and in a worker; what only the
 * whole configuration can tell (repeated identities and settings, the number of jobs) is left for later.
 */
import type { CalendarFiles } from "../../../core/config/calendar/definition.js";
import { type CrontabReading, type CrontabRules, readCrontab } from "../../../core/config/crontab/crontab.js";
import { readJsonLine } from "../../../core/config/line/json-lines.js";
import { readKronLine } from "../../../core/config/line/kron-line.js";
import type { LineReader } from "../../../core/config/line/lines.js";
import {
  type Against,
  type ConfigReading,
  LineIndex,
  type LocatedJob,
  type LocatedSetting,
} from "../../../core/config/located.js";
import type { ConfigFinding } from "../../../persist/config-files.js";
import { type JobColumns, JobColumnsBuilder } from "./job-columns.js";

export type PieceForm =
  /** Lines of a file, from a line break to a line break. */
  | { readonly kind: "jsonl" | "kron"; readonly isFirst: boolean }
  /** A whole file. */
  | { readonly kind: "yaml"; readonly calendarFiles: CalendarFiles }
  | { readonly kind: "crontab"; readonly rules: CrontabRules }
  | { readonly kind: "read"; readonly reading: ConfigReading };

export interface PieceTask {
  readonly file: string;
  readonly form: PieceForm;
  readonly bytes: Uint8Array;
}

interface PlacedSetting {
  readonly setting: LocatedSetting;
  readonly sourceLine: string | null;
}

/** Of lines of a file, line numbers count from the beginning of the piece. */
export interface Piece<Jobs> {
  readonly jobs: Jobs;
  readonly findings: readonly ConfigFinding[];
  readonly settings: readonly PlacedSetting[];
  readonly crontab: CrontabReading | null;
  /** Line breaks in the piece. */
  readonly lines: number;
}

/** As it was read. */
type ReadPiece = Piece<readonly LocatedJob[]>;

const LINE_READERS: Readonly<Record<"jsonl" | "kron", LineReader>> = { jsonl: readJsonLine, kron: readKronLine };
const BYTE_ORDER_MARK = "\ufeff";
/** Bytes that are no UTF-8 become replacement characters, as everywhere where files are read. */
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

export function textOf(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

export function isOfLines(form: PieceForm): form is Extract<PieceForm, { readonly isFirst: boolean }> {
  return form.kind === "jsonl" || form.kind === "kron";
}

/** Whether the file begins with it. */
export function isFirstOfFile({ form }: PieceTask): boolean {
  return !isOfLines(form) || form.isFirst;
}

/** Problems that were found elsewhere, for their places. */
interface Searched {
  readonly against?: Against;
}

/** `tick` is called now and then, and ends the reading by throwing. */
export async function readPiece(
  { file, form, bytes }: PieceTask,
  tick: () => void,
  searched: Searched = {},
): Promise<ReadPiece> {
  const text = textOf(bytes);
  switch (form.kind) {
    case "yaml": {
      // Nearly every start finds its files as it knows them, and need not wait for what reads YAML.
      const { readYamlConfig } = await import("../../../core/config/yaml/reader.js");
      return wholePiece(readYamlConfig(file, text, { calendarFiles: form.calendarFiles, ...searched }), text, null);
    }
    case "crontab": {
      const reading = readCrontab(file, text, { ...form.rules, ...searched });
      return wholePiece(reading, text, reading);
    }
    case "read":
      return wholePiece(form.reading, text, null);
    default:
      return linesPiece(text, form.isFirst, tick, (source, line) =>
        LINE_READERS[form.kind](source, { file, line, ...searched }),
      );
  }
}

/** The same piece with its jobs as canonical texts outside the heap. */
export function packed(piece: ReadPiece): Piece<JobColumns> {
  const jobs = new JobColumnsBuilder();
  for (const job of piece.jobs) jobs.add(job);
  return { ...piece, jobs: jobs.columns() };
}

function wholePiece(reading: ConfigReading, text: string, crontab: CrontabReading | null): ReadPiece {
  const lines = new LineIndex(text);
  return {
    jobs: reading.jobs,
    findings: reading.problems.map((located) => ({ located, sourceLine: lines.lineText(located.line) })),
    settings: reading.settings.map((setting) => ({ setting, sourceLine: lines.lineText(setting.line) })),
    crontab,
    lines: 0,
  };
}

/** Lines between two ticks. */
const TICK_LINES = 256;

type ReadLine = (source: string, line: number) => ReturnType<LineReader>;

function linesPiece(text: string, isFirst: boolean, tick: () => void, read: ReadLine): ReadPiece {
  const jobs: LocatedJob[] = [];
  const findings: ConfigFinding[] = [];
  let line = 0;
  for (const source of linesOf(text, isFirst)) {
    line += 1;
    if (line % TICK_LINES === 0) tick();
    const { job, problems } = read(source, line);
    for (const located of problems) findings.push({ located, sourceLine: source });
    if (job !== null) jobs.push(job);
  }
  return { jobs, findings, settings: [], crontab: null, lines: line };
}

/** Without their ends; what stands behind the last line break is a line when there is anything. */
function* linesOf(text: string, isFirst: boolean): Generator<string> {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    yield withoutMark(text.slice(start, end), isFirst && start === 0);
    start = end + 1;
  }
  if (start < text.length) yield withoutMark(text.slice(start), isFirst && start === 0);
}

function withoutMark(line: string, isFirst: boolean): string {
  return isFirst && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
}

/** The line of a job, to be shown with a problem that came up later. */
export function sourceLineOf({ form, bytes }: PieceTask, line: number): string | null {
  const text = textOf(bytes);
  if (!isOfLines(form)) return new LineIndex(text).lineText(line);
  const source = text.split("\n")[line - 1] ?? null;
  return source === null ? null : withoutMark(source, form.isFirst && line === 1);
}
