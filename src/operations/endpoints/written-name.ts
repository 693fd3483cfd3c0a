/**
 * Names as people may write them, of jobs and of endpoints: what cannot stand as a step of a path, what turns the text
 * around it over wherever it is shown, and what nobody sees, is no part of one. Names from before stay as they are, and are
 * found by themselves.
 */
import { z } from "zod";
import { PLAIN_TEXT } from "../../core/base/plain-text.js";

const MOST_CHARS = 200;

export const writtenName = z
  .string()
  .min(1)
  .max(MOST_CHARS)
  .regex(
    new RegExp(`^(?!\\.{1,2}$)(?!\\s+$)${PLAIN_TEXT}$`, "u"),
    'must have no control characters, none that turn text over or that nobody sees, something that is seen, and be neither "." nor ".."',
  );
