/**
 * Jobs that are wanted and that no node looks after now: nobody serves their pool, or their shard is on its way. They are read
 * from the store each time that somebody asks, a page at a time; what runs of them nobody knows then but by the record.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { storedDefinition } from "../../core/job/stored.js";
import { newDocument, type StateDocument } from "../../core/state/document.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ClusterMember, UnservedJob } from "../../persist/cluster.js";
import type { StateReader } from "../../persist/store.js";
import type { Clock } from "../clock.js";
import type { JobPage, JobQuery, JobStatus } from "../supervisor/port.js";
import { isTagged, wantedBy } from "../supervisor/rows/job-filter.js";
import { recordedStatus } from "../supervisor/rows/recorded-status.js";
import { Records } from "../supervisor/write/records.js";
import { nameOf } from "./membership.js";
import { compareNames, comparisonOf, type JobSource } from "./merged-jobs.js";

/** Read with one statement. */
const READ_AT_ONCE = 500;

export interface UnservedPorts {
  readonly member: Pick<ClusterMember, "nodes" | "unserved">;
  /** The whole store. */
  readonly store: Pick<StateReader, "get" | "definitionVersions" | "newestVersion">;
  readonly time: Pick<Clock, "now">;
}

export class UnservedJobs implements JobSource {
  /** It is asked of nobody. */
  readonly name = "";
  readonly #ports: UnservedPorts;
  readonly #records: Records;

  constructor(ports: UnservedPorts) {
    this.#ports = ports;
    this.#records = new Records(ports.store);
  }

  async find({ filter, order, from, limit }: JobQuery): Promise<JobPage> {
    const [shards, rows] = [new Set<string>(), [] as JobStatus[]];
    const isWanted = wantedBy(filter);
    for await (const job of this.#all()) {
      shards.add(nameOf(job));
      const row = isOfTags(job, filter.tags) ? await this.#statusOf(job, this.#ports.time.now()) : null;
      if (row !== null && isWanted(row)) rows.push(row);
    }
    return { ...pageOf(rows, { order, from, limit }), shards: [...shards] };
  }

  /** Those of them of which it would be in vain to wait for somebody: no node serves their pool. */
  async ofNobody(identities: readonly string[]): Promise<readonly JobStatus[]> {
    const { member, time } = this.#ports;
    const found = await member.unserved({ identities, after: "", limit: identities.length });
    if (found.length === 0) return [];
    const serving = (await member.nodes()).filter(({ isDraining }) => !isDraining);
    const served = new Set(serving.flatMap(({ pools }) => pools));
    const rows = found.map((job) => (served.has(job.pool) ? null : this.#statusOf(job, time.now())));
    return (await Promise.all(rows)).flatMap((row) => row ?? []);
  }

  async *#all(): AsyncGenerator<UnservedJob> {
    for (let after = ""; ; ) {
      const page = await this.#ports.member.unserved({ identities: null, after, limit: READ_AT_ONCE });
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < READ_AT_ONCE) return;
      after = last.identity;
    }
  }

  /** null: this version cannot read what is wanted of it. */
  async #statusOf({ identity, pool, text }: UnservedJob, now: EpochMs): Promise<JobStatus | null> {
    const definition = storedDefinition(text);
    if (definition === null) return null;
    return { ...recordedStatus(definition, await this.#documentOf(identity), now), unserved: pool };
  }

  /** One that is damaged is put aside by whoever looks after the job next. */
  async #documentOf(identity: string): Promise<StateDocument> {
    try {
      return await this.#records.documentOf(identity);
    } catch (error) {
      if (error instanceof KronError && error.isFatal) throw error;
      return newDocument(identity);
    }
  }
}

function isOfTags({ identity, text }: UnservedJob, tags: readonly string[]): boolean {
  return tags.length === 0 || isTagged({ identity, definedAt: 0, text, isIntact: true }, tags);
}

function pageOf(rows: JobStatus[], { order, from, limit }: Pick<JobQuery, "order" | "from" | "limit">): JobPage {
  const total = rows.length;
  if ("offset" in from) {
    const sorted = rows.sort(comparisonOf(order));
    return { rows: sorted.slice(from.offset, from.offset + limit), total, next: null };
  }
  const { after } = from;
  const behind = after === null ? rows : rows.filter(({ identity }) => compareNames(identity, after) > 0);
  const page = behind.slice(0, limit);
  return { rows: page, total, next: behind.length > limit ? (page.at(-1)?.identity ?? null) : null };
}
