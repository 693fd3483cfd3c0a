/** What the body of an answer must be, beside its status: as it is written, and the faults of one that is not. */
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import type { BodyRule, HttpTarget } from "./definition.js";
import { quote } from "./issues.js";
import type { RawJob } from "./shape.js";

type RawHttp = NonNullable<RawJob["http"]>;
type RawBodyRule = NonNullable<RawHttp["success_body"]>;

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const PATH = ["http", "success_body"] as const;

/** null: anything. */
export function readBodyRule({ success_body: raw, method, by }: RawHttp, problems: Problem[]): BodyRule | null {
  if (raw === undefined) return null;
  const found = troubleOf(raw, method ?? "GET", by ?? "krond");
  if (found !== null) problems.push(problemAt(found, ...PATH));
  const { contains, pointer = "", equals = null } = raw;
  return Object.freeze(
    contains === undefined
      ? ({ kind: "equals", pointer, value: equals } as const)
      : ({ kind: "contains", text: contains } as const),
  );
}

function troubleOf({ contains, pointer, equals }: RawBodyRule, method: string, by: string): Problem | null {
  const conflict = (message: string, hint: string): Problem => ({ code: "field-conflict", message, path: [], hint });
  const isJson = pointer !== undefined && equals !== undefined;
  if (isJson === (contains !== undefined) || (pointer !== undefined) !== (equals !== undefined)) {
    return conflict("a body is asked for by contains, or by pointer and equals", 'write contains: "ok"');
  }
  if (method === "HEAD") return conflict("the answer to a HEAD request has no body", "leave it out, or write GET");
  if (by === "worker") return conflict("a worker judges by itself what it was answered", "it says the status");
  return rangeTrouble(contains ?? null, pointer ?? null, equals ?? null);
}

function rangeTrouble(contains: string | null, pointer: string | null, equals: BodyValue): Problem | null {
  const range = (message: string, at: string): Problem => ({ code: "field-range", message, path: [at] });
  if (contains === "") return range("every body contains nothing: say what", "contains");
  const texts = { contains, pointer, equals };
  for (const [at, text] of Object.entries(texts)) {
    if (typeof text !== "string" || Buffer.byteLength(text) <= LIMITS.bodyRuleBytes) continue;
    return range(`it is longer than ${LIMITS.bodyRuleBytes} bytes`, at);
  }
  if (pointer === null || POINTER.test(pointer)) return null;
  return {
    ...range(`${quote(pointer)} is no JSON pointer`, "pointer"),
    hint: "write it like /status or /jobs/0/state",
  };
}

type BodyValue = Extract<BodyRule, { kind: "equals" }>["value"];

export function bodyRuleToRaw({ successBody }: HttpTarget): Pick<RawHttp, "success_body"> {
  if (successBody === undefined) return {};
  if (successBody.kind === "contains") return { success_body: { contains: successBody.text } };
  return { success_body: { pointer: successBody.pointer, equals: successBody.value } };
}

/** What is said of a body that is not what it must be: of what was asked for, and never of what came. */
export const BODY_FAULTS = {
  lacksText: (text: string) => `the body does not contain ${quote(text)}`,
  notJson: () => "the body is not JSON",
  lacksValue: (pointer: string) => `the body has nothing at ${quote(pointer)}`,
  differs: (pointer: string, value: BodyValue) => `what the body has at ${quote(pointer)} is not ${told(value)}`,
  tooLong: () => `the body is longer than ${LIMITS.judgedBodyBytes} bytes, which is more than is read as JSON`,
} as const;

function told(value: BodyValue): string {
  return typeof value === "string" ? quote(value) : String(value);
}

/** RFC 6901. undefined: there is nothing. */
export function valueAtPointer(value: unknown, pointer: string): unknown {
  let found = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    // Of a list only what counts its elements names one.
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, key);
    if (!isThere || (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(key))) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}
