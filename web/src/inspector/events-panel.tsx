/** What has happened, the newest last, and between whom: a list and a drawing of the same moments. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { called } from "./called.js";
import { rowAfter } from "./keys.js";
import { whenLaidOut } from "./laid-out.js";
import type { Moment } from "./moments.js";
import { brief, clockText, ownName } from "./names.js";
import { OTHERS, sequenceOf } from "./sequence.js";
import { cursor, lookAt, onlyFamily, view, wantedAround } from "./store.js";

type Shown = "list" | "sequence";
const shown = signal<Shown>("list");
const MOST = 160;
/** While it happens; whoever wants to read stands still. */
const MOST_LIVE = 60;
const NAME_CHARS = 24;

interface Numbered {
  readonly number: number;
  readonly moment: Moment;
}

export function EventsPanel() {
  const { moment } = view.value;
  const around = moment === null ? [] : wantedAround(moment.number, cursor.value === null ? MOST_LIVE : MOST);
  return (
    <section class="events" aria-labelledby="events-title">
      <div class="head">
        <h2 id="events-title">What happened</h2>
        <div class="tabs" role="group" aria-label="How it is shown">
          <Choice value="list" name="Events" />
          <Choice value="sequence" name="Sequence" />
        </div>
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={onlyFamily.value}
          onChange={(event) => {
            onlyFamily.value = event.currentTarget.checked;
          }}
        />
        Only around the chosen actor
      </label>
      {around.length === 0 && <p class="soft note">Nothing yet: run a job, or wait until one is due.</p>}
      {around.length > 0 && shown.value === "list" && <List moments={around} at={moment?.number ?? 0} />}
      {around.length > 0 && shown.value === "sequence" && <SequenceDrawing moments={around} at={moment?.number ?? 0} />}
    </section>
  );
}

function Choice({ value, name }: { readonly value: Shown; readonly name: string }) {
  return (
    <button
      type="button"
      aria-pressed={shown.value === value}
      onClick={() => {
        shown.value = value;
      }}
    >
      {name}
    </button>
  );
}

interface MomentsProps {
  readonly moments: readonly Numbered[];
  /** Number of the moment that is looked at. */
  readonly at: number;
}

function List({ moments, at }: MomentsProps) {
  const list = useRef<HTMLDivElement>(null);
  const index = moments.findIndex(({ number }) => number === at);
  useLayoutEffect(() => whenLaidOut(() => towardsRow(list.current)), [at, moments.length]);
  const move = (event: KeyboardEvent): void => {
    const to = rowAfter(event.key, index < 0 ? moments.length - 1 : index, moments.length);
    const target = moments[to ?? -1];
    if (target === undefined) return;
    event.preventDefault();
    lookAt(target.number);
  };
  return (
    <div
      class="pane list"
      role="listbox"
      tabIndex={0}
      aria-label="Events, the newest last"
      aria-activedescendant={index < 0 ? undefined : `event-${at}`}
      ref={list}
      onKeyDown={move}
    >
      {moments.map(({ number, moment }) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the list around it hears the keys
        <div
          key={number}
          id={`event-${number}`}
          role="option"
          aria-selected={number === at}
          class={number > at && cursor.value !== null ? "event ahead" : "event"}
          onClick={() => lookAt(number)}
        >
          <span class="time">{clockText(moment.at)}</span> <Words moment={moment} />
        </div>
      ))}
    </div>
  );
}

/** Scrolls the list alone, never the page. */
function towardsRow(list: HTMLElement | null): (() => void) | null {
  const row = list?.querySelector('[aria-selected="true"]');
  if (!list || !row) return null;
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < outer.top) return () => list.scrollBy(0, inner.top - outer.top - outer.height / 3);
  if (inner.bottom <= outer.bottom) return null;
  return () => list.scrollBy(0, inner.bottom - outer.bottom + (cursor.value === null ? 0 : outer.height / 3));
}

