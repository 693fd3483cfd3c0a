import * as fs from "node:fs";
import { userInfo } from "node:os";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { type AddressOptions, BACKENDS, storeIn, storePlace } from "../../src/persist/backends.js";
import { NAME_RULE } from "../../src/persist/cluster.js";
import { BACKEND_NAMES, MARKER_FILE } from "../../src/persist/marker.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);

describe("what --store asks for", () => {
  const known: readonly { text: string | undefined; name: string }[] = [
    { text: undefined, name: "lmdb" },
    { text: "lmdb", name: "lmdb" },
    { text: "files", name: "files" },
  ];
  test.each(known)("$text: a store of $name in the state directory", ({ text, name }) => {
    const place = storePlace(text, "/state");
    expect(place).toMatchObject({ ok: true, value: { backend: { name }, at: "/state" } });
  });

  const unknown: readonly { text: string; message: string }[] = [
    { text: "", message: '"" is not one of lmdb, files, postgres://…' },
    { text: "LMDB", message: '"LMDB" is not one of lmdb, files, postgres://…' },
    { text: "toString", message: '"toString" is not one of lmdb, files, postgres://…' },
    { text: "/var/lib/krond", message: '"/var/lib/krond" is not one of lmdb, files, postgres://…' },
    { text: "mysql://kron:secret@db/kron", message: 'no store can be reached by "mysql:"' },
    { text: "Redis://db", message: 'no store can be reached by "redis:"' },
  ];
  test.each(unknown)("$text: refused, and nothing of an address repeated", ({ text, message }) => {
    expect(storePlace(text, "/state")).toEqual({
      ok: false,
      error: { code: "field-range", message, path: [], hint: "write one of lmdb, files, postgres://…" },
    });
  });
});

describe("an address of PostgreSQL", () => {
  const me = userInfo().username;
  const read: readonly { text: string; at: string }[] = [
    { text: "postgres://krond@db/kron", at: "postgres://krond@db:5432/kron?sslmode=verify-full" },
    { text: "postgresql://krond@db:6432/", at: "postgres://krond@db:6432/krond?sslmode=verify-full" },
    { text: "POSTGRES://krond@localhost/kron", at: "postgres://krond@localhost:5432/kron?sslmode=disable" },
    { text: "postgres://[::1]/kron", at: `postgres://${me}@[::1]:5432/kron?sslmode=disable` },
    {
      text: "postgres://krond@db/kron?sslmode=verify-ca&sslrootcert=/etc/ca.pem",
      at: "postgres://krond@db:5432/kron?sslmode=verify-ca&sslrootcert=%2Fetc%2Fca.pem",
    },
    {
      text: "postgres:///kron?host=/run/postgresql&user=krond",
      at: "postgres:///kron?host=%2Frun%2Fpostgresql&port=5432&user=krond",
    },
  ];
  test.each(read)("$text", ({ text, at }) => {
    const place = must(storePlace(text, "/state"));
    expect([place.backend.name, place.at]).toEqual(["postgres", at]);
    // What is told is an address again.
    expect(must(storePlace(place.at, "/state")).at).toBe(at);
  });

  const wrong: readonly { text: string; message: string }[] = [
    {
      text: "postgres://kron:secret@db/kron",
      message: "the address holds a password, which everybody on this machine could read",
    },
    { text: "postgres://", message: "the address names no host" },
    { text: "postgres://db:0/kron", message: "the port of the address is none" },
    { text: "postgres://db:99999/kron", message: "the address of the database cannot be read" },
    { text: "postgres:///kron?host=one,two", message: "the address names several hosts" },
    { text: "postgres://db/kron?sslmode=prefer", message: 'sslmode "prefer" is none' },
    { text: "postgres://db/kron?sslmode=disable&sslrootcert=/ca", message: "sslrootcert is for connections with TLS" },
    { text: "postgres://db/kron?password=secret", message: '"password" is no parameter of an address' },
    { text: "postgres://db/kron?port=1&port=2", message: '"port" is written twice' },
    { text: "postgres://db/kron#secret", message: "the address has a part behind #" },
    { text: "postgres://db/kron/other", message: "the address names no database" },
    { text: "postgres://%zz@db/kron", message: "the address names no database" },
  ];
  test.each(wrong)("$text: refused, and told what to write", ({ text, message }) => {
    const place = storePlace(text, "/state");
    expect(place).toMatchObject({ ok: false, error: { code: "field-range", message } });
    expect(place.ok ? "" : place.error.hint).not.toBe("");
    expect(JSON.stringify(place)).not.toContain("secret@");
  });

  test("what belongs to an address is refused without one", () => {
    const options = [{ passwordFile: "/etc/password" }, { leaseMs: 5_000 }, { node: "a" }, { pools: ["gpu"] }];
    expect(options.map((one) => storePlace("lmdb", "/state", one))).toMatchObject([
      { ok: false, error: { code: "field-conflict", message: "a password is for a store with an address" } },
      { ok: false, error: { code: "field-conflict", message: "a lease is for a store with an address" } },
      { ok: false, error: { code: "field-conflict", message: "the name of a node is for a store with an address" } },
      { ok: false, error: { code: "field-conflict", message: "a pool of nodes is for a store with an address" } },
    ]);
  });

  const names: readonly { options: AddressOptions; wrong: string | null; of?: "pools" }[] = [
    { options: { node: "a" }, wrong: null },
    { options: { node: "db-1.example_2", pools: ["gpu", "any", "gpu"] }, wrong: null },
    { options: { node: "x".repeat(63) }, wrong: null },
    { options: { node: "" }, wrong: '""' },
    { options: { node: "DB1" }, wrong: '"DB1"' },
    { options: { node: "x".repeat(64) }, wrong: `"${"x".repeat(64)}"` },
    { options: { node: "a", pools: ["node/b"] }, wrong: '"node/b"', of: "pools" },
    { options: { node: "a", pools: ["gpu", "e u'"] }, wrong: '"e u\'"', of: "pools" },
    { options: { node: "-a" }, wrong: '"-a"' },
  ];
  test.each(names)("of nodes and pools: $options", ({ options, wrong, of = "node" }) => {
    const place = storePlace("postgres://krond@db/kron", "/state", options);
    const message = `${wrong} is no name of a ${of === "node" ? "node" : "pool"}`;
    const refused = { ok: false, error: { code: "field-range", message, path: [of], hint: NAME_RULE } };
    expect(place).toMatchObject(wrong === null ? { ok: true } : refused);
  });

  test("a store is for several only by name: what is theirs is not there else", () => {
    const alone = must(storePlace("postgres://krond@db/kron", "/state")).backend;
    const one = must(storePlace("postgres://krond@db/kron", "/state", { node: "a" })).backend;
    expect([alone.member, typeof one.member, BACKENDS.lmdb.member, BACKENDS.files.cluster]).toEqual([
      ...[null, "function", null, null],
    ]);
    expect(storePlace("postgres://krond@db/kron", "/state", { pools: ["gpu"] })).toMatchObject({
      ok: false,
      error: { code: "field-conflict", hint: "name the node too: --node NAME" },
    });
  });
});

