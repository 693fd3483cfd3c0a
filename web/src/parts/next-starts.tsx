/** What lies ahead of a job: its next starts with their windows, and what a change of the clocks does to them. */
import type { UpcomingAnswer } from "../shapes.js";
import { distanceText, instantOf, momentText, offsetText, zone } from "../time.js";
import { Panel } from "./panel.js";
import { type Column, Line, Table, WideLine } from "./table.js";

type Row = UpcomingAnswer["rows"][number];

/** `empty`: of one of which nothing is known beforehand. */
interface Props {
  readonly upcoming: UpcomingAnswer;
  readonly empty: string;
}

export function NextStarts({ upcoming: { rows, timezone }, empty }: Props) {
  const columns: readonly Column[] = [
    ["Start", "bare"],
    ...(timezone === zone.value ? [] : [[`In ${timezone}`, "soft"] as const]),
    ["Window", "drawn"],
    ["From now", "number soft below"],
  ];
  return (
    <section>
      <h2>Next starts</h2>
      <Panel name="Next starts">
        {rows.length === 0 && <p class="soft">{empty}</p>}
        {rows.length > 0 && (
          <Table columns={columns}>
            {rows.map((row, place) => (
              <Start key={row.nominal} row={row} before={rows[place - 1]} timezone={timezone} columns={columns} />
            ))}
          </Table>
        )}
      </Panel>
    </section>
  );
}

interface StartProps {
  readonly row: Row;
  readonly before: Row | undefined;
  readonly timezone: string;
  readonly columns: readonly Column[];
}

function Start({ row, before, timezone, columns }: StartProps) {
  const { chosen } = row;
  const change = before === undefined ? null : changeOf(before, row, timezone);
  return (
    <>
      {change !== null && (
        <WideLine columns={columns} looks="soft small">
          {change}
        </WideLine>
      )}
      <Line
        columns={columns}
        cells={[
          chosen === null ? "no second is left" : momentText(chosen),
          ...(timezone === zone.value ? [] : [chosen === null ? null : momentText(chosen, timezone)]),
          <WindowDrawing key="window" row={row} />,
          chosen === null ? null : distanceText(chosen),
        ]}
      />
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
