/** A supervisor event as the fields of its log line, in one order for every event. */
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { errorFields } from "../../core/base/errors/fields.js";
import { formatSecond } from "../../core/time/instant.js";

export function supervisorFields(event: SupervisorEvent): Record<string, unknown> {
  const { at, level, component, event: name, identity, periodId, error, fields } = event;
  const head = { time: formatSecond(at), level, component, event: name };
  if (error !== undefined) {
    const context = { component, operation: name, identity, periodId };
    const { component: from, ...rest } = errorFields(error, context);
    return { ...head, component: from, ...rest, ...hintOf(error.hint), ...fields };
  }
  return {
    ...head,
    ...(identity === undefined ? {} : { identity }),
    ...(periodId === undefined ? {} : { period_id: periodId }),
    ...fields,
  };
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint };
}
