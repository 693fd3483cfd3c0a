/** What a store that is closed leaves for whoever opens it next, with real files: when it is believed, and when it is not. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { sealOf } from "../../src/persist/farewell.js";
import { documentKey } from "../../src/persist/keys.js";
import { DATA_FILE } from "../../src/persist/lmdb/environment.js";
import { openLmdbForRecovery, openLmdbStore } from "../../src/persist/lmdb/open.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import type { Batch, StateStore } from "../../src/persist/store.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const FAREWELL = "kron.farewell";
const WORDS = [Buffer.from("one "), Buffer.from("and another")];
const SAID = "one and another";
const JOBS = Array.from({ length: 300 }, (_, index) => `job/${index}`);
const LONG = "y".repeat(20_000);
const filled: Batch = {
  documents: JOBS.map((it, index) => ({ key: documentKey(it), text: index === 7 ? LONG : `{"n":"${it}"}` })),
  definitions: JOBS.map((identity) => ({ identity, definedAt: 0, text: `{"of":"${identity}"}` })),
};

async function opened<T>(directory: string, work: (store: StateStore, commit: Commit) => Promise<T>): Promise<T> {
  const term = must(acquireDirectoryLock(directory));
  const store = must(await openLmdbStore(term));
  try {
    return await work(store, async (batch) => {
      await store.commit(term, batch);
      if (batch === LEAVING) store.farewell?.leave(term, WORDS);
    });
  } finally {
    await store.close();
    term.release();
  }
}

type Commit = (batch: Batch) => Promise<void>;
/** Leaves its words behind a batch of nothing. */
const LEAVING: Batch = {};

/** A directory with a store that was closed with a farewell. */
async function left(): Promise<Left> {
  const directory = newDirectory();
  await opened(directory, async (_, commit) => {
    await commit(filled);
    await commit(LEAVING);
  });
  return { directory, data: path.join(directory, DATA_FILE), farewell: path.join(directory, FAREWELL) };
}

const heard = (directory: string): Promise<string | null> =>
  opened(directory, async ({ farewell }) => farewell?.take()?.toString() ?? null);

function flip(file: string, find: string): void {
  const data = fs.readFileSync(file);
  const at = data.indexOf(find) + find.length - 1;
  data[at] = (data[at] as number) ^ 1;
  fs.writeFileSync(file, data);
}

interface Left {
  readonly directory: string;
  readonly data: string;
  readonly farewell: string;
}

/** A disk that changes a byte by itself leaves the times of the file alone: so the seal is made to fit again. */
function rot({ data, farewell }: Left, find: string): void {
  flip(data, find);
  reseal({ data, farewell });
}

function reseal({ data, farewell }: Pick<Left, "data" | "farewell">): void {
  const [first = "", ...rest] = fs.readFileSync(farewell, "latin1").split("\n");
  const { seal, ...others } = JSON.parse(first);
  const sealed = { ...others, seal: sealOf(data, seal.storeId, seal.generation) };
  fs.writeFileSync(farewell, [JSON.stringify(sealed), ...rest].join("\n"), "latin1");
}

