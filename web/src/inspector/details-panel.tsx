/** What the chosen actor knows, what it was told, and the STATE document of its job, each with what has changed. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { differences, hasDifferences } from "./differences.js";
import { isFields } from "./frames.js";
import { whenLaidOut } from "./laid-out.js";
import type { Moment } from "./moments.js";
import type { Recording } from "./recording.js";
import { actor, view } from "./store.js";
import { type Actor, familyOf, type Shown, type World } from "./world.js";

const TABS = [
  ["snapshot", "Snapshot"],
  ["event", "Event"],
  ["document", "Document"],
] as const;
type Tab = (typeof TABS)[number][0];
const TITLES: Readonly<Record<Tab, string>> = {
  snapshot: "What it knows",
  event: "The event",
  document: "STATE document",
};

const tab = signal<Tab>("snapshot");
const onlyChanges = signal(false);

export function DetailsPanel() {
  const { world, moment, recording } = view.value;
  const chosen = actor.value;
  const found = chosen === null ? null : contentOf(tab.value, chosen, world, moment?.moment ?? null, recording);
  return (
    <section class="details" aria-labelledby="details-title">
      <div class="head">
        <h2 id="details-title">{TITLES[tab.value]}</h2>
        <div class="tabs" role="group" aria-label="What of it is shown">
          {TABS.map(([id, name]) => (
            <button
              key={id}
              type="button"
              aria-pressed={tab.value === id}
              onClick={() => {
                tab.value = id;
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      {found === null || found.value === undefined ? (
        <p class="soft note">{found?.empty ?? "Nothing is known of it."}</p>
      ) : (
        <Content before={found.before} value={found.value} />
      )}
    </section>
  );
}

interface Content {
  readonly value: unknown;
  /** null: nothing to compare with. */
  readonly before: { readonly value: unknown } | null;
  readonly empty: string;
}

function contentOf(which: Tab, chosen: Actor, world: World, moment: Moment | null, recording: Recording): Content {
  if (which === "event") {
    const told = moment === null ? undefined : recording.frameAt(moment.first);
    const value = told === undefined || told.type === "@xstate.actor" ? undefined : told.event;
    return { value, before: null, empty: "Actors were found: that is no event." };
  }
  if (which === "snapshot")
    return { ...compared(chosen, ({ snapshot }) => snapshot.context), empty: "It knows nothing." };
  const job = world.actors.get(familyOf(world, chosen.sessionId)) ?? chosen;
  return { ...compared(job, documentOf), empty: "It belongs to no job: choose one, its period or its run." };
}

function compared({ now, before }: Actor, part: (shown: Shown) => unknown): Omit<Content, "empty"> {
  const was = before === null || now?.event == null ? undefined : part(before);
  return { value: now === null ? undefined : part(now), before: was === undefined ? null : { value: was } };
}

function documentOf({ snapshot: { context } }: Shown): unknown {
  return isFields(context) ? (context["document"] ?? undefined) : undefined;
}

/** Of what stands before the first line that is different. */
const BEFORE_PX = 60;

/** That line comes into view, and the panel alone is scrolled. */
function towardsChange(panel: HTMLDivElement | null): (() => void) | null {
  const line = panel?.querySelector<HTMLElement>(".added, .removed");
  if (!panel || !line) return null;
  const below = line.getBoundingClientRect().top - panel.getBoundingClientRect().top;
  return () => panel.scrollBy(0, below - BEFORE_PX);
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const SAID = { same: "", added: "now: ", removed: "before: " } as const;

function Content({ before, value }: { readonly before: Content["before"]; readonly value: unknown }) {
  const lines = differences(before, value);
  const count = lines.filter(({ mark }) => mark !== "same").length;
  const shown = onlyChanges.value && count > 0 ? lines.filter(({ mark }) => mark !== "same") : lines;
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => whenLaidOut(() => towardsChange(panel.current)), [before?.value, value]);
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={onlyChanges.value}
          disabled={!hasDifferences(lines)}
          onChange={(event) => {
            onlyChanges.value = event.currentTarget.checked;
          }}
        />
        Only what its last event changed ({count === 0 ? "nothing" : `${count} lines`})
      </label>
      <div class="pane json" role="region" tabIndex={0} aria-label="As JSON" ref={panel}>
        {shown.map(({ mark, depth, text }, index) => (
          <div key={index} class={mark} style={{ paddingLeft: `${24 + depth * 12}px` }}>
            <span class="sign" aria-hidden="true">
              {SIGNS[mark]}
            </span>
            <span class="hidden">{SAID[mark]}</span>
            {text}
          </div>
        ))}
      </div>
    </>
  );
}
