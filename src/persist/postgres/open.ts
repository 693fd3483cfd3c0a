/**
 * The only way to a store on a server: the node's own directory → a server that keeps what it confirms → the schema → the
 * session → the store that the marker of the directory names (S31-S33). Whatever is not as we left it is refused; recovery is a
 * decision of a person.
 */
import { randomUUID } from "node:crypto";
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import type { ClusterMember } from "../cluster.js";
import { loadUnfinished, storeError, unwritable } from "../failures.js";
import { acquireDirectoryLock, assertHeld, heldTerm, type LockTerm } from "../lock.js";
import { heldByOther, type Marker, readMarker, writeMarker } from "../marker.js";
import type { RecoverableStore } from "../recoverable.js";
import { CLOCKS_APART_MS, type OpenedStore, type StateReader, type StateStore } from "../store.js";
import { PostgresMember } from "./cluster/member.js";
import { Connection, type Queries } from "./connection.js";
import type { PostgresPlace } from "./place.js";
import { Reads } from "./read-pool.js";
import { openingOf, PostgresReader } from "./reads.js";
import { FORMAT, MIGRATIONS } from "./schema.js";
import { checkForReading, checkForWriting, lookAtServer, migrate, schemaVersion } from "./server.js";
import { Session } from "./session.js";
import { PostgresStore, postgresStore } from "./store.js";
import { storeRefusal } from "./trouble.js";

/** A commit or a page that takes longer than this is asked for again. */
const ANSWER_WITHIN_MS = 15_000;
/** Of heartbeats: most of a lease must be left when one gets no answer. */
const BEAT_SHARE = 4;

const sessions = new WeakMap<LockTerm, Session>();

/** What is known of the store before it is opened. */
interface Found extends Readonly<Record<string, unknown>> {
  readonly store_id: string;
  readonly format: number;
  readonly generation: string;
  readonly system_id: string;
  readonly timeline: string;
  readonly is_loading: boolean;
}

interface Server {
  readonly system_id: string;
  readonly timeline: string;
}

/** What goes wrong on the way is told with what to do about it. */
async function told<T>(
  { address }: PostgresPlace,
  operation: string,
  work: () => Promise<Result<T, KronError>>,
): Promise<Result<T, KronError>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("invariant broken")) throw error;
    return err(storeRefusal(error, address, operation));
  }
}

/** Becomes the only one who may write there. */
export async function acquirePostgres(place: PostgresPlace): Promise<Result<LockTerm, KronError>> {
  const directory = acquireDirectoryLock(place.directory);
  if (!directory.ok) return directory;
  const session = newSession({ ...place, directory: directory.value.place });
  const begun = await told(place, "lock", () => began(place, session));
  if (!begun.ok) {
    await session.end();
    await directory.value.release();
    return begun;
  }
  const end = (): Promise<void> => session.end().then(() => directory.value.release());
  const term = heldTerm(place.address.text, end, session);
  sessions.set(term, session);
  return ok(term);
}

function newSession(place: PostgresPlace): Session {
  return new Session(place, new Connection(place, place.leaseMs / BEAT_SHARE));
}

/** What is looked at and made before may take its time, on a connection of its own: the heartbeats go on meanwhile. */
async function began(place: PostgresPlace, session: Session): Promise<Result<void, KronError>> {
  const connection = new Connection(place, ANSWER_WITHIN_MS);
  try {
    return await begunAfter(place, connection, session);
  } finally {
    await connection.close();
  }
}

/** What others rely on changes only under whoever holds the store alone: only the first start makes a schema before. */
async function begunAfter(
  place: PostgresPlace,
  connection: Connection,
  session: Session,
): Promise<Result<void, KronError>> {
  const suitable = checkForWriting(await lookAtServer(connection));
  if (!suitable.ok) return suitable;
  const version = await schemaVersion(connection);
  if (!version.ok) return version;
  const isOld = version.value > 0 && version.value < MIGRATIONS.length;
  const made =
    version.value === 0
      ? await migrate(connection)
      : isOld && place.member !== null
        ? await upgraded(place, connection)
        : ok(undefined);
  if (!made.ok) return made;
  const begun = await session.begin();
  return begun.ok && isOld && place.member === null ? migrate(connection) : begun;
}

