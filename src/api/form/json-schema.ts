/** Schemas as JSON Schema has them: what is taken strictly, what is told with room for more. */
import { z } from "zod";

export type Json = Readonly<Record<string, unknown>>;

export const SCHEMA_OPTIONS = {
  target: "draft-2020-12",
  override: ({ jsonSchema }: { jsonSchema: object }) => tidy(jsonSchema),
} as const;

export function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  return z.toJSONSchema(schema, { ...SCHEMA_OPTIONS, io }) as Json;
}

/** What says nothing, or something else than is meant: also the bounds of whole numbers, and 300 characters for what `format` has said already. */
function tidy(schema: object): void {
  const it = schema as Record<string, unknown>;
  // Among us it means that nobody changes it on the way; here it would mean that it cannot be sent.
  delete it["readOnly"];
  if (it["format"] === "date-time") delete it["pattern"];
  if (it["maximum"] === Number.MAX_SAFE_INTEGER) delete it["maximum"];
  if (it["minimum"] === Number.MIN_SAFE_INTEGER) delete it["minimum"];
}

/** An answer may have more in it some day. */
export function opened(schema: Json): Json {
  return open(schema) as Json;
}

function open(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(open);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => !(name === "additionalProperties" && inner === false),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, open(inner)]));
}
