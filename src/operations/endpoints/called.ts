/**
 * Endpoints by what their people call them. The identities of their jobs say nothing to anybody, and so a list is searched
 * by these names too. Nothing keeps them all in memory: they are looked through, in turns of the loop and one look at a time,
 * and what was found holds for a while, the longer the more there was to look through. Whoever goes on writing is answered
 * out of it.
 */
import { z } from "zod";
import type { ListFilter } from "../../actors/supervisor/rows/job-query.js";
import { turnOfLoop } from "../../actors/turns.js";
import { jsonIn } from "../../core/base/fields.js";
import { endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { StateReader, StoredObject } from "../../persist/store.js";
import { ENDPOINTS, JOBS } from "./records.js";

/** So many are found at most: whoever looks for one writes more of its name. */
const MOST_CALLED = 10_000;
const PER_READING = 500;
const LEAST_HELD_MS = 1_000;
/** A twentieth of one core, while somebody searches. */
const HELD_TIMES = 20;

/** All that is read of them: whether the rest is as it should be is seen by whoever uses it. */
const JOB = z.object({ name: z.string() });
const ENDPOINT = z.object({ jobId: z.string(), spec: z.object({ name: z.string() }) });

type Objects = Pick<StateReader, "objects">;

interface Called {
  readonly identity: string;
  /** `job / endpoint`, as a list tells it. */
  readonly name: string;
}

/** One look through all of them. */
class Look {
  /** From then on it is looked anew; null: it is under way. */
  #untilAt: EpochMs | null = null;
  #narrowed: { readonly text: string; readonly identities: readonly string[] } | null = null;

  constructor(
    readonly text: string,
    readonly begunAt: EpochMs,
    readonly found: Promise<readonly Called[]>,
  ) {}

  done(now: EpochMs): void {
    this.#untilAt = now + Math.max(LEAST_HELD_MS, HELD_TIMES * (now - this.begunAt));
  }

  /** Also where the clock was set back since, it does not. */
  holds(now: EpochMs): boolean {
    return this.#untilAt === null || (now >= this.begunAt && now < this.#untilAt);
  }

  /** null: some of those that have this text may not be among what was found. */
  async identities(text: string): Promise<readonly string[] | null> {
    if (!text.includes(this.text)) return null;
    const found = await this.found;
    if (text !== this.text && found.length === MOST_CALLED) return null;
    // The same list for the same question: views of it are kept by that.
    if (this.#narrowed?.text !== text) {
      const those = found.filter(({ name }) => name.includes(text));
      this.#narrowed = { text, identities: those.map(({ identity }) => identity) };
    }
    return this.#narrowed.identities;
  }
}

/** What is looked for in one store. */
class Looks {
  readonly #reader: Objects;
  #newest: Look | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(reader: Objects) {
    this.#reader = reader;
  }

  async identities(text: string, now: () => EpochMs): Promise<readonly string[]> {
    const known = await this.#known(text, now);
    if (known !== null) return known;
    const turn = this.#last.then(async () => (await this.#known(text, now)) ?? this.#look(text, now));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #known(text: string, now: () => EpochMs): Promise<readonly string[] | null> {
    const newest = this.#newest;
    return newest?.holds(now()) ? newest.identities(text) : null;
  }

  async #look(text: string, now: () => EpochMs): Promise<readonly string[]> {
    const look = new Look(text, now(), lookFor(this.#reader, text));
    this.#newest = look;
    try {
      return (await look.identities(text)) ?? [];
    } catch (error) {
      this.#newest = null;
      throw error;
    } finally {
      look.done(now());
    }
  }
}

const looks = new WeakMap<Objects, Looks>();

/** A question as it is asked of jobs, who know nothing of what people call them. */
export async function withCalled(filter: ListFilter, reader: Objects, now: () => EpochMs): Promise<ListFilter> {
  const { search = "" } = filter;
  if (search === "") return filter;
  const of = looks.get(reader) ?? new Looks(reader);
  looks.set(reader, of);
  const called = await of.identities(search, now);
  // Where nobody is called so the question stays as it was: a node of an earlier version knows no other.
  return called.length === 0 ? filter : { ...filter, called };
}

async function lookFor(reader: Objects, text: string): Promise<readonly Called[]> {
  const jobs = new Map<string, string>();
  for await (const stored of objectsUnder(reader, JOBS)) {
    const job = readAs(JOB, stored);
    if (job !== null) jobs.set(stored.key.slice(JOBS.length), job.name);
  }
  const found: Called[] = [];
  for await (const stored of objectsUnder(reader, ENDPOINTS)) {
    const [tenant = "", endpointId = ""] = stored.key.slice(ENDPOINTS.length).split("/");
    const endpoint = readAs(ENDPOINT, stored);
    if (endpoint === null) continue;
    const { jobId, spec } = endpoint;
    const name = `${jobs.get(`${tenant}/${jobId}`) ?? ""} / ${spec.name}`;
    if (!name.includes(text)) continue;
    found.push({ identity: endpointIdentity({ tenant, jobId, endpointId }), name });
    if (found.length === MOST_CALLED) break;
  }
  return found;
}

/** null: it cannot be read, and is told under its identity alone. */
function readAs<T>(shape: z.ZodType<T>, { text, isIntact }: StoredObject): T | null {
  return isIntact ? (shape.safeParse(jsonIn(text)).data ?? null) : null;
}

async function* objectsUnder(reader: Objects, prefix: string): AsyncGenerator<StoredObject> {
  let after: string | undefined;
  for (;;) {
    const page = await reader.objects({ prefix, limit: PER_READING, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < PER_READING) return;
    await turnOfLoop();
  }
}
