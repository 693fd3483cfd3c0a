/**
 * An event as whoever follows is told of it: in the one spelling of the API, and to a tenant without what is the host's, such as
 * its processes, its nodes and what stands in the messages of its own trouble.
 */
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { ERRORS } from "../../core/base/errors/registry.js";
import { endpointName } from "../../core/endpoint/endpoint-name.js";
import { formatInstant } from "../../core/time/instant.js";
import { camelCase } from "../form/told.js";

export type Listener = "host" | "tenant";

type Fields = Readonly<Record<string, unknown>>;

/** Of which process of which machine a tenant learns nothing. */
const OF_THE_HOST: ReadonlySet<string> = new Set(["pid", "node", "boot_id"]);
/** Published by itself, and told as it is published. */
const AS_PUBLISHED: ReadonlySet<string> = new Set(["decision"]);

export function eventText(event: SupervisorEvent, to: Listener): string {
  return JSON.stringify(dataOf(event, to));
}

function dataOf({ at, event, level, identity, periodId, error, fields }: SupervisorEvent, to: Listener): Fields {
  const endpoint = identity === undefined ? null : endpointName(identity);
  return {
    at: formatInstant(at),
    event,
    level,
    ...(identity === undefined ? {} : { identity }),
    ...(endpoint === null ? {} : { jobId: endpoint.jobId, endpointId: endpoint.endpointId }),
    ...(periodId === undefined ? {} : { periodId }),
    ...(error === undefined ? {} : { code: error.code, message: messageOf(error, event, to) }),
    ...(fields === undefined ? {} : { fields: spelled(to === "host" ? fields : without(fields)) }),
  };
}

/** How a run ended is on record for the tenant too; what went wrong beside it names files, addresses and options of the host. */
function messageOf(
  { code, message }: NonNullable<SupervisorEvent["error"]>,
  event: SupervisorEvent["event"],
  to: Listener,
): string {
  return to === "host" || event === "completed" ? message : ERRORS[code].meaning;
}

function without(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !OF_THE_HOST.has(name)));
}

function spelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spelled);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    return [camelCase(name), AS_PUBLISHED.has(name) ? inner : spelled(inner)];
  });
  return Object.fromEntries(entries);
}
