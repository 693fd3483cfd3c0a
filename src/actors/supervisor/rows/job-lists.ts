/** What is told of many jobs at once: some by name, or a page of those that somebody looks for. */
import { packGlance } from "../../../core/restart/glance.js";
import type { StateDocument } from "../../../core/state/document.js";
import type { TimelineHandle } from "../../timeline.js";
import { turnOfLoop } from "../../turns.js";
import type { JobPage, JobQuery, JobStatus, ListOptions, SupervisorPorts } from "../port.js";
import type { Records } from "../write/records.js";
import { isTagged, wantedBy } from "./job-filter.js";
import { BY_NAME } from "./job-query.js";
import type { JobSet } from "./job-set.js";
import { glanceAt, type StatusSubject, statusOf } from "./job-status.js";
import { JobViews, type View } from "./job-views.js";
import { Listing } from "./listing.js";

/** Read before everything else has its turn. */
const READ_PER_TURN = 64;
/** Definitions that are read for one page of jobs with a tag: whoever asks goes on behind it. */
const LOOKED_AT = 5_000;

type Ports = Pick<SupervisorPorts, "clock" | "store">;
type Subject = { readonly subject: StatusSubject; readonly document: StateDocument };

export class JobLists {
  readonly #ports: Ports;
  readonly #jobs: JobSet;
  readonly #records: Records;
  readonly #documentOf: (identity: string) => Promise<StateDocument>;
  readonly #listing: Listing;
  readonly #views: JobViews;

  constructor(ports: Ports, jobs: JobSet, records: Records, documentOf: (identity: string) => Promise<StateDocument>) {
    this.#ports = ports;
    this.#jobs = jobs;
    this.#records = records;
    this.#documentOf = documentOf;
    const { rows } = jobs;
    this.#listing = new Listing(rows.names);
    this.#views = new JobViews({
      rows,
      listing: this.#listing,
      read: (handle, identity) => this.#read(handle, identity),
      isTagged: (identity, tags) => this.#isTagged(identity, tags),
    });
  }

  async list(options: ListOptions): Promise<readonly JobStatus[]> {
    const { names } = this.#jobs.rows;
    // By name from here on: jobs come and go meanwhile, and handles with them.
    const identities = (await this.#listing.page(options)).map((handle) => names.identityOf(handle));
    return this.#rowsOf(identities, () => true);
  }

  async find({ filter, order, from, limit }: JobQuery): Promise<JobPage> {
    const now = this.#ports.clock.now();
    const isWanted = wantedBy(filter);
    if ("after" in from) {
      const view = await this.#views.of({ ...filter, tags: [] }, BY_NAME, now);
      const start = from.after === null ? 0 : this.#placeAfter(view, from.after);
      const { identities, end, last } = await this.#tagged(view, start, limit, filter.tags);
      const next = end < view.length ? (last ?? from.after) : null;
      const total = filter.tags.length === 0 ? view.length : null;
      return { rows: await this.#rowsOf(identities, isWanted), total, next };
    }
    const view = await this.#views.of(filter, order, now);
    const page = [...view.subarray(from.offset, from.offset + limit)].map((handle) => this.#identityAt(handle));
    const identities = page.filter((identity) => identity !== "");
    return { rows: await this.#rowsOf(identities, isWanted), total: view.length, next: null };
  }

  /** From there on as many as are wanted, and where that ends. */
  async #tagged(view: View, start: number, limit: number, tags: readonly string[]) {
    const identities: string[] = [];
    let last: string | null = null;
    const most = tags.length === 0 ? limit : LOOKED_AT;
    let end = start;
    for (; end < view.length && end - start < most && identities.length < limit; end++) {
      const identity = this.#identityAt(view[end] as number);
      if (identity === "") continue;
      last = identity;
      if (tags.length === 0 || (await this.#isTagged(identity, tags))) identities.push(identity);
      if (tags.length > 0 && (end - start) % READ_PER_TURN === READ_PER_TURN - 1) await turnOfLoop();
    }
    return { identities, end, last };
  }

  async #rowsOf(identities: readonly string[], isWanted: (row: JobStatus) => boolean): Promise<readonly JobStatus[]> {
    const { names } = this.#jobs.rows;
    const rows: JobStatus[] = [];
    for (const [index, identity] of identities.entries()) {
      const handle = names.handleOf(identity);
      const row = handle === null ? null : await this.#statusAt(handle, identity);
      if (row !== null && isWanted(row)) rows.push(row);
      if (index % READ_PER_TURN === READ_PER_TURN - 1) await turnOfLoop();
    }
    return rows;
  }

  async #statusAt(handle: TimelineHandle, identity: string): Promise<JobStatus> {
    const { subject, document } = await this.#subjectAt(handle, identity);
    return statusOf(subject, document, this.#ports.clock.now());
  }

  /** The same, and the index is told, which did not know. */
  async #read(handle: TimelineHandle, identity: string): Promise<JobStatus> {
    const { index } = this.#jobs.rows;
    index.reading(handle);
    const { subject, document } = await this.#subjectAt(handle, identity);
    const now = this.#ports.clock.now();
    if (this.#identityAt(handle) === identity) index.read(handle, packGlance(glanceAt(subject, document, now)));
    return statusOf(subject, document, now);
  }

  async #subjectAt(handle: TimelineHandle, identity: string): Promise<Subject> {
    const { rows } = this.#jobs;
    const [isRemoved, liveAt] = [rows.isRemoved(handle), rows.liveAt(handle)];
    const document = await this.#documentOf(identity);
    const awake = this.#jobs.awakeAt(handle);
    const definition = awake?.isLoaded === true ? awake.definition : await this.#records.definitionOf(identity);
    return { subject: { identity, definition, isRemoved, liveAt }, document };
  }

  async #isTagged(identity: string, tags: readonly string[]): Promise<boolean> {
    return isTagged(await this.#ports.store.newestVersion(identity), tags);
  }

  /** Empty: it is gone. */
  #identityAt(handle: TimelineHandle): string {
    const { names } = this.#jobs.rows;
    return names.has(handle) ? names.identityOf(handle) : "";
  }

  /** The first place behind the identity, whether it is there or not. */
  #placeAfter(view: View, identity: string): number {
    const { names } = this.#jobs.rows;
    let [low, high] = [0, view.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (names.compareTo(view[middle] as number, identity) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
