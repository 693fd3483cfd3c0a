/** The chart of an actor, with where it is and how it came there; of a chart that nobody has drawn, its states in a list. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { type ChartLayout, type Line, type Mark, pathData, pathsOf, type StateBox } from "./chart-layout.js";
import { NOTHING_TAKEN, type Taken, takenOf } from "./chart-taken.js";
import { isFields } from "./frames.js";
import { whenLaidOut } from "./laid-out.js";
import { layoutOf } from "./layouts.js";
import { stateText } from "./names.js";
import type { Actor, Chart, World } from "./world.js";

interface Lit {
  readonly active: ReadonlySet<string>;
  readonly taken: Taken;
}

export function ChartPanel({ actor, world }: { readonly actor: Actor; readonly world: World }) {
  const chart = world.charts.get(actor.kind);
  const layout = layoutOf(actor.kind, chart);
  const value = actor.now?.snapshot.value;
  const panel = useRef<HTMLDivElement>(null);
  const state = stateText(value);
  useLayoutEffect(() => whenLaidOut(() => towardsState(panel.current)), [actor.sessionId, state, layout === undefined]);
  const lit = layout == null || value === undefined ? null : litIn(layout, actor);
  const taken = lit === null ? [] : [...lit.taken.lines.values()].flat().filter((label) => label !== "");
  const how = taken.length === 0 ? "" : `, by ${taken.join(", ")}`;
  return (
    <>
      {state !== "" && (
        <p class="soft small caption">
          {state}
          {how}
        </p>
      )}
      <div
        class="pane drawing"
        role="region"
        tabIndex={0}
        aria-label={`Chart of ${actor.kind || "this actor"}`}
        ref={panel}
      >
        {layout === undefined && <p class="soft note">…</p>}
        {layout != null && lit !== null && (
          <Drawing layout={layout} lit={lit} said={`State chart ${layout.id}, now in ${state}${how}`} />
        )}
        {layout !== undefined && lit === null && <Outline actor={actor} chart={chart} />}
      </div>
    </>
  );
}

function litIn(layout: ChartLayout, { now, before }: Actor): Lit {
  const active = pathsOf(now?.snapshot.value);
  if (now?.event == null || before === null) return { active, taken: NOTHING_TAKEN };
  const was = pathsOf(before.snapshot.value);
  const hasChanged = JSON.stringify(before.snapshot.context) !== JSON.stringify(now.snapshot.context);
  return { active, taken: takenOf(layout, { was, is: active, event: now.event.type, hasChanged }) };
}

/** What led to a state is near it, and is to be seen too. */
const AROUND = 70;

/** The innermost active state, with room around it. */
function towardsState(panel: HTMLDivElement | null): (() => void) | null {
  const box = panel?.querySelector<SVGGElement>("g.leaf.on");
  if (!panel || !box) return null;
  const [outer, inner] = [panel.getBoundingClientRect(), box.getBoundingClientRect()];
  const isSeen = (from: number, to: number, start: number, end: number): boolean => {
    return from >= start + AROUND && to <= end - AROUND;
  };
  const [isHigh, isWide] = [
    isSeen(inner.top, inner.bottom, outer.top, outer.bottom),
    isSeen(inner.left, inner.right, outer.left, outer.right),
  ];
  const down = isHigh ? 0 : inner.top - outer.top - (outer.height - inner.height) / 2;
  const across = isWide ? 0 : inner.left - outer.left - (outer.width - inner.width) / 2;
  return down === 0 && across === 0 ? null : () => panel.scrollBy(across, down);
}

/** Room around what is drawn. */
const MARGIN = 4;

