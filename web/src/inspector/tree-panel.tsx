/** The actors as a tree, with where each of them is. One stop of the Tab key; the arrows move in it. */
import { signal } from "@preact/signals";
import { called } from "./called.js";
import { rowAfter } from "./keys.js";
import { brief, ownName, stateText } from "./names.js";
import { actor, choose, hidden, hidesResting, view } from "./store.js";
import { isResting, type TreeRow, treeOf } from "./tree.js";
import { familyOf } from "./world.js";

const sought = signal("");
const NAME_CHARS = 30;

export function TreePanel() {
  const { world } = view.value;
  const { rows, leftOut } = treeOf(world, {
    text: sought.value,
    hidden: hidden.value,
    hidesResting: hidesResting.value,
    called,
  });
  const chosen = actor.value?.sessionId ?? null;
  const at = rows.findIndex((row) => row.actor.sessionId === chosen);
  const move = (event: KeyboardEvent): void => {
    const target = targetOf(event.key, at, rows);
    const row = rows[target ?? -1];
    if (row === undefined) return;
    event.preventDefault();
    choose(row.actor.sessionId);
    document.getElementById(rowId(target ?? 0))?.scrollIntoView({ block: "nearest" });
  };
  const more = leftOut + world.forgotten;
  return (
    <section class="actors" aria-labelledby="actors-title">
      <h2 id="actors-title">Actors</h2>
      <input
        type="search"
        aria-label="Find an actor"
        placeholder="Find an actor"
        value={sought.value}
        onInput={(event) => {
          sought.value = event.currentTarget.value;
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={hidesResting.value}
          onChange={(event) => {
            hidesResting.value = event.currentTarget.checked;
          }}
        />
        Hide jobs that rest
      </label>
      {rows.length === 0 ? (
        <p class="soft note">Nobody is there{sought.value === "" ? " yet" : ` whose name has “${sought.value}”`}.</p>
      ) : (
        <div
          class="pane tree"
          role="tree"
          tabIndex={0}
          aria-label="Actors"
          aria-activedescendant={at < 0 ? undefined : rowId(at)}
          onKeyDown={move}
        >
          {rows.map((row, index) => (
            <Row key={row.actor.sessionId} row={row} id={rowId(index)} isChosen={index === at} />
          ))}
        </div>
      )}
      {more > 0 && <p class="soft small">{more} more are not shown: say above whom to watch.</p>}
    </section>
  );
}

function rowId(index: number): string {
  return `actor-${index}`;
}

function targetOf(key: string, at: number, rows: readonly TreeRow[]): number | null {
  if (key === "ArrowLeft") return parentRow(at, rows);
  if (key === "ArrowRight") return (rows[at + 1]?.depth ?? 0) > (rows[at]?.depth ?? 0) ? at + 1 : null;
  return rowAfter(key, at, rows.length);
}

function parentRow(at: number, rows: readonly TreeRow[]): number | null {
  const depth = rows[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; above -= 1) if ((rows[above]?.depth ?? 0) < depth) return above;
  return null;
}

function Row({ row, id, isChosen }: { readonly row: TreeRow; readonly id: string; readonly isChosen: boolean }) {
  const { sessionId, kind, now } = row.actor;
  const { world, moment } = view.value;
  const status = now?.snapshot.status ?? "active";
  const isNew = moment !== null && now !== null && now.frame >= moment.moment.first && now.frame < moment.moment.end;
  const own = called(ownName(sessionId, familyOf(world, sessionId)));
  const state = isResting(row.actor) ? "rests" : stateText(now?.snapshot.value) || (status === "active" ? "" : status);
  const classes = ["actor", status === "active" ? "" : "over", isNew ? "new" : ""].filter((name) => name !== "");
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it hears the keys
    <div
      id={id}
      class={classes.join(" ")}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={isChosen}
      style={{ paddingLeft: `${8 + row.depth * 14}px` }}
      title={sessionId}
      onClick={() => choose(sessionId)}
    >
      <span class="who">
        {brief(own, NAME_CHARS - row.depth * 2)}
        {kind !== "" && kind !== own && <span class="kind">{kind}</span>}
      </span>
      <span class="where">{state}</span>
    </div>
  );
}
