/** What happened, in order: what the daemon told, and what happened to it. */
import type { SupervisorEvent } from "../actors/supervisor/write/events.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";

export interface TimelineEntry {
  /** By the wall clock of the simulated machine. */
  readonly at: string;
  readonly event: string;
  readonly identity: string | null;
  readonly period_id: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function entryOfEvent({ at, event, identity, periodId, error, fields = {} }: SupervisorEvent): TimelineEntry {
  // An attempt's id says how often the daemon drew one, which is nobody's business; its PID names it as well.
  const { decision, attempt_id: _, ...rest } = fields;
  const chosen = chosenOf(decision);
  const trouble = error === undefined ? {} : { error: error.code, message: error.message };
  const named = { identity: identity ?? null, period_id: periodId ?? null };
  return { at: formatInstant(at), event, ...named, fields: { ...rest, ...chosen, ...trouble } };
}

function chosenOf(decision: unknown): { readonly chosen_time?: string } {
  if (typeof decision !== "object" || decision === null || !("chosen_time" in decision)) return {};
  return { chosen_time: String(decision.chosen_time) };
}

export function entryOfAct(
  at: EpochMs,
  event: string,
  fields: Readonly<Record<string, unknown>> = {},
  identity: string | null = null,
): TimelineEntry {
  return { at: formatInstant(at), event, identity, period_id: null, fields };
}
