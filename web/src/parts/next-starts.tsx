/** What lies ahead of a job: its next starts with their windows, and what a change of the clocks does to them. */
import type { UpcomingAnswer } from "../shapes.js";
import { distanceText, instantOf, momentText, offsetText, zone } from "../time.js";
import { Panel } from "./panel.js";

type Row = UpcomingAnswer["rows"][number];

export function NextStarts({ upcoming: { rows, timezone } }: { readonly upcoming: UpcomingAnswer }) {
  const isElsewhere = timezone !== zone.value;
  return (
    <section>
      <h2>Next starts</h2>
      <Panel name="Next starts">
        {rows.length === 0 && <p class="soft">Nothing lies ahead.</p>}
        {rows.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">Start</th>
                {isElsewhere && <th scope="col">In {timezone}</th>}
                <th scope="col">Window</th>
                <th scope="col" class="number">
                  From now
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, place) => (
                <Start key={row.nominal} row={row} before={rows[place - 1]} timezone={timezone} />
              ))}
            </tbody>
          </table>
        )}
      </Panel>
    </section>
  );
}

interface StartProps {
  readonly row: Row;
  readonly before: Row | undefined;
  readonly timezone: string;
}

function Start({ row, before, timezone }: StartProps) {
  const isElsewhere = timezone !== zone.value;
  const change = before === undefined ? null : changeOf(before, row, timezone);
  return (
    <>
      {change !== null && (
        <tr>
          <td colSpan={isElsewhere ? 4 : 3} class="soft small">
            {change}
          </td>
        </tr>
      )}
      <tr>
        <td>{row.chosen === null ? "no second is left" : momentText(row.chosen)}</td>
        {isElsewhere && <td class="soft">{row.chosen === null ? "" : momentText(row.chosen, timezone)}</td>}
        <td>
          <WindowDrawing row={row} />
        </td>
        <td class="number soft">{row.chosen === null ? "" : distanceText(row.chosen)}</td>
      </tr>
    </>
  );
}

/** null: between the two the clocks stay as they are. */
function changeOf(before: Row, row: Row, timezone: string): string | null {
  const [from, to] = [offsetText(before.nominal, timezone), offsetText(row.nominal, timezone)];
  return from === to ? null : `The clocks of ${timezone} change here, from ${from} to ${to}.`;
}

const BAR_PX = 160;

function WindowDrawing({ row }: { readonly row: Row }) {
  const { windowStart, windowEnd, chosen } = row;
  if (windowStart === null || windowEnd === null || windowStart === windowEnd) return <span class="soft">–</span>;
  const [from, to] = [instantOf(windowStart), instantOf(windowEnd)];
  const x = chosen === null ? null : 1 + ((instantOf(chosen) - from) / (to - from)) * (BAR_PX - 2);
  return (
    <svg
      class="window-bar"
      viewBox={`0 0 ${BAR_PX} 14`}
      width={BAR_PX}
      height={14}
      role="img"
      aria-label={`${momentText(windowStart)} to ${momentText(windowEnd)}`}
    >
      <rect class="window" x={0} y={2} width={BAR_PX} height={10} rx={3} />
      {x !== null && <path class="chosen" d={`M${x} 0v14`} />}
    </svg>
  );
}
