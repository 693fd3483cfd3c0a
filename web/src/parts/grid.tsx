/** A grid of very many rows, of which only those in view exist. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ROW_PX, viewOf } from "../view.js";

export interface Column {
  /** By which the style finds it. */
  readonly key: string;
  /** By which it can be sorted; absent: it cannot. */
  readonly sort?: string;
  /** What there is most of comes first, where nothing else is asked for. */
  readonly isMostFirst?: boolean;
  readonly name: string;
}

export interface GridProps {
  readonly label: string;
  readonly total: number;
  readonly columns: readonly Column[];
  readonly sort: string;
  readonly isReversed: boolean;
  onSort(sort: string): void;
  /** Cells of a row, in the order of the columns. */
  row(index: number): readonly (JSX.Element | string)[];
  /** What a key does to the row under the cursor; false: nothing. */
  onKey(key: string, index: number): boolean;
  onOpen(index: number): void;
  /** Rows that are in view now. */
  onView(first: number, end: number): void;
}

const LINE_PX = 31;

export function Grid(props: GridProps) {
  const { total } = props;
  const box = useRef<HTMLDivElement>(null);
  const scrollPx = useSignal(0);
  const heightPx = useSignal(560);
  const cursor = useSignal(0);
  useEffect(() => {
    const watch = new ResizeObserver(() => {
      heightPx.value = (box.current?.clientHeight ?? 0) - LINE_PX;
    });
    if (box.current !== null) watch.observe(box.current);
    return () => watch.disconnect();
  }, [heightPx]);
  const view = viewOf(total, scrollPx.value, heightPx.value);
  const { onView } = props;
  useEffect(() => onView(view.first, view.end), [onView, view.first, view.end]);
  const at = Math.min(cursor.value, Math.max(0, total - 1));

  function move(index: number): void {
    cursor.value = Math.max(0, Math.min(total - 1, index));
    if (box.current !== null) box.current.scrollTop = view.scrollFor(cursor.value, box.current.scrollTop);
  }
  function press(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(heightPx.value / ROW_PX) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowUp: -1,
      ArrowDown: 1,
      PageUp: -page,
      PageDown: page,
      Home: -total,
      End: total,
    };
    const step = steps[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || total === 0) return;
    // The buttons by which it is sorted have keys of their own.
    if (event.target instanceof Element && event.target.closest(".head") !== null) return;
    if (step !== undefined) move(at + step);
    else if (event.key === "Enter") props.onOpen(at);
    else if (!props.onKey(event.key, at)) return;
    event.preventDefault();
  }
  return (
    <div
      class="grid"
      data-sort={props.sort}
      ref={box}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={total + 1}
      aria-activedescendant={total === 0 ? undefined : `row-${at}`}
      onKeyDown={press}
      onScroll={() => {
        scrollPx.value = box.current?.scrollTop ?? 0;
      }}
    >
      <Head {...props} />
      <div role="rowgroup" class="rows" style={{ height: `${view.heightPx}px` }}>
        {Array.from({ length: view.end - view.first }, (_, offset) => {
          const index = view.first + offset;
          return (
            <Row
              key={index}
              index={index}
              topPx={view.topPx + offset * ROW_PX}
              isAt={index === at}
              cells={props.row(index)}
              columns={props.columns}
              onPoint={() => {
                cursor.value = index;
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head({ columns, sort, isReversed, onSort }: GridProps) {
  return (
    <div class="cells head" role="row" aria-rowindex={1}>
      {columns.map((column) => {
        const isSorted = column.sort === sort;
        const isDown = isReversed !== (column.isMostFirst ?? false);
        const order = isSorted ? (isDown ? "descending" : "ascending") : undefined;
        return (
          <span key={column.key} role="columnheader" data-column={column.key} aria-sort={order}>
            {column.sort === undefined ? (
              column.name
            ) : (
              <button type="button" class="plain" onClick={() => onSort(column.sort ?? "")}>
                {column.name}
                {isSorted && <span aria-hidden="true">{isDown ? " ▼" : " ▲"}</span>}
              </button>
            )}
          </span>
        );
      })}
    </div>
  );
}

interface RowProps {
  readonly index: number;
  readonly topPx: number;
  readonly isAt: boolean;
  readonly cells: readonly (JSX.Element | string)[];
  readonly columns: readonly Column[];
  onPoint(): void;
}

function Row({ index, topPx, isAt, cells, columns, onPoint }: RowProps) {
  return (
    // The grid itself has the keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid itself has the keys
    <div
      class="cells row"
      role="row"
      id={`row-${index}`}
      aria-rowindex={index + 2}
      aria-selected={isAt}
      onClick={onPoint}
      style={{ top: `${topPx}px` }}
    >
      {columns.map(({ key }, place) => (
        <span key={key} role="gridcell" data-column={key}>
          {cells[place]}
        </span>
      ))}
    </div>
  );
}
