import { sha256Hex } from "../decision/seed.js";

/** The name under which an identity's document is kept: a key in a store, a file in a directory. */
export function stateFileName(identity: string): string {
  return `${sha256Hex(identity)}.json`;
}

/** S32: where an unreadable document is kept for inspection. */
export function corruptFileName(fileName: string, timestamp: string): string {
  return `${fileName}.corrupt.${timestamp}`;
}
