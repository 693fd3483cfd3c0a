/** The next 24 hours: the load above, and below it a line for each of the jobs that start next. */
import type { ForecastAnswer, Lane, Now } from "../shapes.js";
import { instantOf, minuteText, momentText, nowMs } from "../time.js";
import { shortened } from "../view.js";
import { nameOf } from "./job-name.js";
import { type Column, Line, Table } from "./table.js";
import { NARROW_PX, useWidth } from "./width.js";

const USUAL_PX = 1100;
const NAMES_PX = 210;
const RIGHT = 10;
const HEAD = 22;
const LOAD = 62;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NAME_CHARS = 28;
/** An hour that is named takes so much. */
const NAMED_PX = 56;
const SHORTEST_RUN_PX = 8;

interface Scale {
  readonly fromMs: number;
  readonly width: number;
  /** Where the day begins. */
  readonly left: number;
  readonly laneHeight: number;
  /** From the top of a lane to what is drawn in it. */
  readonly drawnAt: number;
  x(ms: number): number;
}

/** Names stand beside their lanes, or above them where it is narrow. */
function scaleOf(fromMs: number, width: number): Scale {
  const isNarrow = width < NARROW_PX;
  const left = isNarrow ? 0 : NAMES_PX;
  const x = (ms: number): number => left + ((ms - fromMs) / DAY_MS) * (width - left - RIGHT);
  return {
    fromMs,
    width,
    left,
    laneHeight: isNarrow ? 37 : 22,
    drawnAt: isNarrow ? 16 : 0,
    x: (ms) => Math.max(left, Math.min(width - RIGHT, x(ms))),
  };
}

export function Timeline({ lanes, at, running }: Pick<Now, "lanes" | "at" | "running">) {
  const [box, width] = useWidth(USUAL_PX);
  const scale = scaleOf(Math.floor(instantOf(at) / HOUR_MS) * HOUR_MS, width);
  // Jobs that start all the time are one line with a count, not a flood.
  const frequent = lanes.filter(({ isFrequent }) => isFrequent);
  const single = lanes.filter(({ isFrequent }) => !isFrequent);
  const top = HEAD + (frequent.length === 0 ? 0 : scale.laneHeight);
  const height = top + single.length * scale.laneHeight + 4;
  const runs = new Map(running.map(({ identity, active }) => [identity, active.map(({ startedAt }) => startedAt)]));
  return (
    <svg
      ref={box}
      viewBox={`0 0 ${width} ${height}`}
      height={height}
      role="img"
      aria-label={`When ${lanes.length} jobs start within 24 hours; the table below says the same`}
    >
      <Hours scale={scale} top={top} height={height} />
      <path class="now" d={`M${scale.x(nowMs.value)} ${top}V${height}`} />
      {frequent.length > 0 && <FrequentRow count={frequent.length} scale={scale} />}
      {single.map((lane, index) => (
        <LaneRow
          key={lane.identity}
          lane={lane}
          runs={runs.get(lane.identity) ?? []}
          scale={scale}
          y={top + index * scale.laneHeight}
        />
      ))}
    </svg>
  );
}

/** Lines begin below what is written for all of them. */
function Hours({ scale, top, height }: { readonly scale: Scale; readonly top: number; readonly height: number }) {
  const step = (scale.x(scale.fromMs + 3 * HOUR_MS) - scale.left < NAMED_PX ? 6 : 3) * HOUR_MS;
  return (
    <>
      {Array.from({ length: DAY_MS / step }, (_, place) => scale.fromMs + place * step).map((ms) => (
        <g key={ms}>
          <path class="line" d={`M${scale.x(ms)} ${top}V${height}`} />
          <text x={scale.x(ms) + (ms === scale.fromMs ? 0 : 3)} y={12}>
            {minuteText(ms)}
          </text>
        </g>
      ))}
    </>
  );
}

function Name({ text, scale, y }: { readonly text: string; readonly scale: Scale; readonly y: number }) {
  const isBeside = scale.drawnAt === 0;
  return (
    <text class="name" x={isBeside ? scale.left - 10 : 0} y={y + 13} text-anchor={isBeside ? "end" : "start"}>
      {shortened(text, NAME_CHARS)}
    </text>
  );
}

function FrequentRow({ count, scale }: { readonly count: number; readonly scale: Scale }) {
  const y = HEAD + scale.drawnAt;
  return (
    <g>
      <Name text={`${count === 1 ? "1 job" : `${count} jobs`} all the time`} scale={scale} y={HEAD} />
      <rect class="window" x={scale.left} y={y + 3} width={scale.width - scale.left - RIGHT} height={14} rx={3} />
      <text x={scale.left + 8} y={y + 14}>
        more than 48 starts a day each
      </text>
    </g>
  );
}

