/** Which constraints of its endpoint a run has met: what is on record of how it came about, and of how it ended. */
import { formatInstant } from "../../core/time/instant.js";
import type { RunEntry } from "../../core/why/records.js";
import type { EndpointRecord } from "./records.js";
import type { RunDetailAnswer } from "./shapes.js";

type Violation = RunDetailAnswer["violations"][number];

/** `endpoint` null: it was deleted since, and what bounds it had is not known. */
export function violationsOf(run: RunEntry, endpoint: EndpointRecord | null): Violation[] {
  const moved = movedBy(run);
  return [...(moved === null ? [] : [moved]), ...brokenOff(run, endpoint)];
}

function brokenOff({ ending }: RunEntry, endpoint: EndpointRecord | null): Violation[] {
  if (ending?.kind !== "failed") return [];
  if (ending.reason === "timeout") return [{ constraint: shorterOf(endpoint), message: ending.detail }];
  return ending.reason === "response-too-large" ? [{ constraint: "maxResponseSizeKb", message: ending.detail }] : [];
}

function shorterOf(endpoint: EndpointRecord | null): "timeoutMs" | "maxExecutionTimeMs" {
  const { maxExecutionTimeMs = null, timeoutMs = 0 } = endpoint?.spec ?? {};
  return maxExecutionTimeMs !== null && maxExecutionTimeMs < timeoutMs ? "maxExecutionTimeMs" : "timeoutMs";
}

function movedBy({ clamped }: RunEntry): Violation | null {
  if (clamped === null) return null;
  const constraint = clamped.by === "min" ? "minIntervalMs" : "maxIntervalMs";
  return { constraint, message: `it was to begin at ${formatInstant(clamped.fromAt)}` };
}
