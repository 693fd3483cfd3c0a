/** A schema without what says whether it may be left out. */
import { z } from "zod";

export function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly;
  if (isWrapped) return unwrapped(schema.def.innerType as z.ZodType);
  // An instant is a text, whatever is made of it.
  return schema instanceof z.ZodPipe ? unwrapped(schema.def.in as z.ZodType) : schema;
}
