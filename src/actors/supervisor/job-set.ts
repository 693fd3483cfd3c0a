/** The jobs by name and by handle. Handles are dense, so that the timeline's arrays stay small; freed ones are used again. */
import type { Settings } from "../../core/config/settings.js";
import type { JobDefinition } from "../../core/job/definition.js";
import type { TimelineHandle } from "../timeline.js";
import { type JobEntry, newEntry } from "./job-entry.js";

export class JobSet implements Iterable<JobEntry> {
  private readonly byIdentity = new Map<string, JobEntry>();
  private readonly byHandle: (JobEntry | undefined)[] = [];
  private readonly free: TimelineHandle[] = [];

  [Symbol.iterator](): Iterator<JobEntry> {
    return this.byIdentity.values();
  }

  get(identity: string): JobEntry | undefined {
    return this.byIdentity.get(identity);
  }

  at(handle: TimelineHandle): JobEntry | undefined {
    return this.byHandle[handle];
  }

  /** null for a job that is gone from the configuration, although it may still be watched. */
  present(identity: string): JobEntry | null {
    const entry = this.byIdentity.get(identity);
    return entry === undefined || entry.isRemoved ? null : entry;
  }

  add(definition: JobDefinition, settings: Settings): JobEntry {
    const handle = this.free.pop() ?? this.byHandle.length;
    const entry = newEntry(definition, settings, handle);
    this.byHandle[handle] = entry;
    this.byIdentity.set(definition.identity, entry);
    return entry;
  }

  remove({ handle, identity }: JobEntry): void {
    this.byHandle[handle] = undefined;
    this.free.push(handle);
    this.byIdentity.delete(identity);
  }

  /** What is in force. */
  definitions(): Map<string, JobDefinition> {
    const inForce = new Map<string, JobDefinition>();
    for (const entry of this) if (!entry.isRemoved) inForce.set(entry.identity, entry.definition);
    return inForce;
  }
}
