/** The charts as they were laid out when Kron was built: they are loaded when one is first shown. */
import { signal } from "@preact/signals";
import { type ChartLayout, type KeptLayout, unpacked } from "./chart-layout.js";
import type { Chart } from "./world.js";

const loaded = signal<ReadonlyMap<string, ChartLayout> | undefined>(undefined);
let isAsked = false;

/** Afterwards all are here. */
export async function loadLayouts(): Promise<void> {
  isAsked = true;
  const { KEPT_LAYOUTS } = await import("./kept-layouts.js");
  const kept = Object.entries(KEPT_LAYOUTS);
  loaded.value = new Map(kept.map(([kind, layout]) => [kind, unpacked(layout as KeptLayout)]));
}

/** null: none, or one of another version, whose drawing would be wrong; undefined: it is under way. */
export function layoutOf(kind: string, chart: Chart | undefined): ChartLayout | null | undefined {
  if (loaded.value === undefined) {
    if (!isAsked) void loadLayouts();
    return undefined;
  }
  const own = loaded.value.get(kind);
  return own !== undefined && (chart === undefined || chart.hash === own.hash) ? own : null;
}
