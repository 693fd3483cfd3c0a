/** The form for people: `TIMESTAMP level=… component=… event=… key=value`, one line an event. */

import type { Fields } from "../../core/base/fields.js";

/** Values that need no quotes. */
const BARE = /^[\w.:/@+,#%*~^-]+$/;
/** What JSON leaves as it is, but a terminal or a reader of lines would not. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function textLine({ time, ...fields }: Fields): string {
  return `${String(time)} ${untimedLine(fields)}`;
}

/** The same for readers that keep the time themselves. */
export function untimedLine({ level, component, event, decision, ...fields }: Fields): string {
  const head = `level=${level} component=${component} event=${event}`;
  return head + pairsOf(fields, "") + decisionText(decision);
}

/**
 * The second that was chosen is for people. The record is for whoever recomputes it: JSON as it is, the last on its line,
 * where `kron verify` finds it.
 */
function decisionText(decision: unknown): string {
  if (typeof decision !== "object" || decision === null) return "";
  const { chosen_time: chosen } = decision as Fields;
  const shown = typeof chosen === "string" && chosen !== "" ? ` chosen_time=${valueText(chosen)}` : "";
  return `${shown} decision=${printable(JSON.stringify(decision))}`;
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
  return printable(JSON.stringify(text));
}

function printable(json: string): string {
  return json.replace(UNPRINTABLE, (char) => {
    return [...char].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  });
}
