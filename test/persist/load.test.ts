import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import type { PlannedPage } from "../../src/actors/pool/types.js";
import { planHere } from "../../src/actors/supervisor/start/plan-here.js";
import type { KronError } from "../../src/core/base/errors/kron-error.js";
import type { Result } from "../../src/core/base/result.js";
import { newDocument, type StateDocument } from "../../src/core/state/document.js";
import { parseDocument } from "../../src/core/state/parse.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { BACKENDS } from "../../src/persist/backends.js";
import { copiesIn } from "../../src/persist/corrupt-copies.js";
import { type DocumentKey, documentKey } from "../../src/persist/keys.js";
import { type CorruptDocument, type Fenced, settleUnusable, type UnusableDocument } from "../../src/persist/load.js";
import { acquireDirectoryLock, acquireMemoryLock, type LockTerm } from "../../src/persist/lock.js";
import { MemoryDisk } from "../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../src/persist/memory/store.js";
import type { StateStore } from "../../src/persist/store.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const NOW = Date.UTC(2026, 2, 1, 12);
const STAMP = "20260301T120000Z";
const JOBS = ["a", "b", "c"];

const textOf = (identity: string, more: Partial<StateDocument> = {}) =>
  serialiseDocument({ ...newDocument(identity), ...more });
const handled = {
  LastHandledPeriodID: "2026-03-01T11:00:00Z",
  LastOutcome: "executed",
  LastNominalTime: "2026-03-01T11:00:00Z",
} as const;
const fencedText = (identity: string) =>
  textOf(identity, {
    LastHandledPeriodID: "2026-03-01T12:00:00Z",
    LastNominalTime: "2026-03-01T12:00:00Z",
    LastOutcome: "skipped",
    LastReason: "state_recovered",
  });

interface Loaded {
  readonly result: Result<readonly CorruptDocument[], KronError>;
  readonly visited: Record<string, string>;
  readonly directory: string;
  readonly store: StateStore;
}

/** As a start does it: what cannot be used is found, and settled; `visited` is what can be read afterwards. */
async function load(store: StateStore, term: LockTerm, directory: string): Promise<Loaded> {
  const identities = new Map(JOBS.map((identity) => [documentKey(identity), identity]));
  const unusable: UnusableDocument[] = [];
  const onPage = ({ problems }: PlannedPage): void => {
    for (const { key, code, message } of problems) {
      unusable.push({ key: key as DocumentKey, identity: identities.get(key as DocumentKey), code, message });
    }
  };
  await planHere(store, { now: NOW, onPage });
  const fence = (identity: string): Fenced => ({
    text: fencedText(identity),
    ledger: [{ identity, at: NOW, kind: "period", text: "state_recovered" }],
  });
  const result = await settleUnusable(store, term, unusable, { now: NOW, fence, copies: copiesIn(directory) });
  const visited: Record<string, string> = {};
  for await (const page of store.documents()) {
    for (const { text, key, isIntact } of page) {
      const document = parseDocument(text, key);
      if (document.ok && isIntact) visited[document.value.Identity] = document.value.LastHandledPeriodID;
    }
  }
  return { result, visited, directory, store };
}

const copiesOf = (directory: string) => fs.readdirSync(directory).filter((name) => name.includes(".corrupt."));

/** A memory store holds a, b and whatever else; copies go to a real directory. */
async function loadWith(prepare: (disk: MemoryDisk) => void, directory = newDirectory()): Promise<Loaded> {
  const disk = new MemoryDisk();
  for (const identity of ["a", "b"])
    disk.apply({ documents: [{ key: documentKey(identity), text: textOf(identity, handled) }] });
  prepare(disk);
  const term = must(acquireMemoryLock(disk));
  const store = must(openMemoryStore(term, disk));
  return load(store, term, directory);
}

const put = (identity: string, text: string) => (disk: MemoryDisk) =>
  disk.apply({ documents: [{ key: documentKey(identity), text }] });

