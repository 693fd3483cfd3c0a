/**
 * The shape of a rule's windows. Nominal times are whole seconds, so that the shape is the same for every period and is
 * computed once: bounds are floored to whole seconds after the arithmetic, which for an odd duration `around` N = 0 and
 * D = 5 s gives [-3, 2].
 */

import { assertNever } from "../base/result.js";
import { floorToSecond, SECOND_MS } from "../time/instant.js";

export type WindowMode = "after" | "around" | "before";

export interface WindowRule {
  readonly mode: WindowMode;
  /** Whole seconds. */
  readonly durationMs: number;
}

export interface WindowFrame {
  /** The duration as configured. */
  readonly durationMs: number;
  /** S10: how long before its nominal time a window opens. */
  readonly leadMs: number;
  /** Whole seconds between the floored bounds: a window holds `spanSeconds + 1` candidates. */
  readonly spanSeconds: number;
  /** Seconds from the window's start to the nominal time. */
  readonly nominalSeconds: number;
}

export function windowFrame(rule: WindowRule): WindowFrame {
  const opensAfterMs = openingOffsetMs(rule);
  const startMs = floorToSecond(opensAfterMs);
  const endMs = floorToSecond(opensAfterMs + rule.durationMs);
  const leadMs = 0 - startMs;
  return {
    durationMs: rule.durationMs,
    leadMs,
    spanSeconds: (endMs - startMs) / SECOND_MS,
    nominalSeconds: leadMs / SECOND_MS,
  };
}

function openingOffsetMs({ mode, durationMs }: WindowRule): number {
  switch (mode) {
    case "after":
      return 0;
    case "around":
      return -durationMs / 2;
    case "before":
      return -durationMs;
    default:
      return assertNever(mode, "window mode");
  }
}

/** The candidate at position `x` of the window, in seconds after its start: all seconds, both bounds included, count. */
export function candidateSecond(x: number, spanSeconds: number): number {
  return Math.min(Math.floor(x * (spanSeconds + 1)), spanSeconds);
}
