/** A set of jobs as what is wanted from now on, in one transaction: how it differs is found out where both of them are. */
import { compareNames, isEndpoint } from "../../../core/base/identity.js";
import type { Applied, WantedJob, WantedSet } from "../../cluster.js";
import { arrayOf } from "../arrays.js";
import type { Queries } from "../connection.js";
import { identityUuid } from "../uuid.js";

/** Jobs that go in one statement. */
const AT_ONCE = 1_000;

/** Leaving: it was moving before, and its shard has not let go of it yet. */
type What = "added" | "changed" | "moving" | "leaving";

interface Placed extends WantedJob {
  readonly key: string;
}

type Judged = Readonly<Record<What, Placed[]>>;

/** And which revision it was before. */
type AppliedOver = Applied & { readonly before: number };

function* pieces<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += AT_ONCE) yield all.slice(from, from + AT_ONCE);
}

function column(type: "uuid" | "text", jobs: readonly Placed[], name: keyof Placed): Buffer {
  return arrayOf(
    type,
    jobs.map((job) => job[name]),
  );
}

/** Within a transaction of its own; of two the second waits for the first. null: `from` is not the newest revision any more. */
export async function applied(
  queries: Queries,
  { jobs, settings }: WantedSet,
  from: number | null,
): Promise<AppliedOver | null> {
  const [cluster] = await queries.rows<{ revision: string; settings: string | null }>(
    "select revision, settings from kron.cluster for update",
  );
  const before = Number(cluster?.revision ?? 0);
  if (from !== null && from !== before) return null;
  const next = before + 1;
  const placed = jobs.map((job): Placed => ({ ...job, key: identityUuid(job.identity) }));
  placed.sort((left, right) => (left.key < right.key ? -1 : 1));
  await queries.rows("select kron.make_pools($1)", [[...new Set(jobs.map(({ pool }) => pool))]]);
  const judged = await wanted(queries, next, placed);
  const moved = await movedAtOnce(queries, next, [...judged.moving, ...judged.leaving]);
  const removed = await removedBy(queries, next, column("uuid", placed, "key"));
  const isMoved = ({ identity }: Placed): boolean => moved.has(identity);
  const changes = {
    // What was leaving was not there any more.
    added: namesOf([...judged.added, ...judged.leaving.filter(isMoved)]),
    removed,
    changed: namesOf([...judged.changed, ...judged.moving.filter(isMoved)]),
    moving: namesOf([...judged.moving, ...judged.leaving]).filter((identity) => !moved.has(identity)),
  };
  const news = [judged.added, judged.changed, judged.moving, removed, [...moved]];
  const hasNewSettings = settings !== (cluster?.settings ?? null);
  const touched = changes.added.length + changes.changed.length + changes.moving.length;
  const found = { ...changes, before, hasNewSettings, unchanged: jobs.length - touched };
  if (!hasNewSettings && news.every((list) => list.length === 0)) return { ...found, revision: before };
  await queries.rows("select kron.announce($1, $2, $3, $4)", [before, next, settings, hasNewSettings]);
  return { ...found, revision: next };
}

function namesOf(jobs: readonly { readonly identity: string }[]): readonly string[] {
  return jobs.map(({ identity }) => identity).sort(compareNames);
}

/** What was wanted, and what is in force although nobody has applied anything yet. */
async function removedBy(queries: Queries, next: number, keys: Buffer): Promise<readonly string[]> {
  const text = "select identity from kron.want_no_others($1, $2)";
  const unwanted = await queries.rows<{ identity: string }>(text, [next, keys]);
  const inForce = await queries.rows<{ identity: string }>("select identity from kron.in_force_besides($1)", [keys]);
  // Endpoints are no concern of any set.
  return namesOf([...unwanted, ...inForce.filter(({ identity }) => !isEndpoint(identity))]);
}

async function wanted(queries: Queries, next: number, jobs: readonly Placed[]): Promise<Judged> {
  const judged: Judged = { added: [], changed: [], moving: [], leaving: [] };
  for (const piece of pieces(jobs)) {
    const rows = await queries.rows<{ place: number; what: What }>(
      "select place, what from kron.want($1, $2, $3, $4, $5)",
      [
        next,
        column("uuid", piece, "key"),
        column("text", piece, "identity"),
        column("text", piece, "pool"),
        column("text", piece, "text"),
      ],
    );
    for (const { place, what } of rows) {
      const job = piece[place - 1];
      if (job !== undefined) judged[what].push(job);
    }
  }
  return judged;
}

/** Those that nobody has to let go of first. */
async function movedAtOnce(queries: Queries, next: number, moving: readonly Placed[]): Promise<ReadonlySet<string>> {
  const moved = new Set<string>();
  for (const piece of pieces(moving)) {
    const rows = await queries.rows<{ place: number }>("select place from kron.move($1, $2, $3, $4)", [
      next,
      column("uuid", piece, "key"),
      column("text", piece, "pool"),
      column("text", piece, "text"),
    ]);
    for (const { place } of rows) moved.add(piece[place - 1]?.identity ?? "");
  }
  return moved;
}
