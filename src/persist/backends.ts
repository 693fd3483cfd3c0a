/**
 * What a store can be made of: one record for each backend, which holds everything that is done to its stores as a whole.
 * Whoever opens, reads, repairs or copies a store goes by the record; nobody else knows one backend from another.
 */
import type { KronError } from "../core/base/errors/kron-error.js";
import type { Problem } from "../core/base/problem.js";
import { err, ok, type Result } from "../core/base/result.js";
import type { EpochMs } from "../core/time/instant.js";
import { ANY_POOL, type ClusterAdmin, type ClusterMember, isClusterName, NAME_RULE } from "./cluster.js";
import { storeError } from "./failures.js";
import { openFilesForRecovery, openFilesReader, openFilesStore } from "./files/open.js";
import { attachLmdb, openLmdbForRecovery, openLmdbReader, openLmdbStore } from "./lmdb/open.js";
import { peekNote } from "./lmdb/peek.js";
import { withLmdbSnapshot } from "./lmdb/snapshot.js";
import { acquireDirectoryLock, type LockTerm } from "./lock.js";
import { BACKEND_NAMES, type BackendName, isBackendName, type RemoteMarker, readMarker } from "./marker.js";
import { isPostgresAddress, readPostgresAddress } from "./postgres/address.js";
import { type Membership, type PostgresPlace, type ServerSample, USUAL_LEASE_MS } from "./postgres/place.js";
import type { RecoverableStore } from "./recoverable.js";
import type { OpenedStore, StateReader, StateStore } from "./store.js";

type OpenedReader = Promise<Result<StateReader, KronError>>;

export interface Backend {
  readonly name: BackendName | "postgres";
  /**
   * Becomes the only one who may write there, or, as a node of several, one of those. Fails, with `lock-held`, as soon as it is
   * clear that somebody else has what is asked for.
   */
  acquire(at: string): Promise<Result<LockTerm, KronError>>;
  /** Opens the store at the place of the term, creating it on the very first start. */
  open(term: LockTerm): Promise<OpenedStore>;
  /** Reads a store without its lock, for commands that work while no daemon runs. Creates and changes nothing. */
  openReader(at: string): OpenedReader;
  /** Opens what is left of a store and marks it as being filled; see `recoverStore`. */
  recover(term: LockTerm, suffix: string): Promise<Result<RecoverableStore, KronError>>;
  /** The same store once more, in another thread of the process that has it open; null: it has no `source`. */
  readonly attach: ((at: string) => StateReader) | null;
  /** A store as it is at one instant, beside whoever writes to it; null: only while nobody writes. */
  readonly snapshot: typeof withLmdbSnapshot | null;
  /** What a server takes to answer and to keep something; null: there is no server, only our own disk. */
  readonly probe: (() => Promise<Result<ServerSample, KronError>>) | null;
  /** What its server's clock says; null: there is none but that of this machine. */
  readonly now: (() => Promise<Result<EpochMs, KronError>>) | null;
  /** The part of this process in a store that several nodes share; null: it has the store for itself. */
  readonly member: ((term: LockTerm, store: StateStore) => Promise<ClusterMember>) | null;
  /** What is done to a store of several nodes from outside of them; null: no such store can have several. */
  readonly cluster: ClusterAdmin | null;
  /** One note of a store that is not ours yet and that nobody has checked: a hint. undefined: there is none. */
  peekNote(at: string, key: string): Promise<string | undefined>;
}

const LMDB: Backend = {
  name: "lmdb",
  acquire: async (at) => acquireDirectoryLock(at),
  open: openLmdbStore,
  openReader: openLmdbReader,
  recover: openLmdbForRecovery,
  attach: attachLmdb,
  snapshot: withLmdbSnapshot,
  probe: null,
  now: null,
  member: null,
  cluster: null,
  peekNote,
};

const FILES: Backend = {
  name: "files",
  acquire: async (at) => acquireDirectoryLock(at),
  open: openFilesStore,
  openReader: openFilesReader,
  recover: openFilesForRecovery,
  attach: null,
  snapshot: null,
  probe: null,
  now: null,
  member: null,
  cluster: null,
  peekNote: async (at, key) => noteOf(await openFilesReader(at), key),
};

/** Nothing of it is loaded before it is used. */
function postgresBackend(place: PostgresPlace): Backend {
  const opening = () => import("./postgres/open.js");
  return {
    name: "postgres",
    acquire: async () => (await opening()).acquirePostgres(place),
    open: async (term) => (await opening()).openPostgresStore(place, term),
    openReader: async () => (await opening()).openPostgresReader(place),
    recover: async (term) => (await opening()).openPostgresForRecovery(place, term),
    attach: null,
    snapshot: async (_at, _scratch, use) => (await opening()).withPostgresSnapshot(place, use),
    probe: async () => (await import("./postgres/probe.js")).probeServer(place),
    now: async () => (await import("./postgres/probe.js")).serverTime(place),
    member: place.member === null ? null : async (term, store) => (await opening()).memberOf(place, term, store),
    cluster: clusterOf(place),
    peekNote: async (_at, key) => noteOf(await (await opening()).openPostgresReader(place), key),
  };
}