/** Before the first of several is one of several, it is alone. */
async function upgraded(place: PostgresPlace, connection: Connection): Promise<Result<void, KronError>> {
  const session = newSession({ ...place, member: null });
  try {
    const begun = await session.begin();
    if (begun.ok) return await migrate(connection);
    const version = await schemaVersion(connection);
    // Another one has done so meanwhile.
    if (version.ok && version.value === MIGRATIONS.length) return ok(undefined);
    const message = `the tables of ${place.address.text} are older, and are changed by nobody but who is there alone`;
    return err(
      storeError(
        "lock-held",
        "lock",
        `${message}: ${begun.error.message}`,
        "stop the others, then start this one first",
      ),
    );
  } finally {
    await session.end();
  }
}

async function foundIn(queries: Queries): Promise<Found | null> {
  const [row] = await queries.rows<Found>(
    "select store_id, format, generation, system_id, timeline, is_loading from kron.cluster",
  );
  return row ?? null;
}

const RECOVER_HINT = "if that is the one, and may have forgotten something: krond state recover --fence";

function refuse(code: "state-incompatible" | "state-missing" | "state-rewound", message: string, hint?: string) {
  return err(storeError(code, "open", message, hint));
}

/**
 * Only of a directory that was used with this backend. A history that has branched off may lack openings that the directory knows
 * of: then it is not by their number that it is judged, but by what is fenced (C12).
 */
function matchMarker({ address }: PostgresPlace, marker: Marker | null, found: Found | null, isBranch: boolean) {
  if (marker === null) return ok(undefined);
  if (found === null) {
    return refuse("state-missing", `there is no store any more at ${address.text}`, RECOVER_HINT);
  }
  if (marker.storeId !== found.store_id) {
    const hint = `name that database, or another directory by --state; ${RECOVER_HINT}`;
    return refuse("state-rewound", `the store at ${address.text} is not the one that this directory belongs to`, hint);
  }
  if (isBranch || Number(found.generation) >= marker.generation) return ok(undefined);
  return refuse("state-rewound", `the store at ${address.text} was put back from a copy`, RECOVER_HINT);
}

/** Since the directory was last used another server has taken over. */
function hasBranched(marker: Marker | null, { timeline }: Pick<Found, "timeline">): boolean {
  return marker?.backend === "postgres" && marker.timeline !== undefined && marker.timeline < timeline;
}

function checkFound({ address }: PostgresPlace, found: Found | null): Result<void, KronError> {
  if (found === null) return ok(undefined);
  if (found.format !== FORMAT) {
    return refuse("state-incompatible", `the store has format ${found.format}, this Kron reads ${FORMAT}`);
  }
  return found.is_loading ? err(loadUnfinished(address.text)) : ok(undefined);
}

/** C12: what a replica may lack that has become the primary, the start fences; of any other server nobody can judge that. */
function matchServer(marker: Marker | null, found: Found | null, server: Server): Result<void, KronError> {
  if (found === null) return ok(undefined);
  const seen = marker?.backend === "postgres" ? (marker.timeline ?? "") : "";
  const newest = seen > found.timeline ? seen : found.timeline;
  if (found.system_id === server.system_id && newest <= server.timeline) return ok(undefined);
  const hint = "what was confirmed before may be missing. To count everything up to now as handled: ";
  const what =
    found.system_id === server.system_id
      ? `the store was on timeline ${newest} already, and this server is on ${server.timeline}: another one has taken over from it`
      : "the database was put into another server since the last start";
  return refuse("state-rewound", what, `${hint}krond state recover --fence`);
}

