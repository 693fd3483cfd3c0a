import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { newDocument } from "../../src/core/state/document.js";
import { parseDocument } from "../../src/core/state/parse.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { BACKENDS, type Backend, storePlace } from "../../src/persist/backends.js";
import { exportState } from "../../src/persist/export.js";
import { JOURNAL_FILE } from "../../src/persist/files/atomic.js";
import { importState } from "../../src/persist/import.js";
import { documentKey } from "../../src/persist/keys.js";
import { acquireDirectoryLock, type LockTerm } from "../../src/persist/lock.js";
import type { BackendName } from "../../src/persist/marker.js";
import type { Batch, StateReader, StateStore } from "../../src/persist/store.js";
import { postgresServer } from "../support/postgres.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { documentsOf, must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const JOBS = ["prod/db-backup", "prod/ping", "äöü/€"];
const check = { check: parseDocument };

const server = postgresServer();

async function backendOf(name: BackendName | "postgres", directory: string): Promise<Backend> {
  if (name !== "postgres") return BACKENDS[name];
  return must(storePlace(server().address(await server().newDatabase()), directory)).backend;
}

async function inStore<T>(
  directory: string,
  name: BackendName | "postgres",
  use: (store: StateStore, term: LockTerm) => Promise<T>,
): Promise<T> {
  const backend = await backendOf(name, directory);
  const term = must(await backend.acquire(directory));
  const store = must(await backend.open(term));
  try {
    return await use(store, term);
  } finally {
    await store.close();
    await term.release();
  }
}

const filled: Batch = {
  documents: JOBS.map((identity) => ({ key: documentKey(identity), text: serialiseDocument(newDocument(identity)) })),
  ledger: JOBS.flatMap((identity) =>
    [1, 2, 3].map((at) => ({ identity, at, kind: "outcome", text: `${identity} ${at}` })),
  ),
  definitions: [
    { identity: JOBS[0] ?? "", definedAt: 1, text: "first" },
    { identity: JOBS[0] ?? "", definedAt: 2, text: "second" },
    { identity: JOBS[1] ?? "", definedAt: 1, text: "kept" },
    { identity: JOBS[1] ?? "", definedAt: 2, text: null },
  ],
  meta: [{ key: "zone-spans", text: "notes" }],
  objects: ["tenant/a", "tenant/a/job:1", "tenant/a.new"].map((key) => ({ key, text: `${key}\n"€"` })),
  alive: { bootedAt: 1, at: 2 },
};

/** Everything that a store knows. */
async function everything(reader: StateReader): Promise<unknown> {
  const ledger = (await reader.ledgerScan(null, 999)).records;
  const definitions: string[] = [];
  for await (const page of reader.definitions()) {
    definitions.push(...page.map((it) => `${it.identity} ${it.definedAt} ${it.text}`));
  }
  return {
    documents: await documentsOf(reader),
    ledger,
    definitions: definitions.sort(),
    notes: await reader.notes(),
    objects: await reader.objects({ prefix: "", limit: 99 }),
    alive: await reader.aliveSpans(null, 0, 99),
  };
}

const counts = { documents: 3, ledger: 9, definitions: 4, objects: 3, damaged: 0 };

