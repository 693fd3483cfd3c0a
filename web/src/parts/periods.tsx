/** The last periods of a job, a row each: what became of them, and when. A row that is opened tells the rest. */
import { type Signal, useSignal } from "@preact/signals";
import { outcomeOfRow, outcomeText, reasonText } from "../outcome.js";
import type { HistoryRow } from "../shapes.js";
import { clockText, lengthText, momentText } from "../time.js";
import { Mark } from "./mark.js";
import { Opener, WhatHappened } from "./opened.js";
import { Panel } from "./panel.js";
import { lengthMs } from "./strip.js";
import { type Column, Line, Table, WideLine } from "./table.js";

const ROWS = 20;

interface Props {
  readonly identity: string;
  readonly rows: readonly HistoryRow[];
  /** The rest of the page is to tell of this one. */
  onPick(periodId: string): void;
}

export function Periods({ identity, rows, onPick }: Props) {
  const opened = useSignal<string | null>(null);
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>Periods</h2>
      <Panel name="Periods">
        <Table columns={COLUMNS}>
          {rows.slice(0, ROWS).map((row) => (
            <Period key={keyOf(row)} identity={identity} row={row} opened={opened} onPick={onPick} />
          ))}
        </Table>
      </Panel>
    </section>
  );
}

const COLUMNS: readonly Column[] = [
  ["Outcome", "tight who"],
  ["Meant for"],
  ["Chosen"],
  ["Started"],
  ["Ended"],
  ["Took", "number"],
  ["How", "why soft"],
];
/** That somebody has paused a job is no period: there is nothing more to tell of it. */
const WITHOUT_PERIOD: readonly string[] = ["paused", "resumed"];

function keyOf({ periodId, source, startedAt, outcome }: HistoryRow): string {
  return `${periodId} ${source} ${startedAt} ${outcome === "executed" ? "" : outcome}`;
}

interface PeriodProps extends Pick<Props, "identity" | "onPick"> {
  readonly row: HistoryRow;
  /** The row that is open, of all of them. */
  readonly opened: Signal<string | null>;
}

function Period({ identity, row, opened, onPick }: PeriodProps) {
  const outcome = outcomeOfRow(row);
  const ms = lengthMs(row);
  const clock = (moment: string | null) => (moment === null ? null : clockText(moment));
  const key = keyOf(row);
  const isOpen = opened.value === key;
  return (
    <>
      <Line
        columns={COLUMNS}
        cells={[
          <>
            <Mark outcome={outcome} isNamed={false} />{" "}
            {WITHOUT_PERIOD.includes(row.outcome) ? (
              row.outcome
            ) : (
              <Opener
                isOpen={isOpen}
                onTurn={() => {
                  opened.value = isOpen ? null : key;
                }}
              >
                {outcomeText(outcome)}
              </Opener>
            )}
          </>,
          momentText(row.periodId),
          clock(row.chosenTime),
          clock(row.startedAt),
          clock(row.endedAt),
          ms === null ? null : lengthText(ms),
          howText(row) || null,
        ]}
      />
      {isOpen && (
        <WideLine columns={COLUMNS} looks="opened">
          <WhatHappened identity={identity} periodId={row.periodId} />
          <button type="button" onClick={() => onPick(row.periodId)}>
            How its second was chosen, and its output
          </button>
        </WideLine>
      )}
    </>
  );
}

function howText({ reason, exitCode, signal, source, status }: HistoryRow): string {
  const texts = [
    ...(source === null ? [] : [source]),
    ...(reason === null ? [] : [reasonText(reason)]),
    ...(signal === null ? [] : [signal]),
    ...(exitCode === null || exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(status == null ? [] : [`status ${status}`]),
  ];
  return texts.join(", ");
}
