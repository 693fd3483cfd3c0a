/** The jobs: a row for each, and an entry for those that anything concerns. */
import type { TimelineHandle } from "../../timeline.js";
import { JobEntry } from "./job-entry.js";
import { JobRows } from "./job-rows.js";

export class JobSet {
  readonly rows = new JobRows();
  readonly #awake = new Map<TimelineHandle, JobEntry>();

  /** Entries of the jobs that are not at rest. */
  entries(): IterableIterator<JobEntry> {
    return this.#awake.values();
  }

  /** null: nobody has this identity. */
  handleOf(identity: string): TimelineHandle | null {
    return this.rows.names.handleOf(identity);
  }

  /** Whether it is configured. Nothing of a job at rest is woken by the question. */
  has(identity: string): boolean {
    const handle = this.handleOf(identity);
    return handle !== null && !this.rows.isRemoved(handle);
  }

  /** The entry of a job that is known, a new one when it was at rest. */
  get(identity: string): JobEntry | null {
    const handle = this.handleOf(identity);
    return handle === null ? null : this.at(handle);
  }

  /** Like `get`, but null for a job that is gone from the configuration, although it may still be watched. */
  present(identity: string): JobEntry | null {
    const handle = this.handleOf(identity);
    return handle === null || this.rows.isRemoved(handle) ? null : this.at(handle);
  }

  at(handle: TimelineHandle): JobEntry {
    const awake = this.#awake.get(handle);
    if (awake !== undefined) return awake;
    const entry = new JobEntry(this.rows.names.identityOf(handle), handle, this.rows);
    this.#awake.set(handle, entry);
    return entry;
  }

  /** Its entry, if it is not at rest. */
  awakeAt(handle: TimelineHandle): JobEntry | null {
    return this.#awake.get(handle) ?? null;
  }

  add(identity: string): JobEntry {
    return this.at(this.rows.add(identity));
  }

  /** The job rests: from here on its row and the store are all there is of it. */
  drop(entry: JobEntry): void {
    if (this.#awake.get(entry.handle) !== entry) return;
    entry.drop();
    this.#awake.delete(entry.handle);
  }

  remove(entry: JobEntry): void {
    this.drop(entry);
    this.rows.remove(entry.handle);
  }
}
