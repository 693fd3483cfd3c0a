/** The next 24 hours: the load above, and below it a line for each of the jobs that start next. */
import type { ForecastAnswer, Lane } from "../shapes.js";
import { instantOf, minuteText, momentText, nowMs } from "../time.js";
import { shortened } from "../view.js";
import { nameOf } from "./job-name.js";

const WIDTH = 1100;
const LEFT = 210;
const RIGHT = 10;
const LANE = 22;
const HEAD = 22;
const LOAD = 62;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NAME_CHARS = 28;

interface Scale {
  readonly fromMs: number;
  x(ms: number): number;
}

function scaleOf(fromMs: number): Scale {
  const x = (ms: number): number => LEFT + ((ms - fromMs) / DAY_MS) * (WIDTH - LEFT - RIGHT);
  return { fromMs, x: (ms) => Math.max(LEFT, Math.min(WIDTH - RIGHT, x(ms))) };
}

export function Timeline({ lanes, at }: { readonly lanes: readonly Lane[]; readonly at: string }) {
  const scale = scaleOf(Math.floor(instantOf(at) / HOUR_MS) * HOUR_MS);
  // Jobs that start all the time are one line with a count, not a flood.
  const frequent = lanes.filter(({ isFrequent }) => isFrequent);
  const single = lanes.filter(({ isFrequent }) => !isFrequent);
  const before = frequent.length === 0 ? 0 : 1;
  const height = HEAD + (before + single.length) * LANE + 4;
  return (
    <svg
      class="wide"
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label={`When ${lanes.length} jobs start within 24 hours; the table below says the same`}
    >
      <Hours scale={scale} height={height} />
      {before > 0 && <FrequentRow count={frequent.length} y={HEAD} />}
      {single.map((lane, index) => (
        <LaneRow key={lane.identity} lane={lane} scale={scale} y={HEAD + (before + index) * LANE} />
      ))}
      <path class="now" d={`M${scale.x(nowMs.value)} 16V${height}`} />
    </svg>
  );
}

function Hours({ scale, height }: { readonly scale: Scale; readonly height: number }) {
  return (
    <>
      {Array.from({ length: 8 }, (_, step) => scale.fromMs + step * 3 * HOUR_MS).map((ms) => (
        <g key={ms}>
          <path class="line" d={`M${scale.x(ms)} 18V${height}`} />
          <text x={scale.x(ms) + 3} y={12}>
            {minuteText(ms)}
          </text>
        </g>
      ))}
    </>
  );
}

function FrequentRow({ count, y }: { readonly count: number; readonly y: number }) {
  return (
    <g>
      <text class="name" x={LEFT - 10} y={y + 13} text-anchor="end">
        {count === 1 ? "1 job" : `${count} jobs`} all the time
      </text>
      <rect class="window" x={LEFT} y={y + 4} width={WIDTH - LEFT - RIGHT} height={12} rx={3} />
      <text x={LEFT + 8} y={y + 14}>
        more than 48 starts a day each
      </text>
    </g>
  );
}

function LaneRow({ lane, scale, y }: { readonly lane: Lane; readonly scale: Scale; readonly y: number }) {
  const isHeld = lane.standing !== "enabled";
  const until = lane.pausedUntil === null ? null : instantOf(lane.pausedUntil);
  // What is held does not start before.
  const isLeft = ({ chosen, nominal }: Lane["starts"][number]): boolean =>
    !isHeld || (until !== null && instantOf(chosen ?? nominal) >= until);
  return (
    <g>
      <text class="name" x={LEFT - 10} y={y + 13} text-anchor="end">
        {shortened(nameOf(lane), NAME_CHARS)}
      </text>
      {isHeld && (
        <rect
          class="held"
          x={LEFT}
          y={y + 4}
          width={Math.max(2, scale.x(until ?? scale.fromMs + DAY_MS) - LEFT)}
          height={12}
          rx={3}
        />
      )}
      {lane.starts.filter(isLeft).map((start) => (
        <Start key={start.nominal} start={start} scale={scale} y={y} />
      ))}
    </g>
  );
}

function Start({
  start,
  scale,
  y,
}: {
  readonly start: Lane["starts"][number];
  readonly scale: Scale;
  readonly y: number;
}) {
  const { windowStart, windowEnd, nominal, chosen } = start;
  const hasWindow = windowStart !== null && windowEnd !== null && windowStart !== windowEnd;
  const from = scale.x(instantOf(windowStart ?? nominal));
  const to = scale.x(instantOf(windowEnd ?? nominal));
  return (
    <g>
      {hasWindow && (
        <>
          <rect class="window" x={from} y={y + 4} width={Math.max(1, to - from)} height={12} rx={3} />
          {instantOf(nominal) >= scale.fromMs && (
            <path class="nominal" d={`M${scale.x(instantOf(nominal))} ${y + 2}v16`} />
          )}
        </>
      )}
      {chosen !== null && <path class="chosen" d={`M${scale.x(instantOf(chosen))} ${y + 3}v14`} />}
    </g>
  );
}

/** The same as text. */
export function LaneTable({ lanes }: { readonly lanes: readonly Lane[] }) {
  return (
    <details>
      <summary>As a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Starts</th>
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => (
            <tr key={lane.identity}>
              <td class="who">{nameOf(lane)}</td>
              <td>{lane.isFrequent ? "more than 48" : startsText(lane)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

const NAMED_STARTS = 6;

function startsText({ starts }: Lane): string {
  const texts = starts.map(({ chosen, nominal }) => momentText(chosen ?? nominal));
  const more = texts.length - NAMED_STARTS;
  return `${texts.slice(0, NAMED_STARTS).join(" · ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const LOAD_BUCKETS = 288;

/** Starts of five minutes each; what cron would do behind it, on the same scale. */
export function Load({ forecast }: { readonly forecast: ForecastAnswer }) {
  const chosen = gathered(forecast.chosen.counts);
  const nominal = gathered(forecast.nominal.counts);
  const most = Math.max(1, ...chosen, ...nominal);
  return (
    <svg
      class="wide"
      viewBox={`0 0 ${WIDTH} ${LOAD}`}
      role="img"
      aria-label={`Starts of five minutes, over the next 24 hours: at most ${Math.max(...chosen)}, and without windows ${Math.max(...nominal)}`}
    >
      <text x={LEFT - 10} y={24} text-anchor="end">
        starts in 5 min
      </text>
      <text x={LEFT - 10} y={40} text-anchor="end">
        at most {Math.max(...chosen)}
      </text>
      <path class="behind" d={areaOf(nominal, most)} />
      <path class="load" d={areaOf(chosen, most)} />
      <path class="line" d={`M${LEFT} ${LOAD - 4}H${WIDTH - RIGHT}`} />
    </svg>
  );
}

function gathered(counts: readonly number[]): readonly number[] {
  const size = Math.max(1, Math.ceil(counts.length / LOAD_BUCKETS));
  return Array.from({ length: Math.ceil(counts.length / size) }, (_, at) =>
    counts.slice(at * size, (at + 1) * size).reduce((sum, count) => sum + count, 0),
  );
}

function areaOf(values: readonly number[], most: number): string {
  const step = (WIDTH - LEFT - RIGHT) / values.length;
  const y = (value: number): number => LOAD - 4 - (value / most) * (LOAD - 14);
  const steps = values.map((value, at) => `V${y(value).toFixed(1)}H${(LEFT + (at + 1) * step).toFixed(1)}`);
  return `M${LEFT} ${LOAD - 4}${steps.join("")}V${LOAD - 4}z`;
}
