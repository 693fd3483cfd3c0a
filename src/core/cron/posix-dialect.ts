/**
 * The `posix` dialect: exactly the grammar of the Declarative Scheduler specification, nothing more. It has its own
 * parser because that specification names the field and the reason of every refusal.
 */
import { LIMITS } from "../base/limits.js";
import { err, ok, type Result } from "../base/result.js";
import { CRON_FIELD_NAMES, CRON_FIELD_RANGES, type CronFieldName, type CronFields } from "./fields.js";

/** Why an expression is refused. `reason` continues the sentence "the <field> field …". */
export interface PosixCronProblem {
  /** One of the five fields, or `expression` when the trouble is none of theirs. */
  readonly field: string;
  readonly reason: string;
  /** The text of the field, or of the whole expression. */
  readonly fieldValue: string;
  readonly message: string;
}

/** Shapes the specification rules out by name, so that the reason can say which. First match wins. */
const EXCLUDED: readonly { readonly shape: RegExp; readonly reason: string }[] = [
  { shape: /\//, reason: "must not use step syntax (/)" },
  { shape: /^[?LW]$|[?#]|^\d+[LW]$|^LW$/i, reason: "must not use Quartz tokens (?, L, W, #)" },
  { shape: /[.+]|^-|^0x|^\d+e\d*$/i, reason: "must be written in plain decimal digits" },
  { shape: /[a-z]/i, reason: "must not use names" },
];

/** The reason why a field is refused, in place of its values. */
type FieldReading = Result<readonly number[], string>;

function readNumber(text: string, field: CronFieldName): Result<number, string> {
  if (!/^[0-9]+$/.test(text)) {
    const excluded = EXCLUDED.find(({ shape }) => shape.test(text));
    return err(excluded?.reason ?? `contains "${text}", which is not a number`);
  }
  const value = Number(text);
  const { min, max } = CRON_FIELD_RANGES[field];
  if (value >= min && value <= max) return ok(value);
  if (field === "weekday" && value === 7) return err("value 7 is not allowed (use 0 for Sunday)");
  return err(`value ${text} is out of range (${min}-${max})`);
}

function readElement(element: string, field: CronFieldName): FieldReading {
  if (element === "") return err("contains an empty list element");
  if (element === "*") return err("must not mix * with other values");
  const dash = element.indexOf("-", 1);
  if (dash < 0) {
    const value = readNumber(element, field);
    return value.ok ? ok([value.value]) : value;
  }
  const [fromText, toText] = [element.slice(0, dash), element.slice(dash + 1)];
  if (toText === "" || toText.includes("-")) return err(`contains a malformed range "${element}"`);
  const from = readNumber(fromText, field);
  if (!from.ok) return from;
  const to = readNumber(toText, field);
  if (!to.ok) return to;
  if (from.value > to.value) return err(`has a wrap-around range "${element}"`);
  return ok(Array.from({ length: to.value - from.value + 1 }, (_, i) => from.value + i));
}

function readField(text: string, field: CronFieldName): FieldReading {
  const { min, max } = CRON_FIELD_RANGES[field];
  if (text === "*") return ok(Array.from({ length: max - min + 1 }, (_, i) => min + i));
  const chosen = new Set<number>();
  for (const element of text.split(",")) {
    const values = readElement(element, field);
    if (!values.ok) return values;
    for (const value of values.value) chosen.add(value);
  }
  return ok([...chosen].sort((a, b) => a - b));
}

function refuse(
  expression: string,
  field: string,
  reason: string,
  fieldValue: string,
): Result<never, PosixCronProblem> {
  return err({
    field,
    reason,
    fieldValue,
    message: `Invalid cron expression "${expression}": ${field} field ${reason}`,
  });
}

export function parsePosixCron(text: string): Result<CronFields, PosixCronProblem> {
  if (text.length > LIMITS.expressionChars) {
    return refuse(text, "expression", `must have at most ${LIMITS.expressionChars} characters`, text);
  }
  const written = text.replace(/^[ \t]+|[ \t]+$/g, "");
  if (written === "") return refuse(text, "expression", "must not be empty", text);
  if (written.startsWith("@")) return refuse(text, "expression", "must not be a macro", text);
  const found = written.split(/[ \t]+/);
  if (found.length !== CRON_FIELD_NAMES.length) {
    return refuse(text, "expression", `must have exactly 5 fields, got ${found.length}`, text);
  }
  const values: (readonly number[])[] = [];
  for (const [i, field] of CRON_FIELD_NAMES.entries()) {
    const fieldText = found[i] as string;
    const read = readField(fieldText, field);
    if (!read.ok) return refuse(text, field, read.error, fieldText);
    values.push(read.value);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values;
  const [dayIsStar, weekdayIsStar] = [found[2] === "*", found[4] === "*"];
  return ok(Object.freeze({ minutes, hours, days, months, weekdays, dayIsStar, weekdayIsStar, text: written }));
}
