import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { BACKENDS } from "../../src/persist/backends.js";
import { copiesIn } from "../../src/persist/corrupt-copies.js";
import { JOURNAL_FILE } from "../../src/persist/files/atomic.js";
import { META_FILE } from "../../src/persist/files/meta.js";
import { documentKey } from "../../src/persist/keys.js";
import { DATA_FILE } from "../../src/persist/lmdb/environment.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { type BackendName, MARKER_FILE } from "../../src/persist/marker.js";
import { openStateReader } from "../../src/persist/open.js";
import { type RecoveryReport, type RecoveryRules, recoverStore } from "../../src/persist/recover.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const NOW = Date.UTC(2026, 2, 1, 12);

/** a and gone are in the store; a and new are configured. */
async function usedDirectory(backend: BackendName): Promise<string> {
  const directory = newDirectory();
  const term = must(acquireDirectoryLock(directory));
  const store = must(await BACKENDS[backend].open(term));
  const documents = ["a", "gone"].map((identity) => ({ key: documentKey(identity), text: `text of ${identity}` }));
  await store.commit(term, { documents, ledger: [{ identity: "a", at: 1, kind: "period", text: "kept" }] });
  await store.close();
  term.release();
  return directory;
}

const rules: Omit<RecoveryRules, "copies"> = {
  now: NOW,
  identities: ["a", "new"],
  fence: ({ identity, text }) => ({
    text: `fenced ${identity ?? "?"}, was ${text ?? "nothing"}`,
    ledger: identity === undefined ? [] : [{ identity, at: NOW, kind: "period", text: "state_recovered" }],
  }),
};

async function recover(directory: string, backend: BackendName, using = rules): Promise<RecoveryReport> {
  const term = must(acquireDirectoryLock(directory));
  try {
    return must(await recoverStore(term, BACKENDS[backend], { ...using, copies: copiesIn(directory) }));
  } finally {
    term.release();
  }
}

async function openingCode(directory: string, backend: BackendName): Promise<string> {
  const term = must(acquireDirectoryLock(directory));
  const opened = await BACKENDS[backend].open(term);
  if (opened.ok) await opened.value.close();
  term.release();
  return opened.ok ? "opened" : opened.error.code;
}

async function told(directory: string): Promise<unknown> {
  const reader = must(await openStateReader(directory));
  const texts = await Promise.all(["a", "gone", "new"].map(async (it) => (await reader.get(it))?.text));
  const ledger = (await reader.ledgerLatest("a", 9)).map((it) => it.text);
  await reader.close();
  return [...texts, ledger];
}

const kept = [
  "fenced a, was text of a",
  "fenced ?, was text of gone",
  "fenced new, was nothing",
  ["state_recovered", "kept"],
];
const lost = ["fenced a, was nothing", undefined, "fenced new, was nothing", ["state_recovered"]];

interface Row {
  readonly name: string;
  readonly spoil: (directory: string) => void;
  readonly refused: string;
  readonly after: unknown;
  readonly movedAside: readonly string[];
}

const file = (directory: string, name: string) => path.join(directory, name);
const SUFFIX = ".damaged.20260301T120000Z";

