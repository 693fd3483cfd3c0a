/**
 * The configuration as the daemon takes it: what the files say, less what cannot run here, and which jobs are to keep
 * the definition they have (S35). Files that have not changed since the definitions on record were made of them are not
 * read as configuration again.
 */

import type { DefinitionSet } from "../../actors/pool/load/definition-set.js";
import { locateProblems } from "../../actors/pool/load/locate.js";
import { CONFIG_MANIFEST_NOTE, formatManifest, parseManifest } from "../../actors/pool/load/manifest.js";
import type { ConfigManifest, DecisionPool, LoadOptions } from "../../actors/pool/types.js";
import type { Wanted } from "../../actors/supervisor/start/survey.js";
import { turnOfLoop } from "../../actors/turns.js";
import type { AddressPolicy } from "../../core/base/address.js";
import type { LocatedJob } from "../../core/config/located.js";
import type { Settings } from "../../core/config/settings.js";
import { mayHaveWebhook } from "../../core/restart/cut.js";
import { foundOr, type StorePlace } from "../../persist/backends.js";
import type { ConfigCheck, ConfigFinding, ConfigSource } from "../../persist/config-files.js";
import type { MetaWrite, StateReader } from "../../persist/store.js";
import { literalAddressFindings } from "./addresses.js";

const CRONTAB_PREFIX = "crontab:";
/** Jobs looked at before everything else has its turn. */
const PER_TURN = 5_000;
/** A larger file would hold up the loop for the sake of columns: its jobs are places enough. */
const PLACES_IN_YAML_BYTES = 1_000_000;

export interface DaemonConfiguration {
  readonly files: readonly string[];
  readonly wanted: Wanted;
  readonly settings: Settings;
  /** The same without what was said at the start. */
  readonly written: Settings;
  readonly findings: readonly ConfigFinding[];
  /** Whether a job that is in force and not wanted is to stay as it is (S35). */
  keeps(identity: string): boolean;
  /** Jobs among the wanted ones that this version would reject (S16). */
  readonly accepted: readonly string[];
  /** Something is wrong that belongs to no job: jobs may be missing without having been removed. */
  readonly isIncomplete: boolean;
  /** To be stored with the definitions; null: the files must be read again next time. */
  readonly manifest: ConfigManifest | null;
  /** Where the wanted jobs stand; null: they were not read. */
  readonly located: DefinitionSet | null;
}

export interface ConfigurationLoader {
  readonly pool: Pick<DecisionPool, "load">;
  readonly sources: readonly ConfigSource[];
  readonly check: ConfigCheck | null;
  /** Where requests may go besides, whatever the files say. */
  readonly permit?: Partial<AddressPolicy>;
  readonly onProgress?: LoadOptions["onProgress"];
}

export async function loadDaemonConfiguration(
  loader: ConfigurationLoader,
  known: ConfigManifest | null,
): Promise<DaemonConfiguration> {
  const { pool, sources, check, permit = {}, onProgress } = loader;
  const progress = onProgress === undefined ? {} : { onProgress };
  const loaded = await pool.load(sources, { check, known, ...progress });
  const { definitions, manifest, files, settings: written } = loaded;
  const settings = permitted(written, permit);
  if (definitions === null) {
    const nothing = { findings: [], accepted: [], isIncomplete: false, keeps: () => false, located: null };
    return { ...nothing, files, settings, written, wanted: "as-stored", manifest };
  }
  const forbidden = await placed(loader, await forbiddenAddresses(definitions, settings));
  const findings = [...loaded.findings, ...forbidden];
  const named = findings.map(({ located }) => located.identity);
  const invalid = new Set(named.filter((identity) => identity !== null));
  const isIncomplete = named.includes(null);
  const crontabs = [...invalid].flatMap(crontabOf);
  const keeps = (identity: string): boolean =>
    isIncomplete || invalid.has(identity) || crontabs.some((prefix) => identity.startsWith(prefix));
  const wanted = invalid.size === 0 ? definitions : definitions.without(invalid);
  const sound = findings.length === 0 ? manifest : null;
  const found = { findings, accepted: [], isIncomplete, keeps };
  return { ...found, files, wanted, located: wanted, settings, written, manifest: sound };
}

/** What is wrong with jobs that can be read, where it is written. */
export function placed(
  { sources, check }: ConfigurationLoader,
  findings: readonly ConfigFinding[],
): Promise<readonly ConfigFinding[]> {
  return locateProblems(sources, findings, check, PLACES_IN_YAML_BYTES);
}

/** Of what the definitions in this store were made; null: nobody knows. */
export async function storedManifest(reader: Pick<StateReader, "meta">): Promise<ConfigManifest | null> {
  return parseManifest(await reader.meta(CONFIG_MANIFEST_NOTE));
}

/** The same before the store is ours: the lock comes later, and then it must be looked at again. */
export async function manifestIn(place: StorePlace): Promise<ConfigManifest | null> {
  const { backend, at } = foundOr(place);
  // A hint: the whole store is checked when it is opened, and then the manifest is compared with the one in it.
  return parseManifest(await backend.peekNote(at, CONFIG_MANIFEST_NOTE));
}

/** Written before definitions change (null), and when all of them have: in between nobody knows what they are made of. */
export function manifestNote(manifest: ConfigManifest | null): MetaWrite {
  return { key: CONFIG_MANIFEST_NOTE, text: manifest === null ? null : formatManifest(manifest) };
}

/** A line of a crontab is named by what it says: nobody can tell which job a line was that cannot be read any more. */
function crontabOf(identity: string): string[] {
  return identity.startsWith(CRONTAB_PREFIX) ? [identity.slice(0, identity.lastIndexOf(":") + 1)] : [];
}

/** Requests to addresses that stand in their URLs and may not be reached. */
async function forbiddenAddresses(definitions: DefinitionSet, { http }: Settings): Promise<ConfigFinding[]> {
  const findings: ConfigFinding[] = [];
  for (let index = 0; index < definitions.size; index++) {
    if (index % PER_TURN === PER_TURN - 1) await turnOfLoop();
    if (definitions.targetKindAt(index) === "process" && !mayHaveWebhook(definitions.textAt(index))) continue;
    const job = { definition: definitions.definitionAt(index), ...definitions.placeAt(index) };
    findings.push(...literalAddressFindings(job, http));
  }
  return findings;
}

/** What was said at the start of the daemon comes on top of what the files say. */
export function permitted(settings: Settings, permit: Partial<AddressPolicy>): Settings {
  const { http } = settings;
  const allowPrivate = http.allowPrivate || permit.allowPrivate === true;
  return { ...settings, http: { ...http, allowPrivate, allow: [...http.allow, ...(permit.allow ?? [])] } };
}

export function* locatedJobs(located: DefinitionSet): Generator<LocatedJob> {
  for (let index = 0; index < located.size; index++) {
    yield { definition: located.definitionAt(index), ...located.placeAt(index) };
  }
}
