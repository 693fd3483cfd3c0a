/** What has become of the daemon itself since it started: what it has read, and how its clock was moved. */
import { useEffect } from "preact/hooks";
import type { ChronicleShape } from "../../../src/operations/shapes/system.js";
import { useAsked, useChanges } from "../asked.js";
import type { Told } from "../shapes.js";
import { momentText, spanText } from "../time.js";
import { countText, Panel, Refused } from "./panel.js";
import { type Column, Line, Table } from "./table.js";

type Chronicle = Told<ChronicleShape>;
type Reload = Chronicle["reloads"][number];

interface Props {
  /** Another one whenever something has been reloaded here. */
  readonly revision: number;
}

export function ChroniclePart({ revision }: Props) {
  const asked = useAsked<Chronicle>("/system/chronicle");
  useEffect(() => {
    if (revision > 0) asked.again();
  }, [revision]);
  useChanges(() => true, asked.again, 5_000);
  const it = asked.it;
  return (
    <section>
      <h2>Since it started</h2>
      <Panel name="Since it started">
        <Refused text={asked.refusal} />
        {it !== null && (
          <>
            <dl class="pairs">
              <dt>Lock</dt>
              <dd>
                {it.lock.isHeld ? "held" : "given back"}: <code>{it.lock.place}</code>, since {momentText(it.bootedAt)}
              </dd>
              {it.storeBytes !== null && (
                <>
                  <dt>Store</dt>
                  <dd>{bytesText(it.storeBytes)}</dd>
                </>
              )}
              <dt>Zone data</dt>
              <dd>{it.zoneData}</dd>
              <dt>Clock</dt>
              <dd>{it.clockJumps.length === 0 ? "never jumped" : jumpsText(it.clockJumps)}</dd>
            </dl>
            {it.reloads.length === 0 ? <p class="soft">Nothing was reloaded.</p> : <Reloads rows={it.reloads} />}
          </>
        )}
      </Panel>
    </section>
  );
}

const MEGABYTE = 1_000_000;

/** With three digits that say something. */
function bytesText(bytes: number): string {
  const [size, unit] = bytes < 999.5 * MEGABYTE ? [bytes / MEGABYTE, "MB"] : [bytes / (1_000 * MEGABYTE), "GB"];
  return `${size < 100 ? Number(size.toPrecision(3)) : Math.round(size)} ${unit}`;
}

function jumpsText(jumps: Chronicle["clockJumps"]): string {
  const texts = jumps.map(({ at, jumpMs }) => {
    return `${jumpMs < 0 ? "back" : "forward"} by ${spanText(Math.abs(jumpMs))} at ${momentText(at)}`;
  });
  return texts.join(" · ");
}

const RELOADS: readonly Column[] = [
  ["Reloaded", "who"],
  ["Took", "number"],
  ["What it changed", "why"],
];

function Reloads({ rows }: { readonly rows: readonly Reload[] }) {
  return (
    <Table columns={RELOADS}>
      {rows.map((row) => (
        <Line
          key={row.at}
          columns={RELOADS}
          cells={[
            momentText(row.at),
            spanText(row.tookMs),
            row.failure === null ? changesText(row) : <span class="refusal">{row.failure}</span>,
          ]}
        />
      ))}
    </Table>
  );
}

function changesText({ added, removed, changed, unchanged, kept, problems }: Reload): string {
  const counts = [
    [added, "added"],
    [removed, "removed"],
    [changed, "changed"],
    [kept, "kept as they were, for they could not be read"],
    [problems, problems === 1 ? "problem" : "problems"],
  ] as const;
  const told = counts.filter(([count]) => count > 0).map(([count, what]) => `${countText(count)} ${what}`);
  return [...told, `${countText(unchanged)} as they were`].join(", ");
}