const tables: Readonly<Record<BackendName, readonly Row[]>> = {
  lmdb: [
    { name: "nothing", spoil: () => undefined, refused: "opened", after: kept, movedAside: [] },
    {
      name: "the data is lost",
      spoil: (it) => fs.rmSync(file(it, DATA_FILE)),
      refused: "state-missing",
      after: lost,
      movedAside: ["kron.mdb-lock"],
    },
    {
      name: "the data is truncated",
      spoil: (it) => fs.truncateSync(file(it, DATA_FILE), 20_000),
      refused: "state-damaged",
      after: lost,
      movedAside: ["kron.mdb", "kron.mdb-lock"],
    },
    {
      name: "the data is of another store",
      spoil: (it) => fs.writeFileSync(file(it, MARKER_FILE), otherMarker(it)),
      refused: "state-rewound",
      after: kept,
      movedAside: [],
    },
    {
      name: "the marker is damaged",
      spoil: (it) => fs.writeFileSync(file(it, MARKER_FILE), "?"),
      refused: "state-damaged",
      after: kept,
      movedAside: [],
    },
  ],
  files: [
    { name: "nothing", spoil: () => undefined, refused: "opened", after: kept, movedAside: [] },
    {
      name: "the store's own file is lost",
      spoil: (it) => fs.rmSync(file(it, META_FILE)),
      refused: "state-missing",
      after: kept,
      movedAside: [],
    },
    {
      name: "the store's own file is damaged",
      spoil: (it) => fs.writeFileSync(file(it, META_FILE), "{}"),
      refused: "state-damaged",
      after: kept,
      movedAside: [META_FILE],
    },
    {
      name: "the journal is damaged",
      spoil: (it) => fs.writeFileSync(file(it, JOURNAL_FILE), "{}", { mode: 0o600 }),
      refused: "state-damaged",
      after: kept,
      movedAside: [JOURNAL_FILE],
    },
  ],
};

function otherMarker(directory: string): string {
  return fs.readFileSync(file(directory, MARKER_FILE), "utf8").replace(/"storeId":"[^"]*"/, '"storeId":"other"');
}

for (const backend of ["lmdb", "files"] as const) {
  describe(`S32: recovery of the ${backend} backend fences every identity and keeps what is readable`, () => {
    for (const row of tables[backend]) {
      test(row.name, async () => {
        const directory = await usedDirectory(backend);
        row.spoil(directory);
        const before = await openingCode(directory, backend);
        const report = await recover(directory, backend);
        expect([before, await openingCode(directory, backend)]).toEqual([row.refused, "opened"]);
        expect(await told(directory)).toEqual(row.after);
        expect(report.movedAside).toEqual(row.movedAside.map((name) => file(directory, name + SUFFIX)));
        expect(report.movedAside.every((name) => fs.existsSync(name))).toBe(true);
      });
    }

    test("an interrupted recovery leaves a store that is refused, and can be repeated", async () => {
      const directory = await usedDirectory(backend);
      fs.writeFileSync(file(directory, MARKER_FILE), "?");
      const interrupted = recover(directory, backend, {
        ...rules,
        fence: (subject, store) => {
          if (subject.identity === "new") throw new Error("interrupted");
          return rules.fence(subject, store);
        },
      });
      await expect(interrupted).rejects.toThrow("interrupted");
      expect(await openingCode(directory, backend)).toBe("state-incompatible");
      await recover(directory, backend);
      expect(await openingCode(directory, backend)).toBe("opened");
      expect(await told(directory)).toEqual(kept);
    });

    test("never in the directory of another backend", async () => {
      const directory = await usedDirectory(backend);
      const other = backend === "lmdb" ? "files" : "lmdb";
      await expect(recover(directory, other)).rejects.toMatchObject({ code: "state-incompatible" });
      expect(await openingCode(directory, backend)).toBe("opened");
    });

    test("a fence may leave a document as it is", async () => {
      const directory = await usedDirectory(backend);
      const report = await recover(directory, backend, { ...rules, fence: () => null });
      expect(report).toMatchObject({ found: 2, fenced: 0 });
      expect(await told(directory)).toEqual(["text of a", "text of gone", undefined, ["kept"]]);
    });

    test("what is moved aside twice within a second never replaces itself", async () => {
      const directory = await usedDirectory(backend);
      const name = backend === "lmdb" ? DATA_FILE : META_FILE;
      for (const content of ["1", "2"]) {
        fs.writeFileSync(file(directory, name), content.repeat(10_000));
        await recover(directory, backend);
      }
      const names = [`${name}${SUFFIX}`, `${name}${SUFFIX}.1`];
      expect(names.map((it) => fs.readFileSync(file(directory, it), "utf8").slice(0, 1))).toEqual(["1", "2"]);
    });
  });
}
