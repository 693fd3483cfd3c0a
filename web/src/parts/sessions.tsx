/** Who is logged in on the page of this daemon. */
import { useSignal } from "@preact/signals";
import type { SessionTold } from "../../../src/api/web/shapes.js";
import { useAsked } from "../asked.js";
import { send } from "../data.js";
import { logOut } from "../session.js";
import { spanText } from "../time.js";
import { Panel, Refused } from "./panel.js";
import { Sure } from "./sure.js";
import { type Column, Line, Table } from "./table.js";

const COLUMNS: readonly Column[] = [
  ["Session", "who"],
  ["By"],
  ["May"],
  ["Since"],
  ["Last asked"],
  ["Ends by itself"],
  ["What can be done", "deeds"],
];

function agoText(ms: number): string {
  return ms < 1_000 ? "now" : `${spanText(ms)} ago`;
}

export function Sessions() {
  const asked = useAsked<{ readonly rows: readonly SessionTold[] }>("/web/sessions");
  const refusal = useSignal<string | null>(null);
  function end({ id, isOwn }: SessionTold): void {
    if (isOwn) {
      void logOut();
      return;
    }
    send("DELETE", `/web/sessions/${id}`)
      .then(
        () => {
          refusal.value = null;
        },
        (error: Error) => {
          refusal.value = error.message;
        },
      )
      .finally(asked.again);
  }
  return (
    <section>
      <h2>Who is logged in</h2>
      <Panel name="Who is logged in">
        <Refused text={asked.refusal ?? refusal.value} />
        <Table columns={COLUMNS}>
          {(asked.it?.rows ?? []).map((row) => (
            <Line
              key={row.id}
              columns={COLUMNS}
              cells={[
                <>
                  <code>{row.id.slice(0, 8)}</code>
                  {row.isOwn && <span class="soft"> this one</span>}
                </>,
                row.keyId === null ? "a link" : `key ${row.keyId}`,
                `${row.scope}${row.tenant === null ? "" : ` of ${row.tenant}`}`,
                agoText(row.openForMs),
                agoText(row.idleForMs),
                `in ${spanText(row.endsInMs)}`,
                <Sure key="end" name="End" of={row.id.slice(0, 8)} question="Now?" onSure={() => end(row)} />,
              ]}
            />
          ))}
        </Table>
        <div class="bar">
          <button type="button" onClick={asked.again}>
            Look again
          </button>
        </div>
      </Panel>
    </section>
  );
}
