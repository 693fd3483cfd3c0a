/**
 * All jobs of a configuration, outside the heap: their canonical texts in the pieces in which they came, an index over
 * their names, and two numbers a job that say where it is. A definition is made when it is asked for.
 */
import type { Place } from "../../../core/config/located.js";
import { definitionFromCanonical } from "../../../core/job/canonical.js";
import type { ContentHash } from "../../../core/job/content-hash.js";
import type { JobDefinition, Target } from "../../../core/job/definition.js";
import { IdentityIndex } from "../../supervisor/rows/identity-index.js";
import type { WantedJobs } from "../../supervisor/start/wanted-jobs.js";
import { copied, grownCapacity } from "../../typed-arrays.js";
import { bytesOfColumns, type JobColumns, keptColumns, textBytes } from "./job-columns.js";
import type { Candidate, JobChunk, JobKeeper } from "./merge.js";
import { Slabs } from "./slabs.js";

const FIRST_CAPACITY = 64;
/** Of all pieces together; what comes before stays as it came. */
const LARGE_BYTES = 32 * 1024 * 1024;
const DECODER = new TextDecoder();
/** Where the identity begins in a canonical text, and the byte behind it. */
const IDENTITY_START = '{"identity":"'.length;
const QUOTE = 34;
const BACKSLASH = 92;

type ColumnChunk = JobChunk<JobColumns>;

export class DefinitionSet implements JobKeeper<JobColumns>, WantedJobs {
  readonly #names = new IdentityIndex();
  readonly #chunks: ColumnChunk[] = [];
  readonly #slabs = new Slabs();
  #textBytes = 0;
  #chunkOf = new Uint32Array(FIRST_CAPACITY);
  #positionOf = new Uint32Array(FIRST_CAPACITY);

  get size(): number {
    return this.#names.size;
  }

  /** Bytes held. */
  get byteLength(): number {
    const own = this.#names.byteLength + this.#chunkOf.byteLength + this.#positionOf.byteLength;
    return this.#chunks.reduce((sum, { jobs }) => sum + bytesOfColumns(jobs), own);
  }

  begin(chunk: ColumnChunk): number {
    const { jobs } = chunk;
    this.#textBytes += jobs.texts.length;
    const isLarge = this.#textBytes >= LARGE_BYTES;
    this.#chunks.push(isLarge ? { ...chunk, jobs: keptColumns(jobs, this.#slabs) } : chunk);
    return jobs.count;
  }

  isNew(position: number): boolean {
    const text = textBytes(this.#newest.jobs, position);
    const end = plainIdentityEnd(text);
    const handle =
      end === null ? this.#names.handleOf(escapedIdentity(text)) : this.#names.handleOfBytes(text, IDENTITY_START, end);
    return handle === null;
  }

  add(position: number): Place | null {
    const text = textBytes(this.#newest.jobs, position);
    const [before, end] = [this.#names.size, plainIdentityEnd(text)];
    const index =
      end === null ? this.#names.add(escapedIdentity(text)) : this.#names.addBytes(text, IDENTITY_START, end);
    if (this.#names.size === before) return this.placeAt(index);
    if (index >= this.#chunkOf.length) this.#grow();
    this.#chunkOf[index] = this.#chunks.length - 1;
    this.#positionOf[index] = position;
    return null;
  }

  candidateAt(position: number): Candidate {
    const chunk = this.#newest;
    return { identity: escapedIdentity(textBytes(chunk.jobs, position)), place: placeIn(chunk, position) };
  }

  placeAt(index: number): Place {
    const { chunk, position } = this.#at(index);
    return placeIn(chunk, position);
  }

  /** -1: there is no such job. */
  indexOf(identity: string): number {
    return this.#names.handleOf(identity) ?? -1;
  }

  identityAt(index: number): string {
    return this.#names.identityOf(index);
  }

  contentHashAt(index: number): ContentHash {
    const { chunk, position } = this.#at(index);
    const { contentHash } = chunk.jobs;
    return { high: contentHash[2 * position] as number, low: contentHash[2 * position + 1] as number };
  }

  textAt(index: number): string {
    const { chunk, position } = this.#at(index);
    return DECODER.decode(textBytes(chunk.jobs, position));
  }

  definitionAt(index: number): JobDefinition {
    const definition = definitionFromCanonical(this.textAt(index));
    if (definition === null) throw new Error(`invariant broken: definition ${index} was read and cannot be read again`);
    return definition;
  }

  targetKindAt(index: number): Target["kind"] {
    const { chunk, position } = this.#at(index);
    return chunk.jobs.isHttp[position] === 1 ? "http" : "process";
  }

  /** The same without some of the jobs; they share what they hold. */
  without(identities: ReadonlySet<string>): DefinitionSet {
    const rest = new DefinitionSet();
    let last: ColumnChunk | null = null;
    for (let index = 0; index < this.size; index++) {
      const { chunk, position } = this.#at(index);
      if (identities.has(this.identityAt(index))) continue;
      if (chunk !== last) rest.#chunks.push(chunk);
      last = chunk;
      rest.add(position);
    }
    return rest;
  }

  #at(index: number): { readonly chunk: ColumnChunk; readonly position: number } {
    const chunk = index < this.size ? this.#chunks[this.#chunkOf[index] as number] : undefined;
    if (chunk === undefined) throw new Error(`invariant broken: no definition at ${index} of ${this.size}`);
    return { chunk, position: this.#positionOf[index] as number };
  }

  get #newest(): ColumnChunk {
    return this.#chunks.at(-1) as ColumnChunk;
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

function placeIn({ file, jobs, linesBefore }: ColumnChunk, position: number): Place {
  return {
    file,
    line: linesBefore + (jobs.lines[position] as number),
    column: jobs.columns[position] as number,
  };
}
