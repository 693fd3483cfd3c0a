import type { AnyStateMachine } from "xstate";
import type { ChartLayout } from "../../web/src/inspector/chart-layout.js";

/** The same machine gives the same layout. */
export function layoutOf(machine: AnyStateMachine): Promise<Omit<ChartLayout, "hash">>;
