/**
 * What an operation answers, in the one spelling of the API: names in camel case, instants in RFC 3339. What is published
 * by itself, such as a decision record, is told as it is published.
 */
import { z } from "zod";
import { formatInstant } from "../../core/time/instant.js";
import type { Operation } from "../../operations/operation.js";
import { anyInstant, instant, time } from "../../operations/shapes/words.js";

export interface Told {
  readonly schema: z.ZodType;
  /** null: as it is. */
  readonly tell: Tell | null;
}

type Tell = (value: unknown) => unknown;

export function toldBy({ output, http }: Operation): Told {
  const gives = http.form?.gives ?? output;
  return told(http.isPaged === true ? paged(gives) : gives);
}

const PAGED = new WeakMap<z.ZodType, z.ZodType>();

/** Where a page goes on is told sealed, whatever it is within. */
function paged(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject)) throw new Error("invariant broken: a page is no object");
  const known = PAGED.get(schema) ?? schema.extend({ next: z.string().nullable() });
  PAGED.set(schema, known);
  return known;
}

/** What several operations answer is one schema here too. */
const KNOWN = new WeakMap<z.ZodType, Told>();

function told(schema: z.ZodType): Told {
  const known = KNOWN.get(schema) ?? toldAnew(schema);
  KNOWN.set(schema, known);
  return known;
}

function toldAnew(schema: z.ZodType): Told {
  if (schema === instant || schema === anyInstant) return { schema: time, tell: (at) => formatInstant(at as number) };
  if (schema instanceof z.ZodOptional) return wrapped(schema, (inner) => inner.optional(), isThere);
  if (schema instanceof z.ZodNullable) return wrapped(schema, (inner) => inner.nullable(), isThere);
  if (schema instanceof z.ZodReadonly)
    return wrapped(
      schema,
      (inner) => inner.readonly(),
      () => true,
    );
  if (schema instanceof z.ZodArray) return toldList(schema);
  if (schema instanceof z.ZodObject && !(schema.def.catchall instanceof z.ZodUnknown)) return toldObject(schema);
  if (schema instanceof z.ZodUnion) return toldUnion(schema);
  return { schema, tell: null };
}

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function wrapped(
  schema: z.ZodOptional | z.ZodNullable | z.ZodReadonly,
  wrap: (inner: z.ZodType) => z.ZodType,
  isTold: (value: unknown) => boolean,
): Told {
  const inner = schema.def.innerType as z.ZodType;
  const own = told(inner);
  const { tell } = own;
  if (own.schema === inner) return { schema, tell: null };
  return { schema: wrap(own.schema), tell: tell === null ? null : (value) => (isTold(value) ? tell(value) : value) };
}

function toldList(schema: z.ZodArray): Told {
  const inner = schema.def.element as z.ZodType;
  const own = told(inner);
  const { tell } = own;
  if (own.schema === inner) return { schema, tell: null };
  return { schema: z.array(own.schema), tell: tell === null ? null : (list) => (list as unknown[]).map(tell) };
}

function toldObject(schema: z.ZodObject): Told {
  const fields = Object.entries(schema.shape as z.ZodRawShape).map(([name, inner]) => {
    return { name, spelled: camelCase(name), inner: inner as z.ZodType, own: told(inner as z.ZodType) };
  });
  if (fields.every(({ name, spelled, inner, own }) => name === spelled && inner === own.schema)) {
    return { schema, tell: null };
  }
  const byName = new Map(fields.map(({ name, spelled, own }) => [name, { spelled, tell: own.tell }] as const));
  const tell: Tell = (value) => {
    const entries = Object.entries(value as object).map(([name, field]) => {
      const { spelled, tell: tellField } = byName.get(name) ?? { spelled: name, tell: null };
      return [spelled, tellField === null ? field : tellField(field)] as const;
    });
    return Object.fromEntries(entries);
  };
  return { schema: z.strictObject(Object.fromEntries(fields.map(({ spelled, own }) => [spelled, own.schema]))), tell };
}

function toldUnion(schema: z.ZodUnion): Told {
  const options = schema.def.options as readonly z.ZodType[];
  const own = options.map(told);
  if (own.every((each, index) => each.schema === options[index])) return { schema, tell: null };
  const tell: Tell = (value) => {
    const which = options.findIndex((option) => option.safeParse(value).success);
    const tellIt = own[which]?.tell ?? null;
    return tellIt === null ? value : tellIt(value);
  };
  return { schema: z.union(own.map((each) => each.schema)), tell };
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
