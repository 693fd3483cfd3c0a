/** A day as rows of hours and columns of minutes: seven paths, not 1,440 elements. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { minuteText } from "../time.js";
import { LEVELS, levelOf } from "../view.js";
import { useWidth } from "./width.js";

const ROW = 12;
const ROW_GAP = 2;
const LEFT = 26;
const TOP = 16;
const COLUMNS = 60;
const MINUTE_MS = 60_000;
const USUAL_PX = 1100;

interface Props {
  readonly values: readonly number[];
  readonly fromMs: number;
  readonly label: string;
  /** The fullest minute of all that is compared. */
  readonly most: number;
  onPlace(minute: number): void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS };

export function Heat({ values, fromMs, label, most, onPlace }: Props) {
  const at = useSignal(0);
  const [box, width] = useWidth(USUAL_PX);
  /** From one minute to the next, the gap with it. */
  const step = (width - LEFT) / COLUMNS;
  const cell = step - (step < 10 ? 1 : 2);
  const rows = Math.ceil(values.length / COLUMNS);
  const height = TOP + rows * (ROW + ROW_GAP) + 4;
  const minute = Math.min(at.value, values.length - 1);
  const named = `${minuteText(fromMs + minute * MINUTE_MS)}: ${values[minute] ?? 0} starts`;
  useEffect(() => {
    // Whoever moves along is not asked for at every step.
    const timer = setTimeout(() => onPlace(minute), 150);
    return () => clearTimeout(timer);
  }, [minute, onPlace]);
  function point(event: PointerEvent & { readonly currentTarget: SVGSVGElement }): void {
    const drawing = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - drawing.left, event.clientY - drawing.top];
    const [column, row] = [Math.floor((x - LEFT) / step), Math.floor((y - TOP) / (ROW + ROW_GAP))];
    const inside = Math.max(0, Math.min(rows - 1, row)) * COLUMNS + Math.max(0, Math.min(COLUMNS - 1, column));
    at.value = Math.min(inside, values.length - 1);
  }
  function press(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    at.value = Math.max(0, Math.min(values.length - 1, minute + step));
  }
  return (
    <svg
      class="heat"
      ref={box}
      viewBox={`0 0 ${width} ${height}`}
      height={height}
      role="slider"
      // Names of attributes in a drawing are taken letter by letter.
      tabindex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={values.length - 1}
      aria-valuenow={minute}
      aria-valuetext={named}
      onKeyDown={press}
      onPointerMove={point}
      onPointerDown={point}
    >
      {[0, 10, 20, 30, 40, 50].map((column) => (
        <text key={column} x={LEFT + column * step} y={11}>
          :{`${column}`.padStart(2, "0")}
        </text>
      ))}
      {Array.from({ length: rows }, (_, row) => (
        <text key={row} x={LEFT - 8} y={TOP + 10 + row * (ROW + ROW_GAP)} text-anchor="end">
          {minuteText(fromMs + row * COLUMNS * MINUTE_MS).slice(0, 2)}
        </text>
      ))}
      {pathsOf(values, most, step, cell).map((path, level) => (
        <path key={level} class={`level-${level}`} d={path} />
      ))}
      <rect
        class="cursor"
        x={LEFT + (minute % COLUMNS) * step - 1.5}
        y={TOP + Math.floor(minute / COLUMNS) * (ROW + ROW_GAP) - 1.5}
        width={cell + 3}
        height={ROW + 3}
        rx={2}
      />
    </svg>
  );
}

function pathsOf(values: readonly number[], most: number, step: number, cell: number): readonly string[] {
  const paths = Array.from({ length: LEVELS }, () => "");
  for (const [minute, value] of values.entries()) {
    const x = (LEFT + (minute % COLUMNS) * step).toFixed(1);
    const y = TOP + Math.floor(minute / COLUMNS) * (ROW + ROW_GAP);
    paths[levelOf(value, most)] += `M${x} ${y}h${cell.toFixed(1)}v${ROW}h${-cell.toFixed(1)}z`;
  }
  return paths;
}
