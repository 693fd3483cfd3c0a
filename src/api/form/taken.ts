/**
 * What an operation takes, as it is written by people: instants in RFC 3339, what may be null need not be there, and of
 * pages a handful of rows. What comes out is held against the operation's own input afterwards.
 */
import { z } from "zod";
import { parseInstant } from "../../core/time/instant.js";
import type { Operation } from "../../operations/operation.js";
import { anyInstant, instant } from "../../operations/shapes/words.js";
import { API_LIMITS } from "../limits.js";

const when = z.iso.datetime({ offset: true }).transform((text, context) => {
  const at = parseInstant(text);
  if (at.ok) return at.value;
  context.issues.push({ code: "custom", message: at.error.message, input: text });
  return z.NEVER;
});

const PAGE = {
  limit: z.int().min(1).max(API_LIMITS.pageRows).default(API_LIMITS.usualPageRows),
  cursor: z.string().min(1).max(API_LIMITS.cursorChars).optional(),
};

/** Everything that comes with a request to an operation, wherever it stands in it. */
export function takenBy({ name, input, http }: Operation): z.ZodObject {
  const inner = http.form?.takes ?? input;
  if (!(inner instanceof z.ZodObject)) throw new Error(`invariant broken: ${name} takes no object`);
  const fields = Object.entries(inner.shape as z.ZodRawShape).map(([field, schema]) => {
    return [field, mayBeLeftOut(written(schema as z.ZodType))] as const;
  });
  return z.strictObject({ ...Object.fromEntries(fields), ...(http.isPaged === true ? PAGE : {}) });
}

function mayBeLeftOut(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodNullable ? schema.default(null) : schema;
}

/** The same schema where nothing in it is written otherwise. */
function written(schema: z.ZodType): z.ZodType {
  if (schema === instant || schema === anyInstant) return when;
  if (schema instanceof z.ZodOptional) return changed(schema, (inner) => inner.optional());
  if (schema instanceof z.ZodNullable) return changed(schema, (inner) => inner.nullable());
  if (schema instanceof z.ZodReadonly) return changed(schema, (inner) => inner.readonly());
  if (schema instanceof z.ZodDefault) return changed(schema, (inner) => inner.default(schema.def.defaultValue));
  if (schema instanceof z.ZodObject) return writtenObject(schema);
  return schema;
}

function changed(
  schema: z.ZodOptional | z.ZodNullable | z.ZodReadonly | z.ZodDefault,
  wrap: (inner: z.ZodType) => z.ZodType,
): z.ZodType {
  const inner = schema.def.innerType as z.ZodType;
  const own = written(inner);
  return own === inner ? schema : wrap(own);
}

function writtenObject(schema: z.ZodObject): z.ZodType {
  const fields = Object.entries(schema.shape as z.ZodRawShape).map(([field, inner]) => {
    return [field, inner as z.ZodType, written(inner as z.ZodType)] as const;
  });
  if (fields.every(([, inner, own]) => inner === own)) return schema;
  return z.strictObject(Object.fromEntries(fields.map(([field, , own]) => [field, own])));
}