function clusterOf(place: PostgresPlace): ClusterAdmin {
  const admin = () => import("./postgres/cluster/admin.js");
  return {
    compare: async (wanted) => (await admin()).compareWanted(place, wanted),
    apply: async (wanted, from) => (await admin()).applyWanted(place, wanted, from),
    wanted: async (identities) => (await admin()).wantedNow(place, identities),
    shardsBehind: async (revision) => (await admin()).shardsBehind(place, revision),
    nodes: async () => (await admin()).livingNodes(place),
    drain: async (node, isOn) => (await admin()).drain(place, node, isOn),
    evict: async (node) => (await admin()).evict(place, node),
    forget: async (node) => (await admin()).forget(place, node),
  };
}

export const BACKENDS: Readonly<Record<BackendName, Backend>> = { lmdb: LMDB, files: FILES };

/** What is taken where nobody names one. */
const USUAL_BACKEND = LMDB;

async function noteOf(opened: Awaited<OpenedReader>, key: string): Promise<string | undefined> {
  if (!opened.ok) return undefined;
  try {
    return await opened.value.meta(key);
  } finally {
    await opened.value.close();
  }
}

/** Where a store is, and what it is made of. */
export interface StorePlace {
  readonly backend: Backend;
  /** A directory, or an address without secrets. */
  readonly at: string;
}

const ADDRESS_FORM = /^([a-z][a-z0-9+.-]*):/i;

/** What goes with the address of a store. */
export interface AddressOptions {
  readonly passwordFile?: string;
  readonly leaseMs?: number;
  /** The name of a daemon that shares the store with others. */
  readonly node?: string;
  /** Of such a daemon: pools that it serves beside `any` and its own. */
  readonly pools?: readonly string[];
}

/**
 * What an operator asks for by `text`: the name of a backend, whose store then lies in `directory`, or the address of a
 * store. Of an address that cannot be used no more is repeated than how it begins: it may hold a password. The path of a problem
 * names the option that is wrong; none: `text` is.
 */
export function storePlace(
  text: string | undefined,
  directory: string,
  options: AddressOptions = {},
): Result<StorePlace, Problem> {
  if (text !== undefined && isPostgresAddress(text)) return postgresPlace(text, directory, options);
  const [option] = Object.keys(options);
  if (option !== undefined) return needless(option);
  if (text === undefined) return ok({ backend: USUAL_BACKEND, at: directory });
  if (isBackendName(text)) return ok({ backend: BACKENDS[text], at: directory });
  const names = [...BACKEND_NAMES, "postgres://…"].join(", ");
  const scheme = ADDRESS_FORM.exec(text)?.[1];
  const message =
    scheme === undefined ? `"${text}" is not one of ${names}` : `no store can be reached by "${scheme.toLowerCase()}:"`;
  return err({ code: "field-range", message, path: [], hint: `write one of ${names}` });
}

const MEANINGS: Readonly<Record<keyof AddressOptions, string>> = {
  passwordFile: "a password",
  leaseMs: "a lease",
  node: "the name of a node",
  pools: "a pool of nodes",
};

function needless(option: string): Result<never, Problem> {
  const what = MEANINGS[option as keyof AddressOptions];
  const hint = "name one: --store postgres://krond@db.example/kron";
  return err({ code: "field-conflict", message: `${what} is for a store with an address`, path: [option], hint });
}

function postgresPlace(
  text: string,
  directory: string,
  { passwordFile, leaseMs = USUAL_LEASE_MS, node, pools }: AddressOptions,
): Result<StorePlace, Problem> {
  const address = readPostgresAddress(text);
  if (!address.ok) return address;
  const member = membership(node, pools);
  if (!member.ok) return member;
  const place = {
    ...{ address: address.value, directory, leaseMs },
    ...{ passwordFile: passwordFile ?? null, member: member.value },
  };
  return ok({ backend: postgresBackend(place), at: address.value.text });
}

function membership(node: string | undefined, pools: readonly string[] = []): Result<Membership | null, Problem> {
  if (node !== undefined && !isClusterName(node)) return noName("node", node);
  const wrong = pools.find((name) => !isClusterName(name));
  if (wrong !== undefined) return noName("pools", wrong);
  if (node !== undefined) return ok({ node, pools: [...new Set(pools)].filter((pool) => pool !== ANY_POOL) });
  if (pools.length === 0) return ok(null);
  const hint = "name the node too: --node NAME";
  return err({ code: "field-conflict", message: "pools are for a node of several", path: ["pools"], hint });
}

function noName(option: "node" | "pools", wrong: string): Result<never, Problem> {
  const message = `${JSON.stringify(wrong)} is no name of a ${option === "node" ? "node" : "pool"}`;
  return err({ code: "field-range", message, path: [option], hint: NAME_RULE });
}

function remotePlace({ address, passwordFile }: RemoteMarker, directory: string): Result<StorePlace, KronError> {
  const place = storePlace(address, directory, passwordFile === undefined ? {} : { passwordFile });
  return place.ok
    ? place
    : err(storeError("state-damaged", "open", `the marker in ${directory}: ${place.error.message}`));
}

/** What lies in a directory, or what it says where it lies; null where no store has ever been opened. */
export function storeIn(directory: string): Result<StorePlace | null, KronError> {
  const marker = readMarker(directory);
  if (!marker.ok || marker.value === null) return marker.ok ? ok(null) : marker;
  if (marker.value.backend === "postgres") return remotePlace(marker.value, directory);
  return ok({ backend: BACKENDS[marker.value.backend], at: directory });
}

/** Where to look for a store: at an address if one was given; else in the directory, where there is one; else as it was asked for. */
export function foundOr(asked: StorePlace): StorePlace {
  if (asked.backend.name === "postgres") return asked;
  const found = storeIn(asked.at);
  return found.ok && found.value !== null ? found.value : asked;
}
