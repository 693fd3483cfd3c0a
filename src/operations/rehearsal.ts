/**
 * A change that is only asked about: judged as it would be in earnest, answered as it would be, and nothing of it is done. Its
 * answer says so, whatever it is an answer to.
 */
import { z } from "zod";

export const dryRun = z
  .boolean()
  .default(false)
  .meta({ description: "true: everything is judged, and nothing is changed." });

/** In an answer: nothing was changed. */
export const REHEARSED = {
  dryRun: z.literal(true).optional().meta({ description: "Nothing was changed: it was only asked about." }),
};

/** Of what has nothing else to tell. */
export const DONE = z.union([z.null(), z.strictObject({ dryRun: z.literal(true) })]);

export function isRehearsal(input: unknown): boolean {
  return typeof input === "object" && input !== null && "dryRun" in input && input.dryRun === true;
}

export function rehearsed(answer: unknown): unknown {
  return { ...(answer as object | null), dryRun: true };
}
