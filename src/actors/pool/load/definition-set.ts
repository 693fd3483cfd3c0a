/**
 * All jobs of a configuration, outside the heap: their canonical texts in the pieces in which they came, an index over
 * their names, and two numbers a job that say where it is.
 */
import type { CrontabReading } from "../../../core/config/crontab/crontab.js";
import type { Place } from "../../../core/config/located.js";
import type { Settings } from "../../../core/config/settings.js";
import { definitionFromCanonical } from "../../../core/job/canonical.js";
import type { ContentHash } from "../../../core/job/content-hash.js";
import type { JobDefinition, Target } from "../../../core/job/definition.js";
import type { ConfigFinding } from "../../../persist/config-files.js";
import { IdentityIndex } from "../../supervisor/rows/identity-index.js";
import { copied, grownCapacity } from "../../typed-arrays.js";
import type { DefinitionSet } from "../types.js";
import { bytesOfColumns, type JobColumns, textBytes } from "./job-columns.js";

/** Jobs of one file that came together. */
export interface JobChunk {
  readonly file: string;
  readonly jobs: JobColumns;
  /** Added to the line numbers of the jobs. */
  readonly linesBefore: number;
}

export interface SetDetails {
  readonly files: readonly string[];
  readonly settings: Settings;
  readonly findings: readonly ConfigFinding[];
  readonly crontabs: readonly CrontabReading[];
}

const FIRST_CAPACITY = 64;
const DECODER = new TextDecoder();
/** Where the identity begins in a canonical text, and the byte behind it. */
const IDENTITY_START = '{"identity":"'.length;
const QUOTE = 34;
const BACKSLASH = 92;

/** Which job is the how-many-th of the whole. */
export class JobIndex {
  readonly #names = new IdentityIndex();
  readonly #chunks: JobChunk[] = [];
  #chunkOf = new Uint32Array(FIRST_CAPACITY);
  #positionOf = new Uint32Array(FIRST_CAPACITY);

  get size(): number {
    return this.#names.size;
  }

  get chunks(): readonly JobChunk[] {
    return this.#chunks;
  }

  get byteLength(): number {
    const own = this.#names.byteLength + this.#chunkOf.byteLength + this.#positionOf.byteLength;
    return this.#chunks.reduce((sum, { jobs }) => sum + bytesOfColumns(jobs), own);
  }

  /** Its jobs are added one by one, by their position. */
  addChunk(chunk: JobChunk): void {
    this.#chunks.push(chunk);
  }

  /** Adds a job of the newest chunk. Returns the index of an earlier one with the same identity, and adds nothing. */
  add(position: number): number | null {
    const chunk = this.#chunks.length - 1;
    const text = textBytes((this.#chunks[chunk] as JobChunk).jobs, position);
    const [before, end] = [this.#names.size, plainIdentityEnd(text)];
    const index =
      end === null ? this.#names.add(escapedIdentity(text)) : this.#names.addBytes(text, IDENTITY_START, end);
    if (this.#names.size === before) return index;
    if (index >= this.#chunkOf.length) this.#grow();
    this.#chunkOf[index] = chunk;
    this.#positionOf[index] = position;
    return null;
  }

  /** Whether a job of the newest chunk has a name that is not taken. */
  isNew(position: number): boolean {
    const text = textBytes((this.#chunks.at(-1) as JobChunk).jobs, position);
    const end = plainIdentityEnd(text);
    const handle =
      end === null ? this.#names.handleOf(escapedIdentity(text)) : this.#names.handleOfBytes(text, IDENTITY_START, end);
    return handle === null;
  }

  indexOf(identity: string): number {
    return this.#names.handleOf(identity) ?? -1;
  }

  identityAt(index: number): string {
    return this.#names.identityOf(index);
  }

  at(index: number): { readonly chunk: JobChunk; readonly position: number } {
    const chunk = index < this.size ? this.#chunks[this.#chunkOf[index] as number] : undefined;
    if (chunk === undefined) throw new Error(`invariant broken: no definition at ${index} of ${this.size}`);
    return { chunk, position: this.#positionOf[index] as number };
  }

  #grow(): void {
    const capacity = grownCapacity(this.#chunkOf.length, this.#chunkOf.length + 1);
    this.#chunkOf = copied(this.#chunkOf, new Uint32Array(capacity));
    this.#positionOf = copied(this.#positionOf, new Uint32Array(capacity));
  }
}

/** null: it is written with escapes. */
function plainIdentityEnd(text: Uint8Array): number | null {
  for (let at = IDENTITY_START; at < text.length; at++) {
    if (text[at] === QUOTE) return at;
    if (text[at] === BACKSLASH) return null;
  }
  throw new Error("invariant broken: a canonical text without an identity");
}

function escapedIdentity(text: Uint8Array): string {
  return (JSON.parse(DECODER.decode(text)) as { readonly identity: string }).identity;
}

export class HeldDefinitions implements DefinitionSet {
  readonly #index: JobIndex;
  readonly files: readonly string[];
  readonly settings: Settings;
  readonly findings: readonly ConfigFinding[];
  readonly crontabs: readonly CrontabReading[];

  constructor(index: JobIndex, { files, settings, findings, crontabs }: SetDetails) {
    this.#index = index;
    this.files = files;
    this.settings = settings;
    this.findings = findings;
    this.crontabs = crontabs;
  }

  get size(): number {
    return this.#index.size;
  }

  get byteLength(): number {
    return this.#index.byteLength;
  }

  has(identity: string): boolean {
    return this.indexOf(identity) >= 0;
  }

  indexOf(identity: string): number {
    return this.#index.indexOf(identity);
  }

  identityAt(index: number): string {
    return this.#index.identityAt(index);
  }

  contentHashAt(index: number): ContentHash {
    const { chunk, position } = this.#index.at(index);
    const { contentHash } = chunk.jobs;
    return { high: contentHash[2 * position] as number, low: contentHash[2 * position + 1] as number };
  }

  textAt(index: number): string {
    const { chunk, position } = this.#index.at(index);
    return DECODER.decode(textBytes(chunk.jobs, position));
  }

  definitionAt(index: number): JobDefinition {
    const definition = definitionFromCanonical(this.textAt(index));
    if (definition === null) throw new Error(`invariant broken: definition ${index} was read and cannot be read again`);
    return definition;
  }

  targetKindAt(index: number): Target["kind"] {
    const { chunk, position } = this.#index.at(index);
    return chunk.jobs.isHttp[position] === 1 ? "http" : "process";
  }

  placeAt(index: number): Place {
    const { chunk, position } = this.#index.at(index);
    return placeIn(chunk, position);
  }

  without(identities: ReadonlySet<string>): DefinitionSet {
    const { files, settings, findings, crontabs } = this;
    const rest = new JobIndex();
    let last: JobChunk | null = null;
    for (let index = 0; index < this.size; index++) {
      const { chunk, position } = this.#index.at(index);
      if (identities.has(this.identityAt(index))) continue;
      if (chunk !== last) rest.addChunk(chunk);
      last = chunk;
      rest.add(position);
    }
    return new HeldDefinitions(rest, { files, settings, findings, crontabs });
  }
}

export function placeIn({ file, jobs, linesBefore }: JobChunk, position: number): Place {
  return {
    file,
    line: linesBefore + (jobs.lines[position] as number),
    column: jobs.columns[position] as number,
  };
}
