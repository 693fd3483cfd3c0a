/** The machines of the daemon as they take their steps: who is there, where each is, what happened, and what changed by it. */
import { useEffect } from "preact/hooks";
import { query } from "../router.js";
import { called } from "./called.js";
import { ChartPanel } from "./chart-panel.js";
import { DetailsPanel } from "./details-panel.js";
import { EventsPanel } from "./events-panel.js";
import "./inspector.css";
import { brief } from "./names.js";
import { actor, identity, isOff, unwatch, view, watch } from "./store.js";
import { Standing, Toolbar } from "./toolbar.js";
import { TreePanel } from "./tree-panel.js";

export function Inspector() {
  useEffect(() => {
    identity.value = query.value.get("identity") ?? "";
    if (!isOff.value) watch();
    return unwatch;
  }, []);
  const shown = actor.value;
  return (
    <div class="inspector">
      <h1 tabIndex={-1}>Inspector</h1>
      <Toolbar />
      <Standing />
      <div class="columns">
        <TreePanel />
        <section class="chart" aria-labelledby="chart-title">
          <h2 id="chart-title">
            {shown === null ? "Chart" : shown.kind || brief(called(shown.sessionId), 40)}
            {shown !== null && shown.kind !== shown.sessionId && (
              <span class="soft"> {brief(called(shown.sessionId), 60)}</span>
            )}
          </h2>
          {shown === null ? (
            <p class="soft note">Nobody is there yet.</p>
          ) : (
            <ChartPanel actor={shown} world={view.value.world} />
          )}
        </section>
        <div class="side">
          <EventsPanel />
          <DetailsPanel />
        </div>
      </div>
    </div>
  );
}
