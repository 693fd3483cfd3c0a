/** How a second was chosen: the window, and each draw on it with what became of it. */
import type { ExplainAnswer } from "../shapes.js";
import { clockText, instantOf, momentText } from "../time.js";

const WIDTH = 520;
const LEFT = 20;
const SPAN = WIDTH - 2 * LEFT;
/** Draws that are drawn; all are in the table. */
const MOST_DRAWN = 24;

export function Draws({ explained }: { readonly explained: ExplainAnswer }) {
  const { draws, windowSeconds, timezone, windowStart, windowEnd, nominal, chosen } = explained;
  const x = (second: number): number => LEFT + (windowSeconds === 0 ? 0 : (second / windowSeconds) * SPAN);
  const said = chosen === null ? "no second of it was left" : `${clockText(chosen, timezone)} was chosen`;
  const nominalSecond = (instantOf(nominal) - instantOf(windowStart)) / 1_000;
  return (
    <>
      <svg
        viewBox={`0 0 ${WIDTH} 74`}
        role="img"
        aria-label={`Window from ${clockText(windowStart, timezone)} to ${clockText(windowEnd, timezone)}: ${said} with draw ${draws.length}`}
      >
        <rect class="window" x={LEFT} y={26} width={SPAN} height={18} rx={3} />
        <path class="nominal" d={`M${x(nominalSecond)} 20v30`} />
        <text x={LEFT} y={14}>
          {clockText(windowStart, timezone)}
        </text>
        <text x={WIDTH - LEFT} y={14} text-anchor="end">
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
            x={Math.min(WIDTH - 50, Math.max(50, x(draws.at(-1)?.second ?? 0)))}
            y={64}
            text-anchor="middle"
          >
            {clockText(chosen, timezone)}
          </text>
        )}
      </svg>
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

function DrawTable({ explained: { draws, timezone } }: { readonly explained: ExplainAnswer }) {
  return (
    <details>
      <summary>{draws.length === 1 ? "The draw" : `All ${draws.length} draws`}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Draw</th>
            <th scope="col">u</th>
            <th scope="col">Second</th>
            <th scope="col">What became of it</th>
          </tr>
        </thead>
        <tbody>
          {draws.map((draw) => (
            <tr key={draw.attempt}>
              <td>{draw.attempt}</td>
              <td>{draw.u === null ? "–" : draw.u.toFixed(7)}</td>
              <td>{clockText(draw.at, timezone)}</td>
              <td>{draw.rejectedBy === null ? "taken" : `refused by ${draw.rejectedBy}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
