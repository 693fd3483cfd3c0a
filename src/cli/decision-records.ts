/** Where decision records are found: alone, in lines of a log, in rows of a history, in the ledger of an export. */

import { type Fields, isFields } from "../core/base/fields.js";

/** undefined: it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where the operator notes how the second of a Job was chosen. */
const DECISION_ANNOTATION = "kron.io/decision";

/**
 * A decision record may stand alone, inside a log line or history entry (`decision`), spread over a log line, or be noted
 * on a Job of Kubernetes. What has neither a seed hash nor a period is something else.
 */
function recordIn(value: unknown): Fields | null {
  if (!isFields(value)) return null;
  if (isFields(value["metadata"])) return annotatedRecord(value["metadata"]);
  const { decision } = value;
  if (isFields(decision)) return decision;
  if (typeof decision === "string") return recordIn(parsed(decision));
  if (typeof value["sum"] === "number" && typeof value["body"] === "string") return recordInLedger(value["body"]);
  return "seed_hash" in value && "period_id" in value ? value : null;
}

/** A line of an exported ledger: a checksum around a record, whose text is JSON again. */
function recordInLedger(body: string): Fields | null {
  const record = parsed(body);
  return isFields(record) && typeof record["text"] === "string" ? recordIn(parsed(record["text"])) : null;
}

function annotatedRecord({ annotations }: Fields): Fields | null {
  const text = isFields(annotations) ? annotations[DECISION_ANNOTATION] : undefined;
  const record = typeof text === "string" ? parsed(text) : null;
  return isFields(record) ? record : null;
}

export function recordsIn(value: unknown): Fields[] {
  // `kubectl get -o json` prints a list of many as an object with items.
  const list = isFields(value) && Array.isArray(value["items"]) ? (value["items"] as readonly unknown[]) : null;
  const values = Array.isArray(value) ? (value as readonly unknown[]) : (list ?? [value]);
  return values.map(recordIn).filter((record) => record !== null);
}

/** A line of JSON, or of the text log, which has the record as `decision=`. */
export function recordsInLine(line: string): Fields[] {
  const text = line.replace(PRIORITY, "");
  const value = parsed(text);
  return recordsIn(value === undefined ? { decision: decisionInText(text) } : value);
}

/** Before a line that a journal is to sort by importance. */
const PRIORITY = /^<[0-7]>/;

const MARK = " decision=";

/** In quotes, as everything with blanks in it, or bare. undefined: there is none. */
function decisionInText(line: string): unknown {
  // Texts before it, and in it, may hold the same words.
  const starts = new Set([line.indexOf(MARK), line.lastIndexOf(MARK)].filter((at) => at >= 0));
  return [...starts].map((at) => valueAfter(line.slice(at + MARK.length))).find((value) => value !== undefined);
}

function valueAfter(text: string): unknown {
  if (text.startsWith("{")) return parsed(text.slice(0, endOfObject(text)));
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(text) ?? [];
  return quoted === undefined ? undefined : parsed(quoted);
}

/** Behind the brace that closes the first one. */
function endOfObject(text: string): number {
  let depth = 0;
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token[0] === "{") depth += 1;
    if (token[0] === "}" && --depth === 0) return token.index + 1;
  }
  return text.length;
}
