/** What a configuration was made of, so that a start with unchanged files need not read them as configuration again. */
import { createHash } from "node:crypto";
import { ENGINE_VERSION } from "../../../core/base/version.js";
import { SETTINGS_DEFAULTS } from "../../../core/config/settings.js";
import { calendarSource } from "../../../persist/calendar-files.js";
import type { ConfigFile, ConfigFiles, ConfigSource, OpenedConfig } from "../../../persist/config-files.js";
import { zoneDataVersion } from "../../zone-data.js";
import type { ConfigManifest, ConfigManifestFile } from "../types.js";

/** Under this key a daemon keeps it in its store, with the definitions it stands for. */
export const CONFIG_MANIFEST_NOTE = "config.manifest";

export function formatManifest(manifest: ConfigManifest): string {
  return JSON.stringify(manifest);
}

/** null: it is not one of this version. */
export function parseManifest(text: string | undefined): ConfigManifest | null {
  const manifest = text === undefined ? null : (JSON.parse(text) as ConfigManifest);
  if (manifest?.reader.startsWith(`${READER} `) !== true) return null;
  // A setting that it does not know yet is what it is where nobody says otherwise.
  return { ...manifest, settings: { ...SETTINGS_DEFAULTS, ...manifest.settings } };
}

/** Zones are part of what definitions are checked by. */
const READER = `${ENGINE_VERSION} ${zoneDataVersion()}`;

/** The same places read by the same rules. */
export function readerOf(sources: readonly ConfigSource[]): string {
  return `${READER} ${createHash("sha256").update(JSON.stringify(sources)).digest("hex")}`;
}

/** The fingerprint of a file, taken while it is read. */
export class Fingerprint {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  of(name: string): ConfigManifestFile {
    return { name, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}

const CHUNK_BYTES = 1024 * 1024;

/** Whether the files are still those of the manifest, byte by byte. Reads no further than to the first difference. */
export async function isUnchanged(
  known: ConfigManifest,
  sources: readonly ConfigSource[],
  files: ConfigFiles,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  let next = 0;
  let calendars = 0;
  let isSame = true;
  for (const source of sources) {
    if (!isSame) break;
    await files.visit(source, async (file, opened) => {
      isSame &&= await isAsKnown(known.files[next], file, opened, onBytes);
      next += 1;
      // An unchanged file names the files of dates that it named before.
      for (let of = known.files[next]; isSame && of?.calendar !== undefined; of = known.files[next]) {
        isSame = await isCalendarAsKnown(of, of.calendar, file, files, onBytes);
        next += 1;
        calendars += 1;
      }
    });
  }
  return isSame && next === known.files.length && files.names.length === next - calendars;
}

/** It is asked for by the same rules as when it was read. */
async function isCalendarAsKnown(
  known: ConfigManifestFile,
  written: string,
  by: ConfigFile,
  files: ConfigFiles,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  const source = calendarSource(by, written);
  const isSame = await files.readCalendar(source, by.name, (opened) => isAsKnown(known, source, opened, onBytes));
  return isSame === true;
}

async function isAsKnown(
  known: ConfigManifestFile | undefined,
  { name }: ConfigSource,
  { handle, stats }: OpenedConfig,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  if (known?.name !== name || known.bytes !== stats.size) return false;
  const fingerprint = new Fingerprint();
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    fingerprint.add(chunk.subarray(0, bytesRead));
    onBytes(bytesRead);
  }
  const { bytes, sha256 } = fingerprint.of(name);
  return bytes === known.bytes && sha256 === known.sha256;
}
