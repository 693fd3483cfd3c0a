/**
 * Jobs that are wanted and that no node looks after now: nobody serves their pool, or their shard is on its way. They are read
 * from the store each time that somebody asks; what runs of them nobody knows then but by the record.
 */
import { compareNames } from "../../core/base/identity.js";
import { storedDefinition } from "../../core/job/stored.js";
import { newDocument, type StateDocument } from "../../core/state/document.js";
import { parseDocument } from "../../core/state/parse.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ClusterMember, UnservedJob } from "../../persist/cluster.js";
import { documentKey } from "../../persist/keys.js";
import type { Clock } from "../clock.js";
import type { JobPage, JobQuery, JobStatus } from "../supervisor/port.js";
import { isTagged, wantedBy } from "../supervisor/rows/job-filter.js";
import { comparisonOf } from "../supervisor/rows/job-order.js";
import { recordedStatus } from "../supervisor/rows/recorded-status.js";
import { placeholderDefinition } from "../supervisor/start/last-version.js";
import { nameOf } from "./membership.js";
import type { JobSource } from "./merged-jobs.js";

/** Read with one statement. */
const READ_AT_ONCE = 500;
/** Of more than these the first by name are told of: a list must not cost more the more of a pool is missing. */
const MOST_TOLD = 10_000;

interface UnservedPorts {
  readonly member: Pick<ClusterMember, "nodes" | "unserved">;
  readonly time: Pick<Clock, "now">;
}

export class UnservedJobs implements JobSource {
  /** It is asked of nobody. */
  readonly name = "";
  readonly #ports: UnservedPorts;

  constructor(ports: UnservedPorts) {
    this.#ports = ports;
  }

  async find({ filter, order, from, limit }: JobQuery): Promise<JobPage> {
    const [shards, rows] = [new Set<string>(), [] as JobStatus[]];
    const isWanted = wantedBy(filter);
    for await (const job of this.#all()) {
      shards.add(nameOf(job));
      const row = isOfTags(job, filter.tags) ? statusOf(job, this.#ports.time.now()) : null;
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
    return found.flatMap((job) => (served.has(job.pool) ? [] : statusOf(job, time.now())));
  }

  async *#all(): AsyncGenerator<UnservedJob> {
    let after = "";
    for (let told = 0; told < MOST_TOLD; told += READ_AT_ONCE) {
      const page = await this.#ports.member.unserved({ identities: null, after, limit: READ_AT_ONCE });
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < READ_AT_ONCE) return;
      after = last.identity;
    }
  }
}

/** What cannot be read is told of by name: whoever looks after it next says what is wrong. */
function statusOf({ identity, pool, text, document }: UnservedJob, now: EpochMs): JobStatus {
  const definition = storedDefinition(text) ?? placeholderDefinition(identity);
  return { ...recordedStatus(definition, documentIn(identity, document), now), unserved: pool };
}

function documentIn(identity: string, text: string | null): StateDocument {
  const parsed = text === null ? null : parseDocument(text, documentKey(identity));
  return parsed?.ok === true ? parsed.value : newDocument(identity);
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
