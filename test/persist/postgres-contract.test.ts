import type { Backend } from "../../src/persist/backends.js";
import { ANY_POOL } from "../../src/persist/cluster.js";
import { acquirePostgres, openPostgresStore } from "../../src/persist/postgres/open.js";
import type { PostgresPlace } from "../../src/persist/postgres/place.js";
import { placeOf } from "../support/members.js";
import { placeAt, postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";
import { describeStoreContract, must } from "./store-contract.js";

const server = postgresServer();
const newDirectory = temporaryDirectories();

describeStoreContract("postgres", 5_000, () => {
  let made: Promise<PostgresPlace> | null = null;
  const place = (): Promise<PostgresPlace> => {
    made ??= server()
      .newDatabase()
      .then((database) => placeAt(server().address(database), newDirectory()));
    return made;
  };
  return {
    acquire: async () => acquirePostgres(await place()),
    open: async (term) => openPostgresStore(await place(), term),
  };
});

/** K1: a shard looks like a store; of a pool with one shard it has everything. */
describeStoreContract("a shard of postgres", 5_000, () => {
  const directory = newDirectory();
  let made: Promise<Backend> | null = null;
  const backend = (): Promise<Backend> => {
    made ??= withOneShard(directory);
    return made;
  };
  return {
    acquire: async () => (await backend()).acquire(directory),
    open: async (term) => {
      const opened = await (await backend()).open(term);
      const member = opened.ok ? await (await backend()).member?.(term, opened.value) : undefined;
      if (!opened.ok || member === undefined) return opened;
      await member.pulse(true);
      return { ok: true, value: member.storeOf({ pool: ANY_POOL, number: 0 }) };
    },
  };
});

async function withOneShard(directory: string): Promise<Backend> {
  const database = await server().newDatabase();
  const { backend } = placeOf(server().address(database), directory, "a");
  await must(await backend.acquire(directory)).release();
  await server().admin("delete from kron.shard where number > 0; update kron.pool set shards = 1", database);
  return backend;
}