function ownMarker({ directory }: PostgresPlace): Result<Marker | null, KronError> {
  const marker = readMarker(directory);
  if (!marker.ok || marker.value === null || marker.value.backend === "postgres") return marker;
  return err(heldByOther(directory, marker.value));
}

async function serverOf(queries: Queries): Promise<Server> {
  const { system_id } = await lookAtServer(queries);
  const [row] = await queries.rows<{ timeline: string }>("select kron.timeline() as timeline");
  return { system_id, timeline: row?.timeline ?? "" };
}

/** The store first, then the marker: a crash in between leaves the store ahead, which is no rewind. Tells the store's name. */
async function stamp(
  place: PostgresPlace,
  session: Session,
  queries: Queries,
  stamped: Server & Pick<Marker, "storeId" | "generation"> & { readonly isLoading: boolean },
): Promise<Result<string, KronError>> {
  const { storeId, generation, system_id, timeline, isLoading } = stamped;
  const text = `with mine as (select id from kron.session where id = $1 for key share)
    insert into kron.cluster as c (store_id, format, generation, system_id, timeline, is_loading)
    select $2::uuid, $3::int, $4::bigint, $5, $6, $7::boolean from mine
    on conflict (one) do update set generation = greatest(c.generation + 1, excluded.generation),
      fenced_at = case when c.timeline = excluded.timeline then c.fenced_at else greatest(c.fenced_at,
        $8::bigint + greatest($9::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint)) end,
      system_id = excluded.system_id, timeline = excluded.timeline, is_loading = excluded.is_loading
    returning store_id, generation`;
  // A daemon alone goes by its own clock, several by that of the server.
  const ownAt = place.member === null ? Date.now() : 0;
  const values = [session.id, storeId, FORMAT, generation, system_id, timeline, isLoading, CLOCKS_APART_MS, ownAt];
  const [row] = await queries.rows<Pick<Found, "store_id" | "generation">>(text, values);
  if (row === undefined) return err(session.fenced());
  const { address, directory, passwordFile } = place;
  // Another node may have opened it at the same time.
  const made = { storeId: row.store_id, generation: Number(row.generation) };
  try {
    const file = passwordFile === null ? {} : { passwordFile };
    writeMarker(directory, { backend: "postgres", ...made, address: address.text, timeline, ...file });
  } catch (error) {
    return err(unwritable("open", `cannot write to ${directory}`, error));
  }
  return ok(made.storeId);
}

type Admit = (marker: Marker | null, found: Found | null, server: Server) => Result<void, KronError>;

async function openWith(place: PostgresPlace, term: LockTerm, isLoading: boolean, admit: Admit): Promise<OpenedStore> {
  const session = sessions.get(term);
  assertHeld(term, place.address.text);
  if (session === undefined) throw new Error("invariant broken: a term that no session belongs to");
  const connection = new Connection(place, ANSWER_WITHIN_MS);
  const opened = await told(place, "open", async (): Promise<OpenedStore> => {
    const marker = ownMarker(place);
    if (!marker.ok) return marker;
    const [found, server] = [await foundIn(connection), await serverOf(connection)];
    const admitted = admit(marker.value, found, server);
    if (!admitted.ok) return admitted;
    const storeId = found?.store_id ?? randomUUID();
    const generation = Math.max(Number(found?.generation ?? 0), marker.value?.generation ?? 0) + 1;
    const stamped = await stamp(place, session, connection, { ...server, storeId, generation, isLoading });
    if (!stamped.ok) return stamped;
    const reads = new Reads(place, ANSWER_WITHIN_MS, session.assertHeld);
    const opening = openingOf(place.address.text, stamped.value, reads, () => reads.close());
    return ok(postgresStore(opening, session, connection, server.timeline));
  });
  if (!opened.ok) await connection.close();
  return opened;
}

