/** A definition as a person would write it: nothing said that goes without saying. */
import { type Fields, isFields, without } from "../base/fields.js";
import type { JobDefaults } from "./defaults.js";
import type { JobDefinition } from "./definition.js";
import { canonicalDefinitionText, definitionToRaw } from "./raw.js";
import { readJobDefinition } from "./schema.js";
import type { RawJob } from "./shape.js";

/** What no default can say. */
const ESSENTIAL = ["identity", "schedule", "command", "shell", "http"] as const satisfies readonly (keyof RawJob)[];

/**
 * The canonical form without every field, and every field of a group, whose absence means the same: below `defaults`,
 * reading it gives `definition` again. That is tried, so that it cannot disagree with the reader. (A definition without a
 * user, or without tags, cannot be said below a default that has some.)
 */
export function minimalRaw(definition: JobDefinition, defaults?: JobDefaults): RawJob {
  const raw: Fields = definitionToRaw(definition);
  const wanted = canonicalDefinitionText(definition);
  const isSame = (fields: Fields): boolean => {
    const read = readJobDefinition(fields, defaults, { mayUseReservedPrefix: true });
    return read.ok && canonicalDefinitionText(read.value) === wanted;
  };
  const guess = withoutUsual(raw, defaults);
  let kept = guess !== null && isSame(guess) ? guess : raw;
  // What goes without saying next to what is left: `shell: false` next to a list, one of two equal windows.
  const doubtful = guess === kept ? Object.keys(kept).filter((key) => key === "shell") : Object.keys(kept);
  for (const key of doubtful) kept = withoutNeedless(kept, key, isSame);
  return kept as RawJob;
}

/** Without what the same job would get if it said nothing else. */
function withoutUsual(raw: Fields, defaults: JobDefaults | undefined): Fields | null {
  const bare = Object.fromEntries(ESSENTIAL.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]]));
  const read = readJobDefinition(bare, defaults, { mayUseReservedPrefix: true });
  if (!read.ok) return null;
  const usual: Fields = definitionToRaw(read.value);
  const kept = Object.entries(raw).flatMap(([key, value]): [string, unknown][] => {
    if (key in bare) return [[key, value]];
    const rest = isFields(value) && isFields(usual[key]) ? difference(value, usual[key]) : value;
    return JSON.stringify(value) === JSON.stringify(usual[key]) ? [] : [[key, rest]];
  });
  return Object.fromEntries(kept);
}

function difference(group: Fields, usual: Fields): Fields {
  return Object.fromEntries(
    Object.entries(group).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(usual[key])),
  );
}

function withoutNeedless(raw: Fields, key: string, isSame: (raw: Fields) => boolean): Fields {
  const bare = without(raw, key);
  if (isSame(bare)) return bare;
  const group = raw[key];
  if (!isFields(group)) return raw;
  let kept = group;
  for (const inner of Object.keys(kept)) {
    const fewer = without(kept, inner);
    if (isSame({ ...raw, [key]: fewer })) kept = fewer;
  }
  return { ...raw, [key]: kept };
}
