/** Parameters of an address: texts, which the schema says how to understand. Nothing is guessed, and nothing left out. */
import { z } from "zod";
import { HttpProblem, pointerOf, TWICE, wrongFields } from "../http/problem.js";
import { unwrapped } from "./unwrapped.js";

/** How the text of a parameter is read; `list`: it may come several times. */
interface Reading {
  readonly isList: boolean;
  readonly as: "text" | "number" | "boolean";
}

type Parameters = Readonly<Record<string, unknown>>;

/** Of an address behind its question mark. */
export function readQuery(query: string, schema: z.ZodObject, allowed: ReadonlySet<string>): Parameters {
  const found = new Map<string, string[]>();
  for (const pair of query === "" ? [] : query.split("&")) {
    const [name = "", ...rest] = pair.split("=");
    const [field, value] = [decoded(name), decoded(rest.join("="))];
    if (!allowed.has(field)) throw unknownParameter(field, allowed);
    const known = found.get(field);
    if (known === undefined) found.set(field, [value]);
    // At once: however many follow, nothing is gathered that would be refused.
    else if (!readingOf(fieldOf(schema, field)).isList) throw twice(field);
    else known.push(value);
  }
  return Object.fromEntries([...found].map(([name, texts]) => [name, parameterOf(name, texts, schema)]));
}

/** Of a field that stands in the path. */
export function readPathParameter(name: string, text: string, schema: z.ZodObject): unknown {
  return parameterOf(name, [text], schema);
}

/** Strict: what is no UTF-8 is no text. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new HttpProblem("request-malformed", "the query has a % that is not followed by UTF-8 in hexadecimal digits");
  }
}

function parameterOf(name: string, texts: readonly string[], schema: z.ZodObject): unknown {
  const { isList, as } = readingOf(fieldOf(schema, name));
  const values = texts.map((text) => (as === "text" ? text : typed(text, as)));
  return isList ? values : values[0];
}

function fieldOf(schema: z.ZodObject, name: string): z.ZodType {
  return (schema.shape as z.ZodRawShape)[name] as z.ZodType;
}

/** What is neither stays a text, which the schema refuses with its own words. */
function typed(text: string, as: "number" | "boolean"): unknown {
  if (as === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

function readingOf(schema: z.ZodType): Reading {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray) return { isList: true, as: readingOf(inner.def.element as z.ZodType).as };
  if (inner instanceof z.ZodNumber) return { isList: false, as: "number" };
  return { isList: false, as: inner instanceof z.ZodBoolean ? "boolean" : "text" };
}

function twice(name: string): HttpProblem {
  return wrongFields([{ pointer: pointerOf([name]), ...TWICE }]);
}

function unknownParameter(name: string, allowed: ReadonlySet<string>): HttpProblem {
  const hint = allowed.size === 0 ? "there are none here" : `there are ${[...allowed].join(", ")}`;
  return wrongFields([{ pointer: pointerOf([name]), code: "field-unknown", message: "no such parameter", hint }]);
}
