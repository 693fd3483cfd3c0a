/** docs/postgresql.md says what there is: its SQL makes a database that a daemon can use, and its options are options. */
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { START } from "../../src/cli/commands/krond/specs/start.js";
import { isErrorCode } from "../../src/core/base/errors/registry.js";
import { storePlace } from "../../src/persist/backends.js";
import { TLS_MODES } from "../../src/persist/postgres/address.js";
import { acquirePostgres, openPostgresStore } from "../../src/persist/postgres/open.js";
import { placeAt, postgresServer } from "../support/postgres.js";
import { temporaryDirectories } from "../support/temporary.js";

const PAGE = fs.readFileSync(new URL("../../docs/postgresql.md", import.meta.url), "utf8");
const server = postgresServer();
const newDirectory = temporaryDirectories();

describe("docs/postgresql.md", () => {
  test("its SQL makes what a daemon needs, and lets it do nothing else", async () => {
    const [, sql = ""] = /```sql\n([\s\S]*?)```/.exec(PAGE) ?? [];
    const [outside = "", inside = ""] = sql.split("\\c kron\n");
    // The role of that name is there for all tests.
    const statements = outside.split(";").filter((one) => one.trim() !== "" && !one.includes("create role krond"));
    for (const statement of statements) await server().admin(statement);
    await server().admin(inside, "kron");
    const place = placeAt(server().address("kron"), newDirectory());
    const term = await acquirePostgres(place);
    if (!term.ok) throw term.error;
    const store = await openPostgresStore(place, term.value);
    if (!store.ok) throw store.error;
    expect(await store.value.commit(term.value, { meta: [{ key: "note", text: "kept" }] })).toEqual([]);
    await store.value.close();
    await term.value.release();
    const [rights] = await server().admin(
      `select has_database_privilege('krond', 'kron', 'create') as database,
        has_schema_privilege('krond', 'public', 'create') as public,
        (select rolsuper or rolcreatedb or rolcreaterole or rolreplication from pg_roles where rolname = 'krond') as more`,
      "kron",
    );
    expect(rights).toEqual({ database: false, public: false, more: false });
  });

  test("its options, modes and codes are those that there are", () => {
    const options = new Set(START.options?.map(({ name }) => name));
    const named = [...PAGE.matchAll(/`--([a-z-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !options.has(name))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(["store", "store-password-file", "store-lease"]));
    expect(PAGE).toContain(`?sslmode=${TLS_MODES.join("\\|")}`);
    const codes = [...PAGE.matchAll(/`((?:store|state|lock|lease)-[a-z]+)`/g)].map(([, code = ""]) => code);
    expect(codes.filter((code) => !isErrorCode(code))).toEqual([]);
    expect(codes.length).toBeGreaterThan(5);
  });

  test("its addresses can be read", () => {
    const addresses = [...PAGE.matchAll(/postgres:\/\/[^\s`]*[a-z]/g)].map(([address]) => address);
    const plain = addresses.filter((address) => !/[[A-Z]/.test(address));
    expect(plain.map((address) => storePlace(address, "/state").ok)).toEqual(plain.map(() => true));
    expect(plain.length).toBeGreaterThan(2);
  });
});