function Words({ moment }: { readonly moment: Moment }) {
  const { sessionId, sourceId, event, born, family, first, end } = moment;
  if (event === null) {
    const count = Math.max(born.length, end - first);
    return (
      <span class="soft">
        {count === 1 ? `${brief(called(sessionId), NAME_CHARS)} is there` : `${count} actors are there`}
      </span>
    );
  }
  const isRun = moment.kind === "execution";
  const name = isRun ? `run ${sessionId.slice(-6)}` : brief(called(ownName(sessionId, family)), NAME_CHARS);
  return (
    <>
      {sourceId !== null && (
        <span class="soft">{sourceId.length > 14 ? `run ${sourceId.slice(-6)}` : sourceId} → </span>
      )}
      <strong>{event}</strong> <span class="soft">{name}</span>
    </>
  );
}

const LANE = 62;
const ROW = 24;
const HEAD = 52;
const CLOCK = 4;
const BESIDE = 76;

/** Lanes from left to right, time from top to bottom. The list beside it says the same in words. */
function SequenceDrawing({ moments, at }: MomentsProps) {
  const before = moments.filter(({ number }) => number <= at);
  const { lanes, arrows } = sequenceOf(before);
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    whenLaidOut(() => {
      const drawing = panel.current;
      const end = drawing?.scrollHeight ?? 0;
      return drawing && (() => drawing.scrollTo(0, end));
    });
  }, [at, arrows.length]);
  if (arrows.length === 0) return <p class="soft note">Nobody has told anybody anything yet.</p>;
  // What the last lane tells itself is written beside it.
  const [width, height] = [CLOCK + lanes.length * LANE + BESIDE, arrows.length * ROW + 10];
  const last = arrows.at(-1);
  const said = `${arrows.length} messages between ${lanes.length} actors, the last one ${last?.label ?? ""}`;
  return (
    <div class="pane sequence" role="region" tabIndex={0} aria-label="Sequence between actors" ref={panel}>
      <svg class="lanes" viewBox={`0 0 ${width} ${HEAD}`} width={width} height={HEAD} aria-hidden="true">
        {lanes.map((lane, index) => (
          <text key={lane} class="lane" x={laneX(index)} y={16} text-anchor="middle">
            {nameLines(lane).map((line, row) => (
              <tspan key={row} x={laneX(index)} dy={row === 0 ? 0 : 13}>
                {line}
              </tspan>
            ))}
          </text>
        ))}
      </svg>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={said}>
        <defs>
          <marker
            id="told"
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
        </defs>
        {lanes.map((lane, index) => (
          <line key={lane} class="lane" x1={laneX(index)} x2={laneX(index)} y1={0} y2={height} />
        ))}
        {arrows.map(({ from, to, label, moment, isBirth }, row) => (
          <Told
            key={`${moment}-${row}`}
            fromX={laneX(from)}
            toX={laneX(to)}
            y={row * ROW + 18}
            label={label}
            kind={isBirth ? "birth" : moment === at ? "current" : ""}
          />
        ))}
      </svg>
    </div>
  );
}

function laneX(index: number): number {
  return CLOCK + index * LANE + LANE / 2;
}

/** In at most three lines: what is in common goes first. */
function nameLines(lane: string): readonly string[] {
  if (lane === OTHERS) return ["others"];
  const at = lane.lastIndexOf("@");
  if (at > 0) return ["period", lane.slice(at + 6, at + 11), lane.slice(at + 12)];
  const kind = view.value.world.actors.get(lane)?.kind ?? "";
  return kind === "" || kind === lane
    ? [brief(lane, 10)]
    : [kind, kind === "execution" ? lane.slice(-6) : brief(called(lane), 10)];
}

interface ToldProps {
  readonly fromX: number;
  readonly toX: number;
  readonly y: number;
  readonly label: string;
  readonly kind: string;
}

function Told({ fromX, toX, y, label, kind }: ToldProps) {
  const isSelf = fromX === toX;
  const middle = isSelf ? fromX + 8 : (fromX + toX) / 2;
  const path = isSelf ? `M${fromX} ${y - 6}h14v8H${fromX + 2}` : `M${fromX} ${y}H${toX + (toX > fromX ? -2 : 2)}`;
  return (
    <g class={`told ${kind}`}>
      <path d={path} marker-end="url(#told)" />
      <text x={isSelf ? fromX + 18 : middle} y={isSelf ? y + 2 : y - 4} text-anchor={isSelf ? "start" : "middle"}>
        {label}
      </text>
    </g>
  );
}
