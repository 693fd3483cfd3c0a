/** The nodes that share the store, as each says of itself. */
import type { NodeTold } from "../shapes.js";
import { instantOf, nowMs, spanText } from "../time.js";
import { countText, Panel } from "./panel.js";
import { type Column, Line, Table } from "./table.js";

const COLUMNS: readonly Column[] = [["Node", "who"], ["Jobs"], ["Running"], ["Shards"], ["Up for"], ["Version"]];

export function Nodes({ own, nodes }: { readonly own: string; readonly nodes: readonly NodeTold[] }) {
  return (
    <section>
      <h2>Nodes</h2>
      <Panel name="Nodes">
        <Table columns={COLUMNS}>
          {nodes.map((row) => (
            <Line
              key={row.node}
              columns={COLUMNS}
              cells={[
                <>
                  {row.node}
                  {row.node === own && <span class="soft"> this one</span>}
                  {row.isDraining && <span class="soft"> is drained</span>}
                  {!row.isAnswering && <span class="refusal"> does not answer</span>}
                </>,
                row.jobs === null ? "–" : countText(row.jobs),
                row.active === null ? "–" : countText(row.active),
                row.shards,
                spanText(nowMs.value - instantOf(row.startedAt)),
                row.version,
              ]}
            />
          ))}
        </Table>
      </Panel>
    </section>
  );
}