describe("S30: export and import, without loss", () => {
  for (const [from, to] of [
    ["lmdb", "files"],
    ["files", "lmdb"],
    ["lmdb", "lmdb"],
    ["lmdb", "postgres"],
    ["postgres", "files"],
    ["files", "postgres"],
    ["postgres", "lmdb"],
  ] as const) {
    test(`${from} → directory → ${to}`, async () => {
      const directory = path.join(newDirectory(), "export");
      const before = await inStore(newDirectory(), from, async (store, term) => {
        await store.commit(term, filled);
        expect(must(await exportState(store, directory))).toEqual(counts);
        return everything(store);
      });
      const after = await inStore(newDirectory(), to, async (store, term) => {
        expect(must(await importState(directory, store, term, check))).toEqual(counts);
        return everything(store);
      });
      expect(after).toEqual(before);
    });
  }

  test("an export is what STATE describes: one 0600 file an identity in a 0700 directory", async () => {
    const directory = path.join(newDirectory(), "export");
    await inStore(newDirectory(), "lmdb", async (store, term) => {
      await store.commit(term, filled);
      must(await exportState(store, directory));
    });
    const texts = JOBS.map((identity) => fs.readFileSync(path.join(directory, documentKey(identity)), "utf8"));
    const modes = [directory, path.join(directory, documentKey(JOBS[0] ?? ""))].map(
      (it) => fs.statSync(it).mode & 0o7777,
    );
    expect([texts, modes]).toEqual([filled.documents?.map((it) => it.text), [0o700, 0o600]]);
  });

  test("the files backend opens an export as it is", async () => {
    const directory = path.join(newDirectory(), "export");
    const before = await inStore(newDirectory(), "lmdb", async (store, term) => {
      await store.commit(term, filled);
      must(await exportState(store, directory));
      return everything(store);
    });
    expect(await inStore(directory, "files", everything)).toEqual(before);
  });

  test("STATE: a directory of documents and nothing else is imported, and opened by the files backend", async () => {
    const directory = newDirectory();
    for (const { key, text } of filled.documents ?? [])
      fs.writeFileSync(path.join(directory, key), text ?? "", { mode: 0o600 });
    fs.writeFileSync(path.join(directory, "README"), "not a document");
    const imported = await inStore(newDirectory(), "lmdb", async (store, term) => {
      must(await importState(directory, store, term, check));
      return documentsOf(store);
    });
    expect(await inStore(directory, "files", documentsOf)).toEqual(imported);
    expect(Object.keys(imported).length).toBe(3);
  });

  test("the lmdb backend refuses to start anew in a directory of documents", async () => {
    const directory = newDirectory();
    fs.writeFileSync(path.join(directory, documentKey("a")), "{}", { mode: 0o600 });
    const term = must(acquireDirectoryLock(directory));
    const opened = await BACKENDS.lmdb.open(term);
    term.release();
    expect(opened).toMatchObject({ ok: false, error: { code: "state-incompatible", hint: "run: krond state import" } });
  });
});

describe("refusals", () => {
  test("an export never writes into a directory that holds something", async () => {
    const directory = newDirectory();
    fs.writeFileSync(path.join(directory, "precious"), "");
    const exported = await inStore(newDirectory(), "lmdb", (store) => exportState(store, directory));
    expect([exported.ok, fs.readdirSync(directory)]).toEqual([false, ["precious"]]);
  });

  const imports: readonly { name: string; spoil: (directory: string) => void; message: RegExp }[] = [
    {
      name: "a document that cannot be used",
      spoil: (it) => fs.writeFileSync(path.join(it, documentKey("b")), serialiseDocument(newDocument("a"))),
      message: /Identity does not belong/,
    },
    {
      name: "a document that cannot be read",
      spoil: (it) => fs.writeFileSync(path.join(it, documentKey("b")), "{"),
      message: /not JSON/,
    },
    {
      name: "a commit that was interrupted",
      spoil: (it) => fs.writeFileSync(path.join(it, JOURNAL_FILE), ""),
      message: /interrupted/,
    },
    {
      name: "a link",
      spoil: (it) => fs.symlinkSync("/etc/passwd", path.join(it, documentKey("b"))),
      message: /ELOOP/,
    },
  ];
  for (const row of imports) {
    test(`an import changes nothing when the directory holds ${row.name}`, async () => {
      const directory = newDirectory();
      fs.writeFileSync(path.join(directory, documentKey("a")), serialiseDocument(newDocument("a")));
      row.spoil(directory);
      const store = newDirectory();
      const refused = await inStore(store, "lmdb", (it, term) => importState(directory, it, term, check));
      expect(refused.ok ? "" : refused.error.message).toMatch(row.message);
      expect(await inStore(store, "lmdb", (it) => it.counts())).toEqual({ documents: 0, ledger: 0, definitions: 0 });
    });
  }

  test("an import needs an empty store", async () => {
    const refused = await inStore(newDirectory(), "lmdb", async (store, term) => {
      await store.commit(term, filled);
      return importState(newDirectory(), store, term, check);
    });
    expect(refused).toMatchObject({ ok: false, error: { code: "state-incompatible" } });
  });
});
