import { compileRule } from "../../../../src/core/decision/compile.js";
import { sha256Hex } from "../../../../src/core/decision/seed.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { canonicalDefinitionText, canonicalRuleText, readJobDefinition } from "../../../../src/core/job/schema.js";
import { currentPeriod } from "../../../../src/core/period/periods.js";
import { newDocument, type StateDocument } from "../../../../src/core/state/document.js";
import { serialiseDocument } from "../../../../src/core/state/serialise.js";
import { formatInstant } from "../../../../src/core/time/instant.js";
import { documentKey } from "../../../../src/persist/keys.js";
import type { DefinitionVersion, DocumentWrite } from "../../../../src/persist/store.js";

export const NOW = Date.UTC(2026, 10, 18, 14, 1, 30);

/** Of any number of jobs the one at `index`: schedules, zones and windows of many kinds. */
export function jobAt(index: number, more: Record<string, unknown> = {}): JobDefinition {
  const raw = {
    identity: index % 7 === 0 ? `gruppe-ä/“${index}”` : `team-${index % 50}/job-${index}`,
    schedule: index % 3 === 0 ? `*/${[5, 10, 15, 20][index % 4]} * * * *` : `${index % 60} ${index % 24} * * *`,
    timezone: ["UTC", "Europe/Berlin", "America/New_York"][index % 3],
    window: { mode: "after", duration: `${index % 4}m` },
    command: ["/usr/local/bin/run", "--job", String(index)],
    ...more,
  };
  const read = readJobDefinition(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

/** A document as a daemon leaves it behind that was alive until now. */
export function documentOf(definition: JobDefinition, more: Partial<StateDocument> = {}): StateDocument {
  const currentAt = currentPeriod(compileRule(definition), NOW);
  const id = currentAt === null ? "" : formatInstant(currentAt);
  return {
    ...newDocument(definition.identity),
    LastHandledPeriodID: id,
    LastOutcome: id === "" ? "" : "executed",
    LastChosenTime: id,
    LastNominalTime: id,
    DefinedAt: "2026-10-18T14:01:30Z",
    DefinitionHash: sha256Hex(canonicalRuleText(definition)),
    ...more,
  };
}

export function writesOf(document: StateDocument): DocumentWrite {
  return { key: documentKey(document.Identity), text: serialiseDocument(document) };
}

export function versionOf(definition: JobDefinition, definedAt = NOW - 1_000_000): DefinitionVersion {
  return { identity: definition.identity, definedAt, text: canonicalDefinitionText(definition) };
}
