/** What a database is refused for, and what whoever reads that is told to do. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { KronError } from "../../src/core/base/errors/kron-error.js";
import { redacted } from "../../src/operations/redaction.js";
import { storePlace } from "../../src/persist/backends.js";
import { copiesIn } from "../../src/persist/corrupt-copies.js";
import { Connection } from "../../src/persist/postgres/connection.js";
import {
  acquirePostgres,
  openPostgresReader,
  openPostgresStore,
  withPostgresSnapshot,
} from "../../src/persist/postgres/open.js";
import type { PostgresPlace } from "../../src/persist/postgres/place.js";
import { MIGRATIONS } from "../../src/persist/postgres/schema.js";
import { migrate, schemaVersion } from "../../src/persist/postgres/server.js";
import { recoverStore } from "../../src/persist/recover.js";
import { CLOCKS_APART_MS, type StateReader } from "../../src/persist/store.js";
import { LOCKED_PASSWORD, LOCKED_ROLE, PostgresServer, placeAt, postgresServer, ROLE } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const server = postgresServer();
const newDirectory = temporaryDirectories();

async function newPlace(more: Partial<PostgresPlace> = {}, owner = ROLE): Promise<PostgresPlace> {
  return placeAt(server().address(await server().newDatabase(owner), owner), newDirectory(), more);
}

/** As a daemon does, from the lock to the end; null: it would have started. */
async function refusal(place: PostgresPlace): Promise<KronError | null> {
  const term = await acquirePostgres(place);
  if (!term.ok) return term.error;
  const store = await openPostgresStore(place, term.value);
  if (store.ok) await store.value.close();
  await term.value.release();
  return store.ok ? null : store.error;
}

async function readingRefusal(place: PostgresPlace): Promise<KronError | null> {
  const reader = await openPostgresReader(place);
  if (reader.ok) await reader.value.close();
  return reader.ok ? null : reader.error;
}

/** A store that was used. */
async function usedPlace(): Promise<PostgresPlace> {
  const place = await newPlace();
  expect(await refusal(place)).toBeNull();
  return place;
}

const inDatabase = (place: PostgresPlace, text: string) => server().admin(text, place.address.database);

interface Row {
  readonly name: string;
  readonly place: () => Promise<PostgresPlace>;
  readonly code: string;
  readonly message: RegExp;
  readonly hint: RegExp;
}

