/** What the store knows of a job, read when the job needs it. What cannot be read ends the daemon: nothing may be guessed (S32). */

import { KronError } from "../../../core/base/errors/kron-error.js";
import { messageOf } from "../../../core/base/errors/message.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { newDocument, type StateDocument } from "../../../core/state/document.js";
import { keepHistoryText } from "../../../core/state/history.js";
import { parseDocument } from "../../../core/state/parse.js";
import type { DocumentEntry, StateReader } from "../../../persist/store.js";
import { type LastVersion, lastVersion, placeholderDefinition } from "../start/last-version.js";

export class Records {
  readonly #store: Pick<StateReader, "get" | "definitionVersions" | "newestVersion">;
  constructor(store: Pick<StateReader, "get" | "definitionVersions" | "newestVersion">) {
    this.#store = store;
  }

  /** An empty one for a job that was never seen. */
  async documentOf(identity: string): Promise<StateDocument> {
    return (await this.storedDocument(identity)) ?? newDocument(identity);
  }

  /** null: there is none. */
  async storedDocument(identity: string): Promise<StateDocument | null> {
    const stored = await this.#entryOf(identity);
    if (stored === undefined) return null;
    const parsed = parseDocument(stored.text, stored.key);
    if (stored.isIntact && parsed.ok) {
      // It is about to be written again.
      keepHistoryText(parsed.value.History, stored.text);
      return parsed.value;
    }
    throw unreadable(identity, parsed.ok ? "the text does not match its checksum" : parsed.error.message);
  }

  /** The definition in force; enough of one to watch runs to their end where nobody knows it. */
  async definitionOf(identity: string): Promise<JobDefinition> {
    const { definition, isIntact, isInForce } = await this.#lastVersionOf(identity);
    if (!isIntact) throw unreadable(identity, "its definition does not match its checksum");
    if (definition === null && isInForce) throw unreadable(identity, "its definition cannot be read");
    return definition ?? placeholderDefinition(identity);
  }

  async #entryOf(identity: string): Promise<DocumentEntry | undefined> {
    try {
      return await this.#store.get(identity);
    } catch (error) {
      throw told(error, identity);
    }
  }

  async #lastVersionOf(identity: string): Promise<LastVersion> {
    try {
      return await lastVersion(identity, this.#store);
    } catch (error) {
      throw told(error, identity);
    }
  }
}

function told(error: unknown, identity: string): KronError {
  if (error instanceof KronError) return error;
  return unreadable(identity, messageOf(error), error);
}

function unreadable(identity: string, message: string, cause?: unknown): KronError {
  return new KronError("state-unreadable", message, { component: "persist", operation: "load", identity, cause });
}
