/**
 * Names as people may write them, of jobs and of endpoints: what cannot stand as a step of a path, and what turns the text
 * around it over wherever it is shown, is no part of one. Names from before stay as they are, and are found by themselves.
 */
import { z } from "zod";

const MOST_CHARS = 200;

export const writtenName = z
  .string()
  .min(1)
  .max(MOST_CHARS)
  .regex(
    /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u,
    'no control characters, none that turn text over, and neither "." nor ".."',
  );
