/** The last periods of a job, oldest first: what became of each as a mark, how long it ran as a bar. */
import { type Outcome, outcomeOfRow, outcomeText } from "../outcome.js";
import type { HistoryRow } from "../shapes.js";
import { instantOf, lengthText, momentText, nowMs } from "../time.js";
import { Mark } from "./mark.js";
import { useWidth } from "./width.js";

const USUAL_PX = 1100;
const STEP = 18;
const LONGEST_PX = 40;
const FLOOR = 48;

interface Props {
  /** Newest first. */
  readonly rows: readonly HistoryRow[];
  readonly at: number;
  onPlace(index: number): void;
  onOpen(index: number): void;
}

export function lengthMs({ startedAt, endedAt }: HistoryRow): number | null {
  if (startedAt === null) return null;
  return (endedAt === null ? nowMs.value : instantOf(endedAt)) - instantOf(startedAt);
}

export function Strip({ rows: all, at, onPlace, onOpen }: Props) {
  const [box, width] = useWidth(USUAL_PX);
  // Of more than there is room for, the newest; the rows below have the others.
  const rows = all.slice(0, Math.max(1, Math.floor((width - 8) / STEP)));
  const before = all.length - rows.length;
  const oldestFirst = [...rows].reverse();
  const longest = Math.max(1, ...rows.map((row) => lengthMs(row) ?? 0));
  const place = Math.max(0, Math.min(oldestFirst.length - 1, at - before));
  function press(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, Home: -place, End: rows.length };
    const step = steps[event.key];
    if (step !== undefined) onPlace(before + Math.max(0, Math.min(rows.length - 1, place + step)));
    else if (event.key === "Enter") onOpen(before + place);
    else return;
    event.preventDefault();
  }
  return (
    <svg
      class="strip"
      ref={box}
      viewBox={`0 0 ${width} 74`}
      height={74}
      role="slider"
      // Names of attributes in a drawing are taken letter by letter.
      tabindex={0}
      aria-label="Periods, oldest first; Enter asks why"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, rows.length)}
      aria-valuenow={place + 1}
      aria-valuetext={sentenceOf(oldestFirst[place])}
      onKeyDown={press}
    >
      {oldestFirst.map((row, index) => (
        <Bar
          key={`${row.periodId} ${row.source} ${row.startedAt}`}
          row={row}
          x={4 + index * STEP}
          height={((lengthMs(row) ?? 0) / longest) * LONGEST_PX}
          onPoint={() => {
            onPlace(before + index);
            onOpen(before + index);
          }}
        />
      ))}
      <path class="place" d={`M${4 + place * STEP} 72h14`} />
    </svg>
  );
}

interface BarProps {
  readonly row: HistoryRow;
  readonly x: number;
  readonly height: number;
  onPoint(): void;
}

function Bar({ row, x, height, onPoint }: BarProps) {
  const outcome: Outcome = outcomeOfRow(row);
  const shown = height > 0 ? Math.max(2, height) : 0;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the strip itself has the keys
    <g transform={`translate(${x} 0)`} class={`of-${outcome}`} onClick={onPoint}>
      <rect class="hit" x={-2} y={0} width={STEP} height={74} />
      <rect class="bar" x={1} y={FLOOR - shown} width={12} height={shown} rx={1.5} />
      <svg x={0} y={54} width={14} height={14} viewBox="0 0 14 14" aria-hidden="true">
        <Mark outcome={outcome} isNamed={false} />
      </svg>
    </g>
  );
}

export function sentenceOf(row: HistoryRow | undefined): string {
  if (row === undefined) return "nothing yet";
  const ms = lengthMs(row);
  const length = ms === null ? "" : `, for ${lengthText(ms)}`;
  return `${momentText(row.periodId)}: ${outcomeText(outcomeOfRow(row))}${length}`;
}
