/** Jobs that are not kept: each is handed on as it comes, and only names and places stay. */
import type { LocatedJob, Place } from "../../../core/config/located.js";
import type { Candidate, JobChunk, JobKeeper } from "./merge.js";

type Jobs = readonly LocatedJob[];

export class GivenAway implements JobKeeper<Jobs> {
  readonly #take: (job: LocatedJob) => void;
  readonly #places = new Map<string, Place>();
  #chunk: JobChunk<Jobs> = { file: "", jobs: [], linesBefore: 0 };

  constructor(take: (job: LocatedJob) => void) {
    this.#take = take;
  }

  get size(): number {
    return this.#places.size;
  }

  begin(chunk: JobChunk<Jobs>): number {
    this.#chunk = chunk;
    return chunk.jobs.length;
  }

  isNew(position: number): boolean {
    return !this.#places.has(this.#jobAt(position).definition.identity);
  }

  add(position: number): Place | null {
    const { identity, place } = this.candidateAt(position);
    const earlier = this.#places.get(identity);
    if (earlier !== undefined) return earlier;
    this.#places.set(identity, place);
    this.#take({ ...this.#jobAt(position), ...place });
    return null;
  }

  candidateAt(position: number): Candidate {
    const { definition, file, line, column } = this.#jobAt(position);
    return { identity: definition.identity, place: { file, line: this.#chunk.linesBefore + line, column } };
  }

  placeAt(index: number): Place {
    return [...this.#places.values()][index] as Place;
  }

  #jobAt(position: number): LocatedJob {
    return this.#chunk.jobs[position] as LocatedJob;
  }
}
