/**
 * S16: a definition in force is warned about, never refused, when a new version of the program would reject it. Whoever
 * only exchanged the program did not make a mistake in the configuration; whoever edited it is told of every one (S35).
 */

import type { Problem } from "../../core/base/problem.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { readDefinitionInForce } from "../../core/job/schema.js";
import { foundOr, type StorePlace } from "../../persist/backends.js";
import type { StateReader } from "../../persist/store.js";
import { readBootNote } from "./boot-note.js";
import type { DaemonConfiguration } from "./configuration.js";

export interface KeptDefinition {
  readonly definition: JobDefinition;
  /** What this version has against it. */
  readonly problems: readonly Problem[];
}

/** All jobs with a finding, as the last version of the program ran them; null when any of them is to be refused. */
export async function keptDefinitions(
  { findings, isIncomplete }: DaemonConfiguration,
  place: StorePlace,
  engine: string,
): Promise<readonly KeptDefinition[] | null> {
  const identities = new Set(findings.flatMap(({ located }) => located.identity ?? []));
  if (isIncomplete || identities.size === 0) return null;
  const { backend, at } = foundOr(place);
  const opened = await backend.openReader(at);
  if (!opened.ok) return null;
  try {
    const note = await readBootNote(opened.value);
    const isNews = (identity: string): boolean => note?.engine === engine && !note.kept.includes(identity);
    if (note === null || [...identities].some(isNews)) return null;
    const kept = await Promise.all([...identities].map((identity) => inForce(opened.value, identity)));
    return kept.includes(null) ? null : kept.filter((one) => one !== null);
  } finally {
    await opened.value.close();
  }
}

async function inForce(reader: StateReader, identity: string): Promise<KeptDefinition | null> {
  const version = await reader.newestVersion(identity);
  if (version === undefined || version.text === null || !version.isIntact) return null;
  return readDefinitionInForce(version.text);
}