interface LaneRowProps {
  readonly lane: Lane;
  /** When those of its runs began that go on. */
  readonly runs: readonly string[];
  readonly scale: Scale;
  readonly y: number;
}

function LaneRow({ lane, runs, scale, y: top }: LaneRowProps) {
  const isHeld = lane.standing !== "enabled";
  const until = lane.pausedUntil === null ? null : instantOf(lane.pausedUntil);
  const y = top + scale.drawnAt;
  // What is held does not start before.
  const isLeft = ({ chosen, nominal }: Lane["starts"][number]): boolean =>
    !isHeld || (until !== null && instantOf(chosen ?? nominal) >= until);
  return (
    <g>
      <Name text={nameOf(lane)} scale={scale} y={top} />
      {isHeld && (
        <rect
          class="held"
          x={scale.left}
          y={y + 4}
          width={Math.max(2, scale.x(until ?? scale.fromMs + DAY_MS) - scale.left)}
          height={12}
          rx={3}
        />
      )}
      {lane.starts.filter(isLeft).map((start) => (
        <Start key={start.nominal} start={start} scale={scale} y={y} />
      ))}
      {runs.map((startedAt) => (
        <RunBar key={startedAt} startedAt={startedAt} scale={scale} y={y} />
      ))}
    </g>
  );
}

/** Up to now, and never so short that nobody sees it. */
function RunBar({ startedAt, scale, y }: { readonly startedAt: string; readonly scale: Scale; readonly y: number }) {
  const to = scale.x(nowMs.value);
  const from = Math.max(scale.left, Math.min(scale.x(instantOf(startedAt)), to - SHORTEST_RUN_PX));
  return <rect class="running" x={from} y={y + 7} width={Math.max(2, to - from)} height={6} rx={2} />;
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

const LANES: readonly Column[] = [
  ["Job", "who"],
  ["Starts", "why"],
];

/** The same as text. */
export function LaneTable({ lanes }: { readonly lanes: readonly Lane[] }) {
  return (
    <details>
      <summary>As a table</summary>
      <Table columns={LANES}>
        {lanes.map((lane) => (
          <Line
            key={lane.identity}
            columns={LANES}
            cells={[nameOf(lane), lane.isFrequent ? "more than 48" : startsText(lane)]}
          />
        ))}
      </Table>
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
  const [box, width] = useWidth(USUAL_PX);
  const { left, drawnAt } = scaleOf(0, width);
  const chosen = gathered(forecast.chosen.counts);
  const nominal = gathered(forecast.nominal.counts);
  const most = Math.max(1, ...chosen, ...nominal);
  const peak = Math.max(...chosen);
  const areaOf = (values: readonly number[]): string => {
    const step = (width - left - RIGHT) / values.length;
    const y = (value: number): number => drawnAt + LOAD - 4 - (value / most) * (LOAD - 14);
    const steps = values.map((value, at) => `V${y(value).toFixed(1)}H${(left + (at + 1) * step).toFixed(1)}`);
    return `M${left} ${y(0)}${steps.join("")}V${y(0)}z`;
  };
  return (
    <svg
      ref={box}
      viewBox={`0 0 ${width} ${LOAD + drawnAt}`}
      height={LOAD + drawnAt}
      role="img"
      aria-label={`Starts of five minutes, over the next 24 hours: at most ${peak}, and without windows ${Math.max(...nominal)}`}
    >
      {drawnAt > 0 ? (
        <text y={12}>starts in 5 min, at most {peak}</text>
      ) : (
        <>
          <text x={left - 10} y={24} text-anchor="end">
            starts in 5 min
          </text>
          <text x={left - 10} y={40} text-anchor="end">
            at most {peak}
          </text>
        </>
      )}
      <path class="behind" d={areaOf(nominal)} />
      <path class="load" d={areaOf(chosen)} />
      <path class="line" d={`M${left} ${LOAD + drawnAt - 4}H${width - RIGHT}`} />
    </svg>
  );
}

function gathered(counts: readonly number[]): readonly number[] {
  const size = Math.max(1, Math.ceil(counts.length / LOAD_BUCKETS));
  return Array.from({ length: Math.ceil(counts.length / size) }, (_, at) =>
    counts.slice(at * size, (at + 1) * size).reduce((sum, count) => sum + count, 0),
  );
}