describe("S32: a document that cannot be read", () => {
  const rows: readonly { name: string; spoil: (disk: MemoryDisk) => void; kept: string }[] = [
    { name: "cut off", spoil: put("b", '{"Version":"1","Ident'), kept: '{"Version":"1","Ident' },
    { name: "empty", spoil: put("b", ""), kept: "" },
    {
      name: "readable, but not what was written: a flipped bit",
      spoil: (disk) => disk.damage(documentKey("b"), textOf("b")),
      kept: textOf("b"),
    },
  ];
  for (const row of rows) {
    test(`STATE, corruption handling: ${row.name}: copied, fenced, and the others go on`, async () => {
      const { result, visited, directory, store } = await loadWith(row.spoil);
      const copy = path.join(directory, `${documentKey("b")}.corrupt.${STAMP}`);
      expect(result).toMatchObject({ ok: true, value: [{ identity: "b", copy }] });
      expect(visited).toEqual({ a: handled.LastHandledPeriodID, b: "2026-03-01T12:00:00Z" });
      expect([fs.readFileSync(copy, "utf8"), fs.statSync(copy).mode & 0o7777]).toEqual([row.kept, 0o600]);
      expect((await store.get("b"))?.text).toBe(fencedText("b"));
      expect((await store.ledgerLatest("b", 1))[0]?.text).toBe("state_recovered");
    });
  }

  test("of a job that is not configured: kept once, left in place, and fenced when the job comes back", async () => {
    const first = await loadWith(put("unknown", "{"));
    const again = await loadWith(put("unknown", "{"), first.directory);
    const expected = { key: documentKey("unknown"), identity: undefined };
    expect(first.result).toMatchObject({ ok: true, value: [{ ...expected, copy: expect.any(String) }] });
    expect(again.result).toMatchObject({ ok: true, value: [{ ...expected, copy: null }] });
    expect([copiesOf(first.directory).length, (await again.store.get("unknown"))?.text]).toEqual([1, "{"]);
  });

  test("a copy that cannot be written is fatal, and nothing was replaced", async () => {
    const { result, store } = await loadWith(put("b", "{"), "/dev/null");
    expect(result).toMatchObject({ ok: false, error: { code: "state-write-failed", isFatal: true } });
    expect((await store.get("b"))?.text).toBe("{");
  });
});

describe("S32: a readable document that cannot be used refuses the start", () => {
  const rows: readonly { name: string; text: string; key?: string; message: RegExp }[] = [
    { name: "a version without migration", text: textOf("b").replace('"1"', '"9"'), message: /b: version "9"/ },
    {
      name: "a required field is missing",
      text: textOf("b").replace(/"LastOutcome":"",?/, ""),
      message: /LastOutcome/,
    },
    { name: "JSON that is no object", text: "[]", message: /not a JSON object/ },
    { name: "an identity that does not match its key", text: textOf("a"), message: /Identity does not belong/ },
  ];
  for (const row of rows) {
    test(`ERROR-MODEL, IncompatibleStateError: ${row.name}`, async () => {
      const { result, directory, store } = await loadWith((disk) => {
        put("b", row.text)(disk);
        put("c", "{")(disk);
      });
      expect(result).toMatchObject({
        ok: false,
        error: {
          category: "IncompatibleStateError",
          isFatal: true,
          identity: "b",
          message: expect.stringMatching(row.message),
        },
      });
      // Nothing was changed: the unreadable neighbour is neither copied nor fenced.
      expect([copiesOf(directory), (await store.get("c"))?.text]).toEqual([[], "{"]);
    });
  }

  test("a document under a damaged key: its job would be without it", async () => {
    const { result, directory } = await loadWith((disk) => disk.damage(documentKey("unknown"), textOf("c", handled)));
    expect(result).toMatchObject({ ok: false, error: { code: "state-incompatible" } });
    expect(copiesOf(directory)).toEqual([]);
  });

  test("all of them are named, up to ten", async () => {
    const { result } = await loadWith((disk) => {
      for (let n = 0; n < 30; n += 1) put(`x${n}`, textOf("other"))(disk);
    });
    const message = result.ok ? "" : result.error.message;
    expect([message.split("; ").length, message.endsWith("and 20 more")]).toEqual([11, true]);
  });
});

for (const backend of ["lmdb", "files"] as const) {
  describe(`on the ${backend} backend`, () => {
    async function open(directory: string): Promise<{ store: StateStore; term: LockTerm; close: () => Promise<void> }> {
      const term = must(acquireDirectoryLock(directory));
      const store = must(await BACKENDS[backend].open(term));
      const close = async () => {
        await store.close();
        term.release();
      };
      return { store, term, close };
    }

    test("a corrupt document becomes a fenced one for good, with its copy beside the store", async () => {
      const directory = newDirectory();
      const first = await open(directory);
      await first.store.commit(first.term, { documents: [{ key: documentKey("a"), text: '{"Identity":"a' }] });
      await load(first.store, first.term, directory);
      await first.close();
      const second = await open(directory);
      const { result, visited } = await load(second.store, second.term, directory);
      await second.close();
      expect(result).toEqual({ ok: true, value: [] });
      expect(visited).toEqual({ a: "2026-03-01T12:00:00Z" });
      expect(copiesOf(directory)).toEqual([`${documentKey("a")}.corrupt.${STAMP}`]);
    });
  });
}
