/** The nodes that share the store, as each says of itself. */
import type { NodeTold } from "../shapes.js";
import { instantOf, nowMs, spanText } from "../time.js";
import { countText, Panel } from "./panel.js";

export function Nodes({ own, nodes }: { readonly own: string; readonly nodes: readonly NodeTold[] }) {
  return (
    <section>
      <h2>Nodes</h2>
      <Panel name="Nodes">
        <table class="broad">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Jobs</th>
              <th scope="col">Running</th>
              <th scope="col">Shards</th>
              <th scope="col">Up for</th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((row) => (
              <tr key={row.node}>
                <td>
                  {row.node}
                  {row.node === own && <span class="soft"> this one</span>}
                  {row.isDraining && <span class="soft"> is drained</span>}
                  {!row.isAnswering && <span class="refusal"> does not answer</span>}
                </td>
                <td>{row.jobs === null ? "–" : countText(row.jobs)}</td>
                <td>{row.active === null ? "–" : countText(row.active)}</td>
                <td>{row.shards}</td>
                <td>{spanText(nowMs.value - instantOf(row.startedAt))}</td>
                <td>{row.version}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </section>
  );
}
