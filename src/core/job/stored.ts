/**
 * Reading definitions that lie in a store: one reader for everybody, and each version is read once. It reads like one that
 * a person wrote, because another version of the program may have written it, or a hand that edits files; what makes it
 * cheap is that it is kept. A whole run through the supervisor costs about 12 µs less for it.
 */
import { memoised } from "../base/memo.js";
import type { JobDefinition } from "./definition.js";
import { readDefinitionInForce, readJobDefinition } from "./schema.js";

/**
 * About three kilobytes each: jobs that run again and again find theirs, and a million that rest cost nothing. The text is
 * the key, so that there is nothing to invalidate.
 */
const KEPT = { entries: 4_096, chars: 4_096 };

/** null: this version cannot use it. S16: also as an earlier one wrote it, where this one would not let it be written. */
export const storedDefinition = memoised((text: string): JobDefinition | null => {
  const read = readJobDefinition(JSON.parse(text), undefined, { mayUseReservedPrefix: true });
  return read.ok ? read.value : (readDefinitionInForce(text)?.definition ?? null);
}, KEPT);