describe("a farewell", () => {
  test("is heard by whoever opens the store next, once, and is his alone to read", async () => {
    const { directory, farewell } = await left();
    expect(fs.statSync(farewell).mode & 0o777).toBe(0o600);
    const twice = await opened(directory, async (store) => [
      store.farewell?.take()?.toString(),
      store.farewell?.take() ?? null,
    ]);
    expect([...twice, fs.existsSync(farewell), await heard(directory)]).toEqual([SAID, null, false, null]);
  });

  test("is heard where the seal of the file is all that is new", async () => {
    const it = await left();
    fs.utimesSync(it.data, new Date(), new Date());
    reseal(it);
    expect(await heard(it.directory)).toBe(SAID);
  });

  test("that was not taken is gone all the same: somebody has had the store open", async () => {
    const { directory } = await left();
    await opened(directory, async () => undefined);
    expect(await heard(directory)).toBe(null);
  });

  const job = documentKey(JOBS[0] ?? "");
  const changes: readonly (readonly [string, Batch, string | null])[] = [
    ["a document", { documents: [{ key: job, text: "{}" }] }, null],
    ["a document that goes", { documents: [{ key: job, text: null }] }, null],
    ["a definition", { definitions: [{ identity: "job/0", definedAt: 1, text: "{}" }] }, null],
    ["a definition that goes", { removed: { definitions: [{ identity: "job/0", definedAt: 0 }] } }, null],
    ["a note and a mark of being alive", { meta: [{ key: "a", text: "b" }], alive: { bootedAt: 1, at: 2 } }, SAID],
  ];
  test.each(changes)("after it was said: %s", async (_name, batch, expected) => {
    const directory = newDirectory();
    await opened(directory, async (_, commit) => {
      await commit(filled);
      await commit(LEAVING);
      await commit(batch);
    });
    expect(await heard(directory)).toBe(expected);
  });

  test("is of no view of the store, and what a view writes ends it too", async () => {
    const directory = newDirectory();
    const term = must(acquireDirectoryLock(directory));
    const store = must(await openLmdbStore(term));
    store.farewell?.leave(term, WORDS);
    const view = store.inRange({ from: "00", to: null });
    expect([view.farewell, store.inRange({ from: "00", to: "80" }).farewell]).toEqual([undefined, undefined]);
    await view.commit(term, { documents: [{ key: job, text: "{}" }] });
    await store.close();
    term.release();
    expect(fs.existsSync(path.join(directory, FAREWELL))).toBe(false);
  });

  test("that was left is not handed out any more once a document has changed", async () => {
    const { directory } = await left();
    const late = await opened(directory, async (store, commit) => {
      await commit({ documents: [{ key: job, text: "{}" }] });
      return store.farewell?.take() ?? null;
    });
    expect(late).toBe(null);
  });

  test("a released term says none", async () => {
    const directory = newDirectory();
    const term = must(acquireDirectoryLock(directory));
    const store = must(await openLmdbStore(term));
    term.release();
    expect(() => store.farewell?.leave(term, WORDS)).toThrow("invariant broken");
    await store.close();
  });
});

describe("a farewell is not believed", () => {
  const reasons: readonly (readonly [string, (it: Left) => void])[] = [
    ["the store was written to", ({ data }) => fs.utimesSync(data, new Date(), new Date(1_900_000_000_000))],
    [
      "the store is a copy",
      ({ data }) => {
        const { atime, mtime } = fs.statSync(data);
        fs.copyFileSync(data, `${data}.copy`);
        fs.utimesSync(`${data}.copy`, atime, mtime);
        fs.chmodSync(`${data}.copy`, 0o600);
        fs.renameSync(`${data}.copy`, data);
      },
    ],
    ["a document was damaged", (it) => rot(it, `{"n":"job/123`)],
    ["a long document was damaged", (it) => rot(it, "yyyyyyyyyyyyyyyy")],
    ["a definition was damaged", (it) => rot(it, `{"of":"job/200`)],
    ["its words were damaged", ({ farewell }) => flip(farewell, SAID)],
    ["it is cut short", ({ farewell }) => fs.truncateSync(farewell, fs.statSync(farewell).size - 1)],
    ["it is longer than it was", ({ farewell }) => fs.appendFileSync(farewell, "!")],
    ["it is empty", ({ farewell }) => fs.truncateSync(farewell, 0)],
    ["it is no farewell", ({ farewell }) => fs.writeFileSync(farewell, "{}\n{}")],
    ["others may read it", ({ farewell }) => fs.chmodSync(farewell, 0o644)],
    [
      "it is a link",
      ({ farewell }) => {
        fs.renameSync(farewell, `${farewell}.away`);
        fs.symlinkSync(`${farewell}.away`, farewell);
      },
    ],
    [
      "it is a directory",
      ({ farewell }) => {
        fs.rmSync(farewell);
        fs.mkdirSync(farewell);
      },
    ],
  ];
  test.each(reasons)("%s: the store opens as ever", async (_name, spoil) => {
    const it = await left();
    spoil(it);
    expect(await heard(it.directory)).toBe(null);
    expect(await opened(it.directory, async (store) => (await store.counts()).documents)).toBe(JOBS.length);
  });

  test("of a store that was recovered since", async () => {
    const { directory } = await left();
    const term = must(acquireDirectoryLock(directory));
    const { store } = must(await openLmdbForRecovery(term, "later"));
    expect(store.farewell?.take() ?? null).toBe(null);
    await store.markLoading(term, false);
    await store.close();
    term.release();
    expect(await heard(directory)).toBe(null);
  });

  test("one that cannot be written is none, and the store is closed all the same", async () => {
    const directory = newDirectory();
    fs.mkdirSync(path.join(directory, `${FAREWELL}.new`));
    await opened(directory, async (_, commit) => {
      await commit(filled);
      await commit(LEAVING);
    });
    expect([await heard(directory), fs.existsSync(path.join(directory, FAREWELL))]).toEqual([null, false]);
  });
});
