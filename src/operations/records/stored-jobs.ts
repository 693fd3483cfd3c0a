/** The jobs of a store, looked for while no daemon runs: the same question, answered by looking at each of them. */
import type { JobPage, JobQuery, JobStatus } from "../../actors/supervisor/port.js";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { compareNames } from "../../core/base/identity.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { StateReader } from "../../persist/store.js";
import { ListJudge } from "../jobs/list-judge.js";
import { inOrder } from "../jobs/order.js";
import { offlineStatuses } from "./offline-status.js";

export class StoredJobs {
  readonly #reader: StateReader;
  readonly #now: () => EpochMs;
  readonly #onUnusable: (error: KronError) => void;

  /** `onUnusable` is told of jobs whose document this version cannot use: they are left out. */
  constructor(reader: StateReader, now: () => EpochMs, onUnusable: (error: KronError) => void) {
    this.#reader = reader;
    this.#now = now;
    this.#onUnusable = onUnusable;
  }

  async find({ filter, order, from, limit }: JobQuery): Promise<JobPage> {
    const judge = new ListJudge(filter, this.#reader);
    const isCursor = "after" in from;
    const after = isCursor ? from.after : null;
    const [sort, isReversed] = isCursor ? (["name", false] as const) : [order.sort, order.isReversed];
    const offset = isCursor ? 0 : from.offset;
    let before = 0;
    const pages = this.#wanted(judge, (row) => {
      const isBehind = after === null || compareNames(row.identity, after) > 0;
      if (!isBehind) before += 1;
      return isBehind;
    });
    const ordered = await inOrder(pages, sort, offset + limit, isReversed);
    const rows = ordered.rows.slice(offset);
    const next = isCursor && ordered.total > limit ? (rows.at(-1)?.identity ?? null) : null;
    return { rows, total: before + ordered.total, next };
  }

  async *#wanted(judge: ListJudge, isBehind: (row: JobStatus) => boolean): AsyncGenerator<readonly JobStatus[]> {
    const pages = offlineStatuses(this.#reader, this.#now(), this.#onUnusable);
    for await (const rows of pages) yield (await judge.wanted(rows)).filter(isBehind);
  }
}