function Drawing({ layout, lit, said }: { readonly layout: ChartLayout; readonly lit: Lit; readonly said: string }) {
  const [width = 0, height = 0] = layout.size;
  const parents = new Set(layout.nodes.map(([id]) => id.split(".").slice(0, -1).join(".")));
  const own = layout.nodes.map(([id]) => layout.marks.filter(([box]) => layout.nodes[box]?.[0] === id));
  const lines = layout.edges.map((line, index) => ({ line, labels: lit.taken.lines.get(index) ?? null }));
  const inOrder = [...lines.filter(({ labels }) => labels === null), ...lines.filter(({ labels }) => labels !== null)];
  return (
    <svg
      viewBox={`0 0 ${width + MARGIN} ${height + MARGIN}`}
      width={width + MARGIN}
      height={height + MARGIN}
      role="img"
      aria-label={said}
    >
      <defs>
        <Tip id="tip" />
        <Tip id="tip-lit" />
      </defs>
      {layout.nodes.map((box, index) => (
        <Box
          key={box[0]}
          name={box[0] === "" ? layout.id : (box[0].split(".").at(-1) ?? "")}
          box={box}
          isOuter={parents.has(box[0]) && (box[0] !== "" || layout.nodes.length > 1)}
          isOn={lit.active.has(box[0])}
          lit={(own[index] ?? []).filter((mark) => lit.taken.marks.has(layout.marks.indexOf(mark)))}
        />
      ))}
      {inOrder.map(({ line, labels }) => (
        <Arrow key={`${line[0]}>${line[1]}`} line={line} taken={labels} />
      ))}
    </svg>
  );
}

function Tip({ id }: { readonly id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="7"
      markerHeight="7"
      orient="auto"
      markerUnits="userSpaceOnUse"
    >
      <path d="M0 .8L7.5 4L0 7.2z" />
    </marker>
  );
}

interface BoxProps {
  readonly name: string;
  readonly box: StateBox;
  readonly isOuter: boolean;
  readonly isOn: boolean;
  /** Rows that were taken. */
  readonly lit: readonly Mark[];
}

function Box({ name, box: [id, type, isInitial, x, y, width, height, rows], isOuter, isOn, lit }: BoxProps) {
  const isLit = (row: number): boolean => lit.some(([, first, count]) => row >= first && row < first + count);
  const kinds = [isOuter ? "outer" : "leaf", id === "" ? "root" : "", isOn ? "on" : "", type];
  const indent = isInitial === 1 ? 19 : 10;
  return (
    <g class={kinds.filter((kind) => kind !== "").join(" ")}>
      <rect x={x} y={y} width={width} height={height} rx={6} />
      {type === "final" && <rect x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={4} />}
      {isInitial === 1 && <circle cx={x + 11} cy={y + 12.5} r={3.2} />}
      <text class="title" x={x + indent} y={y + 17}>
        {name}
      </text>
      {rows.map((row, index) => (
        <text key={index} class={isLit(index) ? "row lit" : "row"} x={x + 10} y={y + 34 + index * 14}>
          {row}
        </text>
      ))}
    </g>
  );
}

function Arrow({ line, taken }: { readonly line: Line; readonly taken: readonly string[] | null }) {
  const [, , labels, points, labelAt] = line;
  const isLit = taken !== null;
  return (
    <g class={isLit ? "arrow lit" : "arrow"}>
      <path d={pathData(points)} marker-end={isLit ? "url(#tip-lit)" : "url(#tip)"} />
      {labels.map((label, index) => (
        <text
          key={label}
          class={taken?.includes(label) ? "lit" : undefined}
          x={(labelAt?.[0] ?? 0) + 2}
          y={(labelAt?.[1] ?? 0) + 11 + index * 14}
        >
          {label}
        </text>
      ))}
    </g>
  );
}

/** Of an actor without a drawing: what is known of it in words. */
function Outline({ actor, chart }: { readonly actor: Actor; readonly chart: Chart | undefined }) {
  const value = actor.now?.snapshot.value;
  if (chart === undefined) {
    return <p class="soft note">{value === undefined ? "This actor has no chart." : `In ${stateText(value)}.`}</p>;
  }
  return (
    <div class="outline">
      <p class="soft">This chart is of another version: its states, and where it is.</p>
      <States config={chart.config} active={pathsOf(value)} path="" />
    </div>
  );
}

interface StatesProps {
  readonly config: Readonly<Record<string, unknown>>;
  readonly active: ReadonlySet<string>;
  readonly path: string;
}

function States({ config, active, path }: StatesProps) {
  const states = isFields(config["states"]) ? Object.entries(config["states"]) : [];
  if (states.length === 0) return null;
  return (
    <ul>
      {states.map(([key, inner]) => {
        const id = path === "" ? key : `${path}.${key}`;
        return (
          <li key={key}>
            {active.has(id) ? <strong aria-current="true">{key}</strong> : key}
            {isFields(inner) && <States config={inner} active={active} path={id} />}
          </li>
        );
      })}
    </ul>
  );
}
