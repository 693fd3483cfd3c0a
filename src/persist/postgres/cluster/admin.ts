/** What an operator does to a store of several nodes, beside them and without a session of its own. */
import type { KronError } from "../../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../../core/base/result.js";
import { nearest } from "../../../core/job/suggest.js";
import type { Applied, NodeFacts, ShardBehind, WantedJob, WantedNow, WantedSet } from "../../cluster.js";
import { storeError } from "../../failures.js";
import { arrayOf } from "../arrays.js";
import { Connection } from "../connection.js";
import { admittedToRead } from "../open.js";
import type { PostgresPlace } from "../place.js";
import { undisturbed } from "../retry.js";
import { checkForWriting, lookAtServer } from "../server.js";
import { storeRefusal } from "../trouble.js";
import { identityUuid } from "../uuid.js";
import { applied } from "./apply.js";
import { NODES, type NodeRow, toNode } from "./nodes.js";

interface WantedRow extends WantedJob, Readonly<Record<string, unknown>> {}

type Told<T> = Promise<Result<T, KronError>>;

/** Statements wait for whoever is under way in the same rows. */
const ANSWER_WITHIN_MS = 120_000;
/** Jobs that are looked up by one statement. */
const ASKED_AT_ONCE = 1_000;

/** A store that several nodes may share, and that no daemon has for itself. */
async function onShared<T>(
  place: PostgresPlace,
  operation: string,
  work: (connection: Connection) => Told<T>,
): Told<T> {
  const connection = new Connection(place, ANSWER_WITHIN_MS);
  try {
    const suitable = checkForWriting(await lookAtServer(connection));
    if (!suitable.ok) return suitable;
    const admitted = await admittedToRead(place, connection);
    if (!admitted.ok) return admitted;
    const shared = await mustBeShared(place, connection);
    return shared.ok ? await undisturbed(() => work(connection)) : shared;
  } catch (error) {
    return err(storeRefusal(error, place.address, operation));
  } finally {
    await connection.close();
  }
}

async function mustBeShared({ address }: PostgresPlace, connection: Connection): Told<void> {
  const text = "select node, pid from kron.session where is_alone and expires_at > clock_timestamp()";
  const [alone] = await connection.rows<{ node: string; pid: number }>(text);
  if (alone === undefined) return ok(undefined);
  const message = `process ${alone.pid} on ${alone.node} has ${address.text} for itself`;
  const hint = "stop that one, and start it with --node; a daemon alone has its own files";
  return err(storeError("lock-held", "cluster", message, hint));
}

/** Whatever is asked of a node that is not there. */
async function unknownNode(connection: Connection, node: string): Promise<KronError> {
  const names = (await connection.rows<NodeRow>(NODES)).map((row) => row.node);
  const near = nearest(node, names);
  const all = names.length === 0 ? "no node lives" : `these live: ${names.join(", ")}`;
  const hint = near === undefined ? all : `did you mean ${JSON.stringify(near)}?`;
  return storeError("node-unknown", "cluster", `no node ${JSON.stringify(node)} lives`, hint);
}

export function compareWanted(place: PostgresPlace, wanted: WantedSet): Told<Applied> {
  return onShared(place, "apply", (connection) =>
    rolledBack(connection, async () => {
      const result = await applied(connection, wanted, null);
      if (result === null) throw new Error("invariant broken: a set that starts from nothing was refused");
      const { before, ...changes } = result;
      return ok({ ...changes, revision: before });
    }),
  );
}

export function applyWanted(place: PostgresPlace, wanted: WantedSet, from?: number): Told<Applied | null> {
  return onShared(place, "apply", (connection) =>
    rolledBack(connection, async () => {
      const result = await applied(connection, wanted, from ?? null);
      if (result === null) return ok(null);
      // A daemon that has become the only one meanwhile would know nothing of it; from here on it waits.
      await connection.rows("select from kron.pool where name = 'any' for no key update");
      const shared = await mustBeShared(place, connection);
      if (!shared.ok) return shared;
      await connection.rows("commit");
      const { before: _, ...changes } = result;
      return ok(changes);
    }),
  );
}