function passwordFile(text: string): string {
  const file = path.join(newDirectory(), "password");
  fs.writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const rows: readonly Row[] = [
  {
    name: "a wrong password",
    place: () => newPlace({ passwordFile: passwordFile("wrong\n") }, LOCKED_ROLE),
    code: "store-denied",
    message: /does not let "locked" in \(password authentication failed/,
    hint: /--store-password-file or PGPASSFILE/,
  },
  {
    name: "no password",
    place: () => newPlace({}, LOCKED_ROLE),
    code: "store-denied",
    message: /does not let "locked" in/,
    hint: /--store-password-file or PGPASSFILE/,
  },
  {
    name: "a password file that is not there",
    place: () => newPlace({ passwordFile: "/nowhere/password" }, LOCKED_ROLE),
    code: "store-denied",
    message: /a file that is needed to get in cannot be read \(ENOENT/,
    hint: /name another one/,
  },
  {
    name: "no such database",
    place: async () => placeAt(server().address("nowhere"), newDirectory()),
    code: "store-denied",
    message: /has no database "nowhere"/,
    hint: /create database "nowhere" owner "krond"/,
  },
  {
    name: "no right to make the schema",
    place: async () => placeAt(server().address(await server().newDatabase("postgres")), newDirectory()),
    code: "store-denied",
    message: /"krond" may not do there what is needed \(permission denied for database/,
    hint: /create schema kron authorization "krond"/,
  },
  {
    name: "the schema of another role",
    place: async () => {
      const place = await newPlace();
      await inDatabase(place, "create schema kron; create table kron.migration (version int)");
      return place;
    },
    code: "store-denied",
    message: /permission denied for schema kron/,
    hint: /alter schema kron owner/,
  },
  {
    name: "a schema of something else",
    place: async () => {
      const place = await newPlace();
      await inDatabase(place, `create schema kron authorization ${ROLE}; create table kron.customers (id int)`);
      return place;
    },
    code: "state-incompatible",
    message: /a schema "kron" that is not of ours/,
    hint: /a database of its own/,
  },
  {
    name: "a newer schema",
    place: async () => {
      const place = await usedPlace();
      await inDatabase(place, "insert into kron.migration (version, engine) values (99, 'newer')");
      return place;
    },
    code: "state-incompatible",
    message: /the schema has version 99, this Kron knows \d/,
    hint: /or a newer one/,
  },
  {
    name: "a load that was never finished",
    place: async () => {
      const place = await usedPlace();
      await inDatabase(place, "update kron.cluster set is_loading = true");
      return place;
    },
    code: "state-incompatible",
    message: /was never finished/,
    hint: /recover --fence/,
  },
  {
    name: "texts of another format",
    place: async () => {
      const place = await usedPlace();
      await inDatabase(place, "update kron.cluster set format = 2");
      return place;
    },
    code: "state-incompatible",
    message: /has format 2, this Kron reads 1/,
    hint: /./,
  },
  {
    name: "the store of another Kron",
    place: async () => ({ ...(await usedPlace()), directory: (await usedPlace()).directory }),
    code: "state-rewound",
    message: /is not the one that this directory belongs to/,
    hint: /name that database/,
  },
  {
    name: "a store that is gone",
    place: async () => {
      const place = await usedPlace();
      await inDatabase(place, "drop schema kron cascade");
      return place;
    },
    code: "state-missing",
    message: /there is no store any more/,
    hint: /recover --fence/,
  },
  {
    name: "a store that was put back from a copy",
    place: async () => {
      const place = await usedPlace();
      await inDatabase(place, "update kron.cluster set generation = 0");
      return place;
    },
    code: "state-rewound",
    message: /was put back from a copy/,
    hint: /recover --fence/,
  },
  {
    name: "a database that was moved to another server",
    place: async () => {
      const place = await usedPlace();
      await inDatabase(place, "update kron.cluster set system_id = '1'");
      return place;
    },
    code: "state-rewound",
    message: /the database was put into another server/,
    hint: /recover --fence/,
  },
  {
    name: "synchronous_commit = off",
    place: async () => {
      const place = await newPlace();
      await server().admin(`alter database ${place.address.database} set synchronous_commit = off`);
      return place;
    },
    code: "store-unsuitable",
    message: /synchronous_commit is off/,
    hint: /set synchronous_commit = on/,
  },
  {
    name: "a database that may only be read",
    place: async () => {
      const place = await newPlace();
      await server().admin(`alter database ${place.address.database} set default_transaction_read_only = on`);
      return place;
    },
    code: "store-unsuitable",
    message: /only lets us read/,
    hint: /reset default_transaction_read_only/,
  },
  {
    name: "another encoding",
    place: async () => {
      await server().admin(`create database latin owner ${ROLE} encoding latin1 template template0`);
      return placeAt(server().address("latin"), newDirectory());
    },
    code: "store-unsuitable",
    message: /the database is in LATIN1, not in UTF8/,
    hint: /encoding utf8/,
  },
  {
    name: "nobody there",
    place: async () => placeAt(`postgres:///kron?host=${newDirectory()}`, newDirectory()),
    code: "store-unreachable",
    message: /does not answer \(connect ENOENT/,
    hint: /see that the server runs/,
  },
  {
    name: "no more connections",
    place: async () => {
      const place = await newPlace();
      await server().admin(`alter database ${place.address.database} connection limit 0`);
      return place;
    },
    code: "store-unreachable",
    message: /takes no more connections/,
    hint: /raise max_connections/,
  },
];

describe("a start is refused for", () => {
  test.each(rows)("$name", async ({ place, code, message, hint }) => {
    const refused = await refusal(await place());
    expect([refused?.code, refused?.message]).toEqual([code, expect.stringMatching(message)]);
    expect(refused?.hint ?? (code === "state-incompatible" ? "-" : "")).toMatch(hint);
    expect(JSON.stringify([refused?.message, refused?.hint])).not.toContain(LOCKED_PASSWORD);
    // A log tells all of what to do.
    expect(redacted({ hint: refused?.hint }, false)).toEqual({ hint: refused?.hint });
  });

  test("a setting that is changed while the daemon runs ends it", async () => {
    const place = await newPlace();
    const term = must(await acquirePostgres(place));
    const store = must(await openPostgresStore(place, term));
    await server().admin(`alter database ${place.address.database} set synchronous_commit = off`);
    // A pooler gives every statement another server process; without one a connection keeps its settings.
    await server().admin(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`);
    await expect(store.commit(term, { meta: [{ key: "a", text: "1" }] })).rejects.toMatchObject({
      code: "state-write-failed",
      cause: { code: "store-unsuitable" },
    });
    expect((await term.lost).code).toBe("store-unsuitable");
    await store.close();
    await term.release();
  });
});

describe("reading is refused for", () => {
  test("no store, a schema without a migration, the store of another Kron", async () => {
    const [empty, old, other] = [await newPlace(), await usedPlace(), await usedPlace()];
    await inDatabase(old, "delete from kron.migration; insert into kron.migration (version, engine) values (0, 'old')");
    const foreign = { ...other, directory: (await usedPlace()).directory };
    const codes = await Promise.all([empty, old, foreign].map(async (it) => (await readingRefusal(it))?.code));
    expect(codes).toEqual(["state-missing", "state-missing", "state-rewound"]);
  });
});

describe("a recovery", () => {
  test.each(["another server", "a copy", "a load"])("makes a store of %s usable again", async (what) => {
    const place = await usedPlace();
    const change = { "another server": "system_id = '1'", "a copy": "generation = 0", "a load": "is_loading = true" }[
      what
    ];
    await inDatabase(place, `update kron.cluster set ${change}`);
    expect(await refusal(place)).not.toBeNull();
    const { backend } = must(storePlace(place.address.text, place.directory));
    const term = must(await backend.acquire(""));
    const rules = { now: 1, identities: [], fence: () => null, copies: copiesIn(place.directory) };
    must(await recoverStore(term, backend, rules));
    await term.release();
    expect(await refusal(place)).toBeNull();
  });
});

describe("a schema", () => {
  test("grows by the migrations that are missing, all or none of them, and once if two ask for it", async () => {
    const place = await usedPlace();
    const next = [...MIGRATIONS, "create table kron.next (id int)"];
    const connections = [new Connection(place, 10_000), new Connection(place, 10_000)];
    const broken = migrate(new Connection(place, 10_000), [...next, "create table kron.broken (id nothing)"]);
    await expect(broken).rejects.toThrow(/type "nothing" does not exist/);
    expect(await schemaVersion(connections[0] ?? never())).toEqual({ ok: true, value: MIGRATIONS.length });
    const made = await Promise.all(connections.map((connection) => migrate(connection, next)));
    expect(made).toEqual([{ ok: true }, { ok: true }]);
    expect(await schemaVersion(connections[0] ?? never(), next.length)).toEqual({ ok: true, value: next.length });
    expect((await refusal(place))?.code).toBe("state-incompatible");
    for (const connection of connections) await connection.close();
  });
});

function never(): never {
  throw new Error("not there");
}

describe("a replica", () => {
  const servers: PostgresServer[] = [];
  afterEach(async () => {
    for (const one of servers.splice(0)) {
      await one.stop("SIGQUIT");
      fs.rmSync(one.root, { recursive: true, force: true });
    }
  });

  test("C12: is read from, refused for writing, and as the new primary taken with a fence of all that was due", async () => {
    const place = await usedPlace();
    await server().stop();
    const replica = new PostgresServer({ copyOf: server() });
    servers.push(replica);
    replica.initialise();
    await server().start();
    replica.makeReplica();
    await replica.start();
    const there = { ...place, ...placeAt(replica.address(place.address.database), place.directory) };
    expect(await readingRefusal(there)).toBeNull();
    const refused = await refusal(there);
    expect([refused?.code, refused?.message]).toEqual(["store-unsuitable", expect.stringMatching(/is a replica/)]);
    await replica.admin("select pg_promote()");
    const beforeAt = Date.now();
    const term = must(await acquirePostgres(there));
    const store = must(await openPostgresStore(there, term));
    const upToAt = (await store.failover?.dueUpTo()) ?? 0;
    expect(upToAt).toBeGreaterThanOrEqual(beforeAt + CLOCKS_APART_MS);
    await store.failover?.settled(term, upToAt);
    expect(await store.failover?.dueUpTo()).toBeNull();
    await store.close();
    await term.release();
    // The server that it was copied from is on a timeline that this directory has left behind.
    const back = { ...place, directory: there.directory };
    expect((await refusal(back))?.code).toBe("state-rewound");
  });
});

describe("a snapshot", () => {
  test("is of one instant, beside whoever writes", async () => {
    const place = await newPlace();
    const term = must(await acquirePostgres(place));
    const store = must(await openPostgresStore(place, term));
    await store.commit(term, { meta: [{ key: "a", text: "1" }] });
    const seen = await withPostgresSnapshot(place, async (reader: StateReader) => {
      const before = await reader.meta("a");
      await store.commit(term, { meta: [{ key: "a", text: "2" }] });
      return { ok: true, value: [before, await reader.meta("a")] };
    });
    expect([seen, await store.meta("a")]).toEqual([{ ok: true, value: ["1", "1"] }, "2"]);
    await store.close();
    await term.release();
  });
});

describe("TLS", () => {
  function freePort(): Promise<number> {
    // Below those that other connections are given.
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    return new Promise((resolve) => {
      const probe = net.createServer();
      probe.once("error", () => resolve(freePort()));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(port)));
    });
  }

  test("a server proves who it is, or is refused", async () => {
    const keys = newDirectory();
    const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: keys, stdio: "ignore" });
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "30"];
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", ...subject);
    const port = await freePort();
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "ssl=on"];
    const own = new PostgresServer({ settings: [...settings, "ssl_cert_file=cert.pem", "ssl_key_file=key.pem"] });
    try {
      own.initialise();
      for (const name of ["cert.pem", "key.pem"]) fs.cpSync(path.join(keys, name), path.join(own.data, name));
      const { uid, gid } = fs.statSync(own.data);
      for (const name of ["cert.pem", "key.pem"]) {
        fs.chownSync(path.join(own.data, name), uid, gid);
        fs.chmodSync(path.join(own.data, name), 0o600);
      }
      await own.start();
      const at = (host: string, more: string): PostgresPlace =>
        placeAt(`postgres://postgres@${host}:${port}/postgres?${more}`, newDirectory());
      const ca = `sslrootcert=${path.join(keys, "cert.pem")}`;
      expect(await refusal(at("localhost", `sslmode=verify-full&${ca}`))).toBeNull();
      expect((await refusal(at("127.0.0.1", `sslmode=verify-full&${ca}`)))?.message).toMatch(/cannot prove that it is/);
      expect(await refusal(at("127.0.0.1", `sslmode=verify-ca&${ca}`))).toBeNull();
      expect((await refusal(at("localhost", "sslmode=verify-full")))?.hint).toMatch(/sslrootcert=/);
      expect(await refusal(at("127.0.0.1", "sslmode=require"))).toBeNull();
      expect((await refusal(at("127.0.0.1", "sslmode=verify-ca&sslrootcert=/nowhere")))?.code).toBe("store-denied");
    } finally {
      await own.stop("SIGQUIT");
      fs.rmSync(own.root, { recursive: true, force: true });
    }
  });
});
