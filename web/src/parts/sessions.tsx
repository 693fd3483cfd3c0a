/** Who is logged in on the page of this daemon. */
import { useSignal } from "@preact/signals";
import type { SessionTold } from "../../../src/api/web/shapes.js";
import { useAsked } from "../asked.js";
import { send } from "../data.js";
import { logOut } from "../session.js";
import { spanText } from "../time.js";
import { Panel, Refused } from "./panel.js";
import { Sure } from "./sure.js";

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
        <table class="broad">
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">By</th>
              <th scope="col">May</th>
              <th scope="col">Since</th>
              <th scope="col">Last asked</th>
              <th scope="col">Ends by itself</th>
              <th scope="col">
                <span class="hidden">What can be done</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {(asked.it?.rows ?? []).map((row) => (
              <tr key={row.id}>
                <td>
                  <code>{row.id.slice(0, 8)}</code>
                  {row.isOwn && <span class="soft"> this one</span>}
                </td>
                <td>{row.keyId === null ? "a link" : `key ${row.keyId}`}</td>
                <td>
                  {row.scope}
                  {row.tenant !== null && ` of ${row.tenant}`}
                </td>
                <td>{spanText(row.openForMs)} ago</td>
                <td>{row.idleForMs < 1_000 ? "now" : `${spanText(row.idleForMs)} ago`}</td>
                <td>in {spanText(row.endsInMs)}</td>
                <td class="number">
                  <Sure name="End" of={row.id.slice(0, 8)} question="Now?" onSure={() => end(row)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <div class="bar">
          <button type="button" onClick={asked.again}>
            Look again
          </button>
        </div>
      </Panel>
    </section>
  );
}
