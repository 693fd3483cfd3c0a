/** How a second was chosen: the window, and each draw on it with what became of it. */
import type { ExplainAnswer } from "../shapes.js";
import { clockText, instantOf, momentText, zone } from "../time.js";
import { type Column, Line, Table } from "./table.js";
import { useWidth } from "./width.js";

const USUAL_PX = 520;
const EDGE = 20;
/** Draws that are drawn; all are in the table. */
const MOST_DRAWN = 24;

export function Draws({ explained }: { readonly explained: ExplainAnswer }) {
  const { draws, windowSeconds, timezone, chosen } = explained;
  return (
    <>
      {timezone !== zone.value && (
        <p class="soft small">
          All of it in the job's zone, {timezone}
          {chosen !== null && `, where it is ${momentText(chosen, timezone)}`}.
        </p>
      )}
      {windowSeconds === 0 ? (
        <p class="soft">It has no window: the second is the schedule's own.</p>
      ) : (
        <Window explained={explained} />
      )}
      <dl class="pairs">
        <dt>Period</dt>
        <dd>{momentText(explained.periodId, timezone)}</dd>
        <dt>Hash input</dt>
        <dd>
          <code>{explained.hashInput.replaceAll("\n", "⏎")}</code>
        </dd>
        <dt>SHA-256</dt>
        <dd>
          <code>{explained.seedHash}</code>
        </dd>
        <dt>Distribution</dt>
        <dd>
          {explained.distribution}, second {(draws.at(-1)?.second ?? 0).toLocaleString("en")} of{" "}
          {windowSeconds.toLocaleString("en")}
        </dd>
      </dl>
      <DrawTable explained={explained} />
    </>
  );
}

function Window({ explained }: { readonly explained: ExplainAnswer }) {
  const { draws, windowSeconds, timezone, windowStart, windowEnd, nominal, chosen } = explained;
  const [box, width] = useWidth(USUAL_PX);
  const room = width - 2 * EDGE;
  const x = (second: number): number => EDGE + (second / windowSeconds) * room;
  const said = chosen === null ? "no second of it was left" : `${clockText(chosen, timezone)} was chosen`;
  return (
    <svg
      ref={box}
      viewBox={`0 0 ${width} 74`}
      height={74}
      role="img"
      aria-label={`Window from ${clockText(windowStart, timezone)} to ${clockText(windowEnd, timezone)}: ${said} with draw ${draws.length}`}
    >
      <rect class="window" x={EDGE} y={26} width={Math.max(1, room)} height={18} rx={3} />
      <path class="nominal" d={`M${x((instantOf(nominal) - instantOf(windowStart)) / 1_000)} 20v30`} />
      <text x={EDGE} y={14}>
        {clockText(windowStart, timezone)}
      </text>
      <text x={width - EDGE} y={14} text-anchor="end">
        {clockText(windowEnd, timezone)}
      </text>
      {draws.slice(-MOST_DRAWN).map((draw) => (
        <path
          key={draw.attempt}
          class={draw.rejectedBy === null ? "chosen" : "rejected"}
          d={`M${x(draw.second)} 22v26`}
        />
      ))}
      {chosen !== null && (
        <text
          class="name"
          x={Math.min(width - 50, Math.max(50, x(draws.at(-1)?.second ?? 0)))}
          y={64}
          text-anchor="middle"
        >
          {clockText(chosen, timezone)}
        </text>
      )}
    </svg>
  );
}

const DRAWS: readonly Column[] = [["Draw"], ["u"], ["Second"], ["What became of it"]];

function DrawTable({ explained: { draws, timezone } }: { readonly explained: ExplainAnswer }) {
  return (
    <details>
      <summary>{draws.length === 1 ? "The draw" : `All ${draws.length} draws`}</summary>
      <Table columns={DRAWS}>
        {draws.map((draw) => (
          <Line
            key={draw.attempt}
            columns={DRAWS}
            cells={[
              draw.attempt,
              draw.u === null ? "–" : draw.u.toFixed(7),
              clockText(draw.at, timezone),
              draw.rejectedBy === null ? "taken" : `refused by ${draw.rejectedBy}`,
            ]}
          />
        ))}
      </Table>
    </details>
  );
}
