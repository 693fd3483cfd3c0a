/**
 * The values of one list element, as cron-parser reads it. It is only ever shown elements that our own tokenizer has
 * found well-formed and written out in numbers: by itself it accepts much that Kron must not (empty fields, `5*`, `H`)
 * and rejects lists that are fine (`0,7`, `1,1`).
 */
import { CronExpressionParser } from "cron-parser";
import { boundedMemo } from "../base/bounded-memo.js";
import { CRON_FIELD_NAMES, type CronFieldName } from "./fields.js";

const PARSER_KEYS = {
  minute: "minute",
  hour: "hour",
  day: "dayOfMonth",
  month: "month",
  weekday: "dayOfWeek",
} as const satisfies Record<CronFieldName, string>;

const remembered = boundedMemo<readonly number[]>();

/** `element` is `*`, `a` or `a-b`, with `/step` or without, in plain numbers that lie in range. */
export function elementValues(field: CronFieldName, element: string): readonly number[] {
  const key = `${field} ${element}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const probe = CRON_FIELD_NAMES.map((name) => (name === field ? element : "*")).join(" ");
  // Without a date of its own the parser would read the clock (S2).
  const parsed = CronExpressionParser.parse(probe, { tz: "UTC", currentDate: 0 });
  const values = parsed.fields[PARSER_KEYS[field]].values.map((value) => {
    if (typeof value !== "number") throw new Error(`invariant broken: cron-parser read "${key}" as ${value}`);
    return field === "weekday" ? value % 7 : value;
  });
  return remembered.set(key, values);
}
