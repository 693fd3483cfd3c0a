/**
 * Which version of the program has read every definition in a store. As long as it is this one, they need not be checked
 * again; whoever has met one that cannot be read leaves the note alone.
 */
import { ENGINE_VERSION } from "../core/base/version.js";
import type { MetaWrite, StateReader } from "./store.js";

/** To be written with a batch once all definitions were read without trouble. */
export const DEFINITION_READER = {
  key: "definitions.reader",
  text: ENGINE_VERSION,
} as const satisfies MetaWrite;

/** Another version must read them all before it relies on them. */
export async function areDefinitionsKnown(store: Pick<StateReader, "meta">): Promise<boolean> {
  return (await store.meta(DEFINITION_READER.key)) === DEFINITION_READER.text;
}
