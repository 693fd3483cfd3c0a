/** Objects of hosts, one file each: a line of JSON with its checksum, as ledger and definitions have them. */
import * as path from "node:path";
import { checksum } from "../checksum.js";
import type { StoredObject } from "../store.js";

export const OBJECTS_DIRECTORY = "objects";

const SUFFIX = ".json";
/** What no name of an object has, in the place of what no name of a file has. */
const SLASH = "=";

export function objectFile(key: string): string {
  return path.join(OBJECTS_DIRECTORY, key.replaceAll("/", SLASH) + SUFFIX);
}

/** null: not one of ours. */
export function keyOfObjectFile(name: string): string | null {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length).replaceAll(SLASH, "/") : null;
}

export function formatObject(key: string, text: string): string {
  const body = JSON.stringify({ key, text });
  return `${JSON.stringify({ sum: checksum(0, body), body })}\n`;
}

/** The right text under the wrong name does not pass either. */
export function parseObject(key: string, content: string): StoredObject {
  try {
    const { sum, body } = JSON.parse(content) as { readonly sum: unknown; readonly body: string };
    const { key: own, text } = JSON.parse(body) as { readonly key: unknown; readonly text: string };
    return { key, text, isIntact: sum === checksum(0, body) && own === key };
  } catch {
    return { key, text: content, isIntact: false };
  }
}