/** Opens the store of the session, creating it on the very first start. */
export function openPostgresStore(place: PostgresPlace, term: LockTerm): Promise<OpenedStore> {
  return openWith(place, term, false, (marker, found, server) => {
    const checks = [
      () => checkFound(place, found),
      () => matchMarker(place, marker, found, hasBranched(marker, server)),
      () => matchServer(marker, found, server),
    ];
    for (const check of checks) {
      const checked = check();
      if (!checked.ok) return checked;
    }
    return ok(undefined);
  });
}

/** The part of this process in a store that it shares. */
export function memberOf(place: PostgresPlace, term: LockTerm, store: StateStore): ClusterMember {
  const session = sessions.get(term);
  assertHeld(term, place.address.text);
  if (session === undefined || place.member === null || !(store instanceof PostgresStore)) {
    throw new Error("invariant broken: no member of a store of several nodes");
  }
  const connection = new Connection(place, place.leaseMs / BEAT_SHARE);
  session.beside(connection);
  return new PostgresMember({ ...place.member, session, connection, store });
}

/** Whatever is there counts as the store from now on, and as being filled until the recovery has come to its end. */
export async function openPostgresForRecovery(
  place: PostgresPlace,
  term: LockTerm,
): Promise<Result<RecoverableStore, KronError>> {
  const opened = await openWith(place, term, true, (_marker, found) => {
    return found === null ? ok(undefined) : checkFound(place, { ...found, is_loading: false });
  });
  return opened.ok ? ok({ store: opened.value, movedAside: [] }) : opened;
}

/** The store that whoever has no session finds. */
export async function admittedToRead(place: PostgresPlace, queries: Queries): Promise<Result<Found, KronError>> {
  const suitable = checkForReading(await lookAtServer(queries));
  if (!suitable.ok) return suitable;
  const version = await schemaVersion(queries);
  if (!version.ok) return version;
  const nothing = `there is no store at ${place.address.text}`;
  if (version.value === 0) return refuse("state-missing", nothing);
  if (version.value < MIGRATIONS.length) {
    const hint = "start the daemon of this version once, which brings it up to date";
    return refuse("state-incompatible", `the schema has version ${version.value}, this Kron needs a newer one`, hint);
  }
  const marker = ownMarker(place);
  if (!marker.ok) return marker;
  const found = await foundIn(queries);
  if (found === null) return refuse("state-missing", nothing);
  const checked = checkFound(place, found);
  const matched = checked.ok ? matchMarker(place, marker.value, found, hasBranched(marker.value, found)) : checked;
  return matched.ok ? ok(found) : matched;
}

/** Reads a store without its session, from a replica too. Creates and changes nothing. */
export async function openPostgresReader(place: PostgresPlace): Promise<Result<StateReader, KronError>> {
  const reads = new Reads(place, ANSWER_WITHIN_MS, () => undefined);
  const opened = await told(place, "open", async () => {
    const found = await admittedToRead(place, reads.once);
    if (!found.ok) return found;
    return ok(new PostgresReader(openingOf(place.address.text, found.value.store_id, reads, () => reads.close())));
  });
  if (!opened.ok) await reads.close();
  return opened;
}

/** A store as it is at one instant, beside whoever writes to it: all of it is read in one transaction. */
export async function withPostgresSnapshot<T>(
  place: PostgresPlace,
  use: (reader: StateReader) => Promise<Result<T, KronError>>,
): Promise<Result<T, KronError>> {
  const connection = new Connection(place, ANSWER_WITHIN_MS);
  try {
    return await told(place, "export", () =>
      connection.transaction("isolation level repeatable read read only", async () => {
        const found = await admittedToRead(place, connection);
        if (!found.ok) return found;
        const nothing = async (): Promise<void> => undefined;
        return use(new PostgresReader(openingOf(place.address.text, found.value.store_id, connection, nothing)));
      }),
    );
  } finally {
    await connection.close();
  }
}
