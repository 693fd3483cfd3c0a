/** What of a status the operator never wrote (S32): it is told with its place, and the KronJob left alone until it is mended. */
import type { Problem } from "../core/base/problem.js";
import { parseInstant } from "../core/time/instant.js";
import type { KronJobStatus } from "./kube/types.js";

const TEXTS = ["uid", "name"] as const;
const MAPPINGS = ["pause", "lastSlot", "notEvaluated"] as const;
const INSTANTS = ["periodID", "chosenTime", "startedAt", "startBy"] as const;

/** Each with where it is. */
function instantsOf(status: KronJobStatus): readonly (readonly [path: readonly string[], value: unknown])[] {
  const { lastPeriodID, definedAt, carriedPeriodID, lastStartTime, evaluatesFrom, pause, notEvaluated } = status;
  return [
    ...Object.entries({ lastPeriodID, definedAt, carriedPeriodID, lastStartTime, evaluatesFrom }).map(
      ([name, value]) => [[name], value] as const,
    ),
    ...(pause === undefined ? [] : ([[["pause", "until"], pause.until ?? null]] as const)),
    [["pause", "since"], pause?.since],
    [["notEvaluated", "lastPeriodID"], notEvaluated?.lastPeriodID],
  ];
}

/** null: all of it can be worked with. Whoever may write a status may write anything. */
export function oddField(status: KronJobStatus): Problem | null {
  const { active, history } = status;
  for (const name of MAPPINGS) {
    const value: unknown = status[name];
    if (value !== undefined && (typeof value !== "object" || value === null)) return odd([name], "must be a mapping");
  }
  const bad = instantsOf(status).find(([, value]) => value !== undefined && !isInstant(value));
  if (bad !== undefined) return odd(bad[0], "must be a UTC instant");
  if (history !== undefined && !Array.isArray(history)) return odd(["history"], "must be a list");
  if (active === undefined) return null;
  if (!Array.isArray(active)) return odd(["active"], "must be a list");
  for (const [index, entry] of (active as readonly unknown[]).entries()) {
    const found = oddEntry(["active", index], entry);
    if (found !== null) return found;
  }
  return null;
}

function isInstant(value: unknown): boolean {
  return typeof value === "string" && parseInstant(value).ok;
}

function oddEntry(path: readonly (string | number)[], entry: unknown): Problem | null {
  if (typeof entry !== "object" || entry === null) return odd(path, "must be a mapping");
  const fields = entry as Readonly<Record<string, unknown>>;
  for (const name of TEXTS) {
    if (typeof fields[name] !== "string" || fields[name] === "") return odd([...path, name], "must be a text");
  }
  for (const name of INSTANTS) {
    if (!isInstant(fields[name])) return odd([...path, name], "must be a UTC instant");
  }
  return null;
}

function odd(path: readonly (string | number)[], message: string): Problem {
  return { code: "field-type", path: ["status", ...path], message };
}
