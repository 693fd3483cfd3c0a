/** What questions and answers are made of. */
import { z } from "zod";
import { OPERATION_LIMITS } from "../limits.js";

export const identity = z.string().min(1).max(512);
/** Epoch milliseconds. */
export const instant = z.int();
/** One that the operation judges itself. */
export const anyInstant = z.number();
/** As it is written, RFC 3339. */
export const time = z.iso.datetime({ offset: true });
export const count = z.int().min(0);

export function words<T extends z.ZodType>(word: T): z.ZodReadonly<z.ZodArray<T>> {
  return z.array(word).max(OPERATION_LIMITS.filterWords).readonly();
}

export function listOf<T extends z.ZodType>(one: T): z.ZodReadonly<z.ZodArray<T>> {
  return z.array(one).readonly();
}