describe("each backend", () => {
  test.each(BACKEND_NAMES)("%s: is found again in its directory, and by nothing else", async (name) => {
    const directory = newDirectory();
    expect(must(storeIn(directory))).toBeNull();
    const term = must(await BACKENDS[name].acquire(directory));
    const store = must(await BACKENDS[name].open(term));
    await store.commit(term, { meta: [{ key: "a.note", text: "of this one" }] });
    await store.close();
    expect(must(storeIn(directory))).toEqual({ backend: BACKENDS[name], at: directory });
    const notes = [
      await BACKENDS[name].peekNote(directory, "a.note"),
      await BACKENDS[name].peekNote(directory, "no.note"),
      await BACKENDS[name].peekNote(newDirectory(), "a.note"),
    ];
    expect(notes).toEqual(["of this one", undefined, undefined]);
    term.release();
    fs.writeFileSync(path.join(directory, MARKER_FILE), '{"backend":"other","storeId":"1","generation":1}');
    expect(storeIn(directory)).toMatchObject({ ok: false, error: { code: "state-damaged" } });
  });

  test.each(BACKEND_NAMES)("%s: what other threads read by is what the record can attach to", async (name) => {
    const directory = newDirectory();
    const term = must(await BACKENDS[name].acquire(directory));
    const store = must(await BACKENDS[name].open(term));
    const { attach } = BACKENDS[name];
    expect(store.source).toEqual(attach === null ? null : { backend: name, at: directory });
    const reader = attach?.(directory);
    expect(reader?.storeId ?? store.storeId).toBe(store.storeId);
    await reader?.close();
    await store.close();
    term.release();
  });
});

test("nothing of a database is loaded unless one is named", () => {
  const root = path.resolve(import.meta.dirname, "../../src");
  const files = fs.readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const loading = files.flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), "utf8");
    const names = [...text.matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)"/gms)].map(
      ([, name = ""]) => name,
    );
    const isOutside = !file.startsWith("persist/postgres/");
    // How a database is named is all that others know of it.
    const isPart = (name: string): boolean => /postgres\/(?!address|place)/.test(name);
    return names.filter((name) => name === "pg" || (isOutside && isPart(name))).map((name) => `${file}: ${name}`);
  });
  expect(loading).toEqual([]);
});
