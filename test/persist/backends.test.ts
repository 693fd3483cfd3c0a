import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { BACKENDS, storeIn, storePlace } from "../../src/persist/backends.js";
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
    { text: "", message: '"" is not one of lmdb, files' },
    { text: "LMDB", message: '"LMDB" is not one of lmdb, files' },
    { text: "toString", message: '"toString" is not one of lmdb, files' },
    { text: "/var/lib/krond", message: '"/var/lib/krond" is not one of lmdb, files' },
    { text: "postgres://kron:secret@db/kron", message: 'no store can be reached by "postgres:"' },
    { text: "Redis://db", message: 'no store can be reached by "redis:"' },
  ];
  test.each(unknown)("$text: refused, and nothing of an address repeated", ({ text, message }) => {
    expect(storePlace(text, "/state")).toEqual({
      ok: false,
      error: { code: "field-range", message, path: [], hint: "write one of lmdb, files" },
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
