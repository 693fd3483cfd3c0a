/** What became of an endpoint that was written, field by field. */
import type { EndpointAnswer } from "../../operations/endpoints/shapes.js";
import { FIELD_NAMES } from "./fields.js";
import { publishedAs } from "./published.js";

interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

export interface Applied {
  readonly label: string;
  readonly result: "created" | "changed" | "unchanged";
  readonly changes: readonly Change[];
  readonly endpoint: EndpointAnswer;
}

/** `writesSecret`: a value of a secret header was given, which cannot be compared with the one that there is. */
export function applied(
  label: string,
  before: EndpointAnswer | null,
  endpoint: EndpointAnswer,
  writesSecret: boolean,
): Applied {
  if (before === null) return { label, result: "created", changes: [], endpoint };
  const changes = FIELD_NAMES.flatMap((field): Change[] => {
    const [from, to] = [before[field], endpoint[field]];
    const isSame = sameText(from) === sameText(to) && !(field === "secretHeaders" && writesSecret);
    return isSame ? [] : [{ field, from, to }];
  });
  // Of what stays as it is a rehearsal tells the version that it would have.
  return changes.length === 0
    ? { label, result: "unchanged", changes, endpoint: before }
    : { label, result: "changed", changes, endpoint };
}

/** Whatever order their keys are in. */
function sameText(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).sort());
}

export function writesSecretIn(fields: Readonly<Record<string, unknown>>): boolean {
  const { secretHeaders } = fields;
  return typeof secretHeaders === "object" && secretHeaders !== null && Object.values(secretHeaders).some(isValue);
}

function isValue(value: unknown): boolean {
  return value !== null;
}

const SHOWN_CHARS = 60;

export function appliedText({ label, result, changes, endpoint }: Applied, isRehearsal: boolean): string {
  const verb = isRehearsal && result !== "unchanged" ? `would be ${result}` : result;
  const what = changes.map(changeText).map((line) => `  ${line}\n`);
  const next =
    isRehearsal || result !== "created" || endpoint.nextRunAt === null ? "" : `, next run ${endpoint.nextRunAt}`;
  return `${label} ${verb}${next}\n${what.join("")}`;
}

function changeText({ field, from, to }: Change): string {
  if (sameText(from) === sameText(to)) return `${field}: written anew`;
  return `${field}: ${shortText(from)} -> ${shortText(to)}`;
}

function shortText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS - 3)}...`;
}

export function publishedApplied({ label, result, changes, endpoint }: Applied, isRehearsal: boolean): object {
  const about = { endpoint: label, result };
  return { ...about, dry_run: isRehearsal, changes, ...publishedAs({}, endpoint) };
}
