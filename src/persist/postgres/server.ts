/** What a server is asked before anything is entrusted to it, and how its schema is made and kept up to date. */
import type { KronError } from "../../core/base/errors/kron-error.js";
import { err, ok, type Result } from "../../core/base/result.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { storeError } from "../failures.js";
import type { Connection, Queries } from "./connection.js";
import { MIGRATIONS, SCHEMA } from "./schema.js";

const OLDEST_SERVER = 140_000;
/** Of one transaction, so that a pooler may be in between: two first starts do not make the schema at once. */
const MIGRATION_LOCK = 5_727_401_182_336;

interface ServerFacts extends Readonly<Record<string, unknown>> {
  readonly version: number;
  readonly is_replica: boolean;
  readonly is_read_only: boolean;
  readonly synchronous_commit: string;
  readonly fsync: string;
  readonly encoding: string;
  readonly system_id: string;
}

/** Fails with whatever the server says. */
export async function lookAtServer(queries: Queries): Promise<ServerFacts> {
  const [facts] = await queries.rows<ServerFacts>(`select current_setting('server_version_num')::int as version,
    pg_is_in_recovery() as is_replica, current_setting('transaction_read_only') = 'on' as is_read_only,
    current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync,
    current_setting('server_encoding') as encoding, (select system_identifier::text from pg_control_system()) as system_id`);
  if (facts === undefined) throw new Error("the server says nothing about itself");
  return facts;
}

function unsuitable(message: string, hint: string): Result<never, KronError> {
  return err(storeError("store-unsuitable", "open", message, hint));
}

/** Whoever only reads may do so anywhere. */
export function checkForReading({ version, encoding }: ServerFacts): Result<void, KronError> {
  if (version < OLDEST_SERVER) {
    return unsuitable(`PostgreSQL ${Math.floor(version / 10_000)} is too old`, "14 is the oldest that Kron works with");
  }
  const hint = "make one for it: create database kron encoding utf8 template template0";
  return encoding === "UTF8" ? ok(undefined) : unsuitable(`the database is in ${encoding}, not in UTF8`, hint);
}

export function checkForWriting(facts: ServerFacts): Result<void, KronError> {
  const readable = checkForReading(facts);
  if (!readable.ok) return readable;
  if (facts.is_replica) return unsuitable("the server is a replica, which takes no writes", "name the primary");
  if (facts.is_read_only) {
    const hint = "alter role or database: reset default_transaction_read_only";
    return unsuitable("the server only lets us read (default_transaction_read_only = on)", hint);
  }
  if (facts.synchronous_commit !== "off") return ok(undefined);
  const hint = "alter role of ours: set synchronous_commit = on";
  return unsuitable("synchronous_commit is off: a crash of the server would forget what was confirmed", hint);
}

interface SchemaFacts extends Readonly<Record<string, unknown>> {
  readonly has_schema: boolean;
  readonly is_ours: boolean;
  readonly is_empty: boolean;
}

function incompatible(message: string, hint: string): Result<never, KronError> {
  return err(storeError("state-incompatible", "open", message, hint));
}

/** How many migrations the schema has seen; 0: there is nothing of ours yet. */
export async function schemaVersion(queries: Queries, known = MIGRATIONS.length): Promise<Result<number, KronError>> {
  const found = await lookAtSchema(queries);
  if (!found.is_ours) {
    const hint = `give Kron a database of its own, or move that schema: alter schema ${SCHEMA} rename to other`;
    if (!found.is_empty) return incompatible(`the database has a schema "${SCHEMA}" that is not of ours`, hint);
    return ok(0);
  }
  const [row] = await queries.rows<{ version: number }>(`select max(version) as version from ${SCHEMA}.migration`);
  const version = row?.version ?? 0;
  if (version <= known) return ok(version);
  const hint = "start the version of Kron that it was made by, or a newer one";
  return incompatible(`the schema has version ${version}, this Kron knows ${known}`, hint);
}

async function lookAtSchema(queries: Queries): Promise<SchemaFacts> {
  const [facts] = await queries.rows<SchemaFacts>(`select to_regnamespace('${SCHEMA}') is not null as has_schema,
    exists (select from pg_class where relnamespace = to_regnamespace('${SCHEMA}') and relname = 'migration') as is_ours,
    not exists (select from pg_class where relnamespace = to_regnamespace('${SCHEMA}')) as is_empty`);
  return facts ?? { has_schema: false, is_ours: false, is_empty: true };
}

/** A step of a migration may have to rewrite all that is there. */
const MIGRATION_PATIENCE = 40;

/** Brings the schema to the newest version; all of it or nothing. */
export async function migrate(
  connection: Connection,
  migrations: readonly string[] = MIGRATIONS,
): Promise<Result<void, KronError>> {
  return connection.transaction("", async () => {
    await connection.rows(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, [], MIGRATION_PATIENCE);
    const { has_schema, is_ours } = await lookAtSchema(connection);
    const version = await schemaVersion(connection, migrations.length);
    if (!version.ok) return version;
    if (!has_schema) await connection.rows(`create schema ${SCHEMA}`);
    if (!is_ours) {
      await connection.rows(
        `create table ${SCHEMA}.migration (version int primary key, engine text not null, at timestamptz not null default now())`,
      );
    }
    for (const [index, text] of migrations.entries()) {
      if (index < version.value) continue;
      await connection.rows(text, [], MIGRATION_PATIENCE);
      const values = [index + 1, ENGINE_VERSION];
      await connection.rows(`insert into ${SCHEMA}.migration (version, engine) values ($1, $2)`, values);
    }
    return ok(undefined);
  });
}
