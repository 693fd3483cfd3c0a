/** What a group of batches means for the files of a store. Later batches see what earlier ones of the group changed. */
import * as path from "node:path";
import { nameOfRecord } from "../batch.js";
import { type DocumentKey, documentKey } from "../keys.js";
import type { Batch, DefinitionVersion, LedgerRecord } from "../store.js";
import type { FileChange } from "./atomic.js";
import { formatRecord, formatVersion, parseRecords, parseVersions } from "./lines.js";
import { formatMeta, META_FILE, type Meta, metaAfter } from "./meta.js";
import { formatObject, objectFile } from "./objects.js";

export const LEDGER_DIRECTORY = "ledger";
export const DEFINITIONS_DIRECTORY = "definitions";

const DOCUMENT_SUFFIX = /\.json$/;

/** Relative to the state directory, like every file name here. */
export function linesFile(directory: string, key: DocumentKey): string {
  return path.join(directory, key.replace(DOCUMENT_SUFFIX, ".jsonl"));
}

export function ledgerFile(identity: string): string {
  return linesFile(LEDGER_DIRECTORY, documentKey(identity));
}

export function definitionsFile(identity: string): string {
  return linesFile(DEFINITIONS_DIRECTORY, documentKey(identity));
}

export class Plan {
  readonly #read: (file: string) => Promise<string>;
  /** New content of whole files; null removes. */
  readonly #whole = new Map<string, string | null>();
  /** Lines behind the content that is on disk. */
  readonly #added = new Map<string, string>();
  #meta: Meta;
  readonly #firstMeta: Meta;

  constructor(meta: Meta, read: (file: string) => Promise<string>) {
    this.#meta = meta;
    this.#firstMeta = meta;
    this.#read = read;
  }

  get meta(): Meta {
    return this.#meta;
  }

  async add(batch: Batch): Promise<void> {
    await this.#remove(batch.removed ?? {});
    for (const { key, text } of batch.documents ?? []) this.#whole.set(key, text);
    for (const it of batch.ledger ?? []) this.#append(ledgerFile(it.identity), formatRecord(it));
    for (const it of batch.definitions ?? []) this.#append(definitionsFile(it.identity), formatVersion(it));
    for (const { key, text } of batch.objects ?? []) {
      this.#whole.set(objectFile(key), text === null ? null : formatObject(key, text));
    }
    this.#meta = metaAfter(this.#meta, batch);
  }

  changes(): readonly FileChange[] {
    const changes: FileChange[] = [];
    for (const [file, text] of this.#whole) changes.push(text === null ? { file, isRemoval: true } : { file, text });
    for (const [file, lines] of this.#added) changes.push({ file, lines });
    if (this.#meta !== this.#firstMeta) changes.push({ file: META_FILE, text: formatMeta(this.#meta) });
    return changes;
  }

  async #remove(removed: NonNullable<Batch["removed"]>): Promise<void> {
    const names = new Set((removed.ledger ?? []).map(nameOfRecord));
    const isKept = (it: LedgerRecord): boolean => !names.has(nameOfRecord(it));
    for (const file of new Set((removed.ledger ?? []).map((it) => ledgerFile(it.identity)))) {
      await this.#rewrite(file, (text) => parseRecords(text).filter(isKept).map(formatRecord));
    }
    const versions = new Set((removed.definitions ?? []).map((it) => `${it.identity}\n${it.definedAt}`));
    const isInUse = (it: DefinitionVersion): boolean => !versions.has(`${it.identity}\n${it.definedAt}`);
    for (const file of new Set((removed.definitions ?? []).map((it) => definitionsFile(it.identity)))) {
      await this.#rewrite(file, (text) => parseVersions(text).filter(isInUse).map(formatVersion));
    }
  }

  #append(file: string, line: string): void {
    const whole = this.#whole.get(file);
    if (typeof whole === "string") this.#whole.set(file, whole + line);
    else this.#added.set(file, (this.#added.get(file) ?? "") + line);
  }

  async #rewrite(file: string, linesOf: (text: string) => readonly string[]): Promise<void> {
    const before = this.#whole.get(file) ?? (await this.#read(file)) + (this.#added.get(file) ?? "");
    this.#added.delete(file);
    this.#whole.set(file, linesOf(before).join(""));
  }
}
