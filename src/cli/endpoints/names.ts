/**
 * What people call jobs and endpoints, as the daemon finds them: by id, by the name of a job, or as JOB/ENDPOINT. Names may
 * have slashes in them; where that leaves a choice, it is not made here.
 */
import { ENDPOINT_ID, JOB_ID } from "../../core/endpoint/endpoint-name.js";
import { nearest } from "../../core/job/suggest.js";
import { ControlError } from "../../krond/control/client.js";
import type { EndpointAnswer, JobAnswer } from "../../operations/endpoints/shapes.js";
import { OPERATION_LIMITS } from "../../operations/limits.js";
import { usageError } from "../exit.js";
import type { Ask } from "./tenant.js";

/** Of a name, and so of what is worth to be asked for. */
const NAME_CHARS = 200;
/** Names among which one that there is not is compared. */
const COMPARED = 2_000;
/** Rows that are put in order. */
const IN_ORDER = 5_000;

export interface NamedEndpoint {
  /** `JOB/ENDPOINT`. */
  readonly label: string;
  readonly endpoint: EndpointAnswer;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export class Names {
  readonly #ask: Ask;
  /** By id: names do not change while a command runs. */
  readonly #jobs = new Map<string, Promise<string>>();
  readonly #labels = new Map<string, Promise<string>>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async job(written: string): Promise<JobAnswer> {
    if (JOB_ID.test(written)) return this.#ask({ op: "jobs.get", jobId: written });
    const job = await this.jobNamed(written);
    if (job === null) throw usageError(`no job "${written}"`, await this.#nearJob(written));
    return job;
  }

  /** null: there is none. */
  async jobNamed(name: string): Promise<JobAnswer | null> {
    if (name.length === 0 || name.length > NAME_CHARS) return null;
    const { rows } = await this.#ask<Page<JobAnswer>>({ op: "jobs.list", cursor: null, limit: 1, name });
    return rows[0] ?? null;
  }

  async endpointNamed(job: JobAnswer, name: string): Promise<EndpointAnswer | null> {
    if (name.length === 0 || name.length > NAME_CHARS) return null;
    const request = { op: "endpoints.list" as const, cursor: null, limit: 1, jobId: job.id, name };
    return (await this.#ask<Page<EndpointAnswer>>(request)).rows[0] ?? null;
  }

  /** `among`: the job that `--job` names; then `written` is a name alone. */
  async endpoint(written: string, among: string | undefined): Promise<NamedEndpoint> {
    if (ENDPOINT_ID.test(written)) {
      const endpoint = await this.#ask<EndpointAnswer>({ op: "endpoints.get", endpointId: written });
      return this.named(endpoint);
    }
    const places = await this.placesFor(written, among);
    const found: NamedEndpoint[] = [];
    for (const { job, name } of places) {
      const endpoint = await this.endpointNamed(job, name);
      if (endpoint !== null) found.push({ label: `${job.name}/${name}`, endpoint });
    }
    const [first, second] = found;
    if (first === undefined) throw usageError(`no endpoint "${written}"`, await this.#nearEndpoint(written, places));
    if (second !== undefined) throw usageError(`"${written}" is an endpoint of more than one job`, SAY_JOB);
    return first;
  }

  /** Jobs that there are, and the rest of what was written: where such an endpoint is, or would be. */
  async placesFor(
    written: string,
    among: string | undefined,
  ): Promise<readonly { readonly job: JobAnswer; readonly name: string }[]> {
    if (among !== undefined) return [{ job: await this.job(among), name: written }];
    if (!written.includes("/")) throw usageError(`"${written}" is not JOB/ENDPOINT`, SAY_JOB);
    const places = [];
    for (let at = written.indexOf("/"); at >= 0; at = written.indexOf("/", at + 1)) {
      const [before, name] = [written.slice(0, at), written.slice(at + 1)];
      const job = JOB_ID.test(before) ? await this.job(before) : await this.jobNamed(before);
      if (job !== null && name !== "") places.push({ job, name });
    }
    return places;
  }

  /** Where an endpoint is made. */
  async placeFor(
    written: string,
    among: string | undefined,
  ): Promise<{ readonly job: JobAnswer; readonly name: string }> {
    const [place, another] = await this.placesFor(written, among);
    if (another !== undefined) throw usageError(`"${written}" may be of more than one job`, SAY_JOB);
    if (place !== undefined) return place;
    if (written.endsWith("/")) throw usageError(`"${written}" does not say what the endpoint is called`, SAY_JOB);
    const job = written.slice(0, Math.max(0, written.indexOf("/")));
    throw usageError(`no job "${job}"`, orMakeIt(await this.#nearJob(job), job));
  }

  async named(endpoint: EndpointAnswer): Promise<NamedEndpoint> {
    return { label: `${await this.jobName(endpoint.jobId)}/${endpoint.name}`, endpoint };
  }

  /** Of a job that is gone its id. */
  jobName(jobId: string): Promise<string> {
    return kept(this.#jobs, jobId, async () => {
      const job = await orNull(this.#ask<JobAnswer>({ op: "jobs.get", jobId }));
      return job?.name ?? jobId;
    });
  }

  /** Of an endpoint that is gone its id. */
  label({ jobId, endpointId }: { readonly jobId: string; readonly endpointId: string }): Promise<string> {
    return kept(this.#labels, endpointId, async () => {
      const endpoint = await orNull(this.#ask<EndpointAnswer>({ op: "endpoints.get", endpointId }));
      return `${await this.jobName(jobId)}/${endpoint?.name ?? endpointId}`;
    });
  }

  /** By name, as far as that can be. */
  async *jobs(): AsyncGenerator<readonly JobAnswer[]> {
    const limit = OPERATION_LIMITS.listRows;
    const found = pages((cursor) => this.#ask<Page<JobAnswer>>({ op: "jobs.list", cursor, limit }));
    yield* inOrder(found, ({ name }) => name);
  }

  /** By name, as far as that can be. `jobId` undefined: of all jobs. */
  async *endpoints(jobId?: string): AsyncGenerator<readonly NamedEndpoint[]> {
    const [limit, of] = [OPERATION_LIMITS.listRows, jobId === undefined ? {} : { jobId }];
    const found = pages((cursor) => this.#ask<Page<EndpointAnswer>>({ op: "endpoints.list", cursor, limit, ...of }));
    yield* inOrder(this.#named(found), ({ label }) => label);
  }

  async *#named(found: AsyncIterable<readonly EndpointAnswer[]>): AsyncGenerator<readonly NamedEndpoint[]> {
    for await (const rows of found) yield await Promise.all(rows.map((row) => this.named(row)));
  }

  async #nearJob(written: string): Promise<string> {
    const names: string[] = [];
    for await (const rows of this.jobs()) {
      names.push(...rows.map(({ name }) => name));
      if (names.length >= COMPARED) break;
    }
    const near = nearest(written, names);
    return near === undefined ? "'kron job list' shows them" : `did you mean "${near}"?`;
  }

  async #nearEndpoint(written: string, places: Awaited<ReturnType<Names["placesFor"]>>): Promise<string> {
    const [place] = places;
    if (place === undefined) {
      const near = await this.#nearJob(written.slice(0, written.indexOf("/")));
      return near.startsWith("did") ? `of the job, ${near}` : near;
    }
    const names: string[] = [];
    for await (const rows of this.endpoints(place.job.id)) {
      names.push(...rows.map(({ endpoint }) => endpoint.name));
      if (names.length >= COMPARED) break;
    }
    const near = nearest(place.name, names);
    return near === undefined ? "'kron endpoint list' shows them" : `did you mean "${place.job.name}/${near}"?`;
  }
}

/** What is looked for may just as well be wanted. */
export function orMakeIt(hint: string, job: string): string {
  const name = /^[\w./-]+$/.test(job) ? job : JSON.stringify(job);
  return `${hint}${hint.endsWith("?") ? " Or" : ", or"} make it: kron job create ${name}`;
}

const SAY_JOB = "say which job it is of: kron endpoint show NAME --job JOB";

async function* pages<Row>(ask: (cursor: string | null) => Promise<Page<Row>>): AsyncGenerator<readonly Row[]> {
  for (let cursor: string | null = null; ; ) {
    const page: Page<Row> = await ask(cursor);
    yield page.rows;
    if (page.next === null) return;
    cursor = page.next;
  }
}

/** The daemon gives them by id, which means nothing to people; more than these are not held to be put in order. */
async function* inOrder<Row>(
  found: AsyncIterable<readonly Row[]>,
  nameOf: (row: Row) => string,
): AsyncGenerator<readonly Row[]> {
  let held: Row[] | null = [];
  for await (const rows of found) {
    if (held === null) yield rows;
    else held.push(...rows);
    if (held === null || held.length <= IN_ORDER) continue;
    yield held;
    held = null;
  }
  if (held !== null) yield held.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

function kept(known: Map<string, Promise<string>>, id: string, ask: () => Promise<string>): Promise<string> {
  const found = known.get(id) ?? ask();
  known.set(id, found);
  return found;
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ControlError && error.kind === "not-found") return null;
    throw error;
  }
}
