/** The form for people: `TIMESTAMP level=… component=… event=… key=value`, one line an event. */
import type { Fields } from "./redaction.js";

/** Of a decision record: enough to see why then. All of it is in the JSON form. */
const SHOWN_OF_DECISION = [
  "nominal_time",
  "chosen_time",
  "window_start",
  "window_end",
  "distribution",
  "dist_params",
  "seed_strategy",
  "seed_hash",
];

/** Values that need no quotes. */
const BARE = /^[\w.:/@+,#%*~^-]+$/;
/** What JSON leaves as it is, but a terminal or a reader of lines would not. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function textLine({ time, level, component, event, decision, ...fields }: Fields): string {
  const head = `${String(time)} level=${level} component=${component} event=${event}`;
  const tail = decision === null || decision === undefined ? "" : pairsOf(shownOf(decision), "");
  return head + pairsOf(fields, "") + tail;
}

function shownOf(decision: unknown): Fields {
  if (typeof decision !== "object" || decision === null) return {};
  const record = decision as Fields;
  return Object.fromEntries(SHOWN_OF_DECISION.filter((key) => record[key] !== "").map((key) => [key, record[key]]));
}

/** What is not there is not shown, and a group is shown field by field. */
function pairsOf(fields: Fields, prefix: string): string {
  let pairs = "";
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value === null || value === undefined) continue;
    const name = prefix + keyText(key);
    if (typeof value !== "object") pairs += ` ${name}=${valueText(value)}`;
    else pairs += Array.isArray(value) ? ` ${name}=${listText(value)}` : pairsOf(value as Fields, `${name}.`);
  }
  return pairs;
}

function keyText(key: string): string {
  return /^[\w.-]+$/.test(key) ? key : escaped(key);
}

function listText(values: readonly unknown[]): string {
  const isPlain =
    values.length > 0 && values.every((value) => typeof value !== "object" && !String(value).includes(","));
  return valueText(isPlain ? values.join(",") : JSON.stringify(values));
}

function valueText(value: unknown): string {
  const text = String(value);
  return BARE.test(text) ? text : escaped(text);
}

function escaped(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (char) => {
    return [...char].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  });
}