/** Unless it has been committed by then. */
async function rolledBack<T>(connection: Connection, work: () => Told<T>): Told<T> {
  await connection.rows("begin");
  try {
    return await work();
  } finally {
    await connection.rows("rollback").catch(() => undefined);
  }
}

export function wantedNow(place: PostgresPlace, identities: readonly string[]): Told<WantedNow> {
  const text = "select identity, pool, text from kron.wanted where key = any ($1) and text is not null";
  return onShared(place, "apply", async (connection) => {
    const jobs: WantedRow[] = [];
    for (let from = 0; from < identities.length; from += ASKED_AT_ONCE) {
      const keys = identities.slice(from, from + ASKED_AT_ONCE).map(identityUuid);
      jobs.push(...(await connection.rows<WantedRow>(text, [arrayOf("uuid", keys)])));
    }
    const [cluster] = await connection.rows<{ settings: string | null }>("select settings from kron.cluster");
    return ok({ jobs, settings: cluster?.settings ?? null });
  });
}

export function shardsBehind(place: PostgresPlace, revision: number): Told<readonly ShardBehind[]> {
  const text = `select s.pool, s.number, h.node, (select count(*)::int from kron.wanted w
        where w.pool = s.pool and w.text is not null
          and w.key between kron.first_key(s.number, p.shards) and kron.last_key(s.number, p.shards)) as jobs
    from kron.shard s join kron.pool p on p.name = s.pool left join kron.session h on h.id = s.session
    where s.revision < $1 order by s.pool, s.number`;
  return onShared(place, "cluster", async (connection) => {
    const rows = await connection.rows<ShardBehind & Readonly<Record<string, unknown>>>(text, [revision]);
    return ok(rows.filter(({ node, jobs }) => node !== null || jobs > 0));
  });
}

export function livingNodes(place: PostgresPlace): Told<readonly NodeFacts[]> {
  return onShared(place, "cluster", async (connection) => ok((await connection.rows<NodeRow>(NODES)).map(toNode)));
}

export function drain(place: PostgresPlace, node: string, isOn: boolean): Told<void> {
  return toNodeOf(
    place,
    node,
    "update kron.session set is_draining = $2 where node = $1 and not is_alone returning id",
    [isOn],
  );
}

export function evict(place: PostgresPlace, node: string): Told<void> {
  return toNodeOf(place, node, "delete from kron.session where node = $1 and not is_alone returning id", []);
}

function toNodeOf(place: PostgresPlace, node: string, text: string, more: readonly unknown[]): Told<void> {
  return onShared(place, "cluster", async (connection) => {
    const rows = await connection.rows(text, [node, ...more]);
    return rows.length > 0 ? ok(undefined) : err(await unknownNode(connection, node));
  });
}

export function forget(place: PostgresPlace, node: string): Told<{ readonly wasKnown: boolean }> {
  return onShared(place, "cluster", async (connection) => {
    // Of one whose lease has run out nothing may come any more.
    await connection.rows("delete from kron.session where node = $1 and expires_at < clock_timestamp()", [node]);
    const [known] = await connection.rows("select from kron.gone where node = $1", [node]);
    // Of one that this store has never seen there may be runs all the same, where it was made of another.
    const text = `insert into kron.gone (node, boot_id, since) select $1, '', to_timestamp(0)
      where not exists (select from kron.session s where s.node = $1)
      on conflict (node) do update set since = excluded.since returning node`;
    if ((await connection.rows(text, [node])).length > 0) return ok({ wasKnown: known !== undefined });
    const hint = `stop it first, or take the store from it: kron node evict ${node}`;
    return err(storeError("lock-held", "cluster", `node ${node} lives`, hint));
  });
}
