import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { lmdbStore, memoryStore, type TaskRecord, type TaskStore } from "../../src/scheduler/index.js";
import { accessTo } from "../../src/scheduler/record-access.js";
import { temporaryDirectories } from "../support/temporary.js";
import { MONDAY, plainStore, recordsOf, rigs, taskRecord } from "./support.js";

const temporary = temporaryDirectories();
const opened: TaskStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.release?.()));
});

function lmdb(directory = path.join(temporary(), "store")): TaskStore {
  const store = lmdbStore(directory);
  opened.push(store);
  return store;
}

/** How the store opens its file, which LMDB remembers in it. */
const AS_STORED = { encoding: "string", overlappingSync: false } as const;

const a = taskRecord({ name: "a", lastAttemptAt: 5, runningBy: "x" });
const b = taskRecord({ name: "b" });
const put = (store: TaskStore, ...records: TaskRecord[]): Promise<void> =>
  store.transact(() => ({ records, result: undefined }));

function sorted(records: readonly TaskRecord[]): readonly TaskRecord[] {
  return [...records].sort((one, other) => (one.name < other.name ? -1 : 1));
}

describe.each([
  ["memoryStore", () => memoryStore()],
  ["lmdbStore", () => lmdb()],
  ["a store of a user's own", () => plainStore()],
])("store contract: %s", (_, make) => {
  test("begins empty, and returns the result of the update", async () => {
    expect(await make().transact((records) => ({ result: records.length }))).toBe(0);
  });

  test("the records returned are the complete new set; without them nothing changes", async () => {
    const store = make();
    await put(store, a, b);
    expect(sorted(await recordsOf(store))).toEqual([a, b]);
    await store.transact(() => ({ result: 0 }));
    expect(await recordsOf(store)).toHaveLength(2);
    const changed = { ...b, lastSuccessAt: 9 };
    await put(store, changed);
    expect(await recordsOf(store)).toEqual([changed]);
    await put(store);
    expect(await recordsOf(store)).toEqual([]);
  });

  test("an update that throws rejects and changes nothing", async () => {
    const store = make();
    await put(store, a);
    const failing = store.transact(() => {
      throw new Error("second thoughts");
    });
    await expect(failing).rejects.toThrow("second thoughts");
    expect(await recordsOf(store)).toEqual([a]);
  });

  test("transactions are serialised: each sees what the one before it did", async () => {
    const store = make();
    await put(store, taskRecord({ name: "n", retryDelayMs: 0 }));
    const increments = Array.from({ length: 50 }, () =>
      store.transact((records) => {
        const [record] = records;
        if (record === undefined) throw new Error("the record is gone");
        return { records: [{ ...record, retryDelayMs: record.retryDelayMs + 1 }], result: record.retryDelayMs };
      }),
    );
    expect(await Promise.all(increments)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test("any text is a name", async () => {
    const store = make();
    const names = ["ü", "a/b\\c", "nul\0", "x".repeat(5000), "\ud800", "\ud801", "\ufffd", " ", "__proto__"];
    await put(store, ...names.map((name) => taskRecord({ name })));
    expect((await recordsOf(store)).map(({ name }) => name).sort()).toEqual([...names].sort());
  });

  test("what a caller does to its own objects afterwards changes nothing", async () => {
    const store = make();
    const mine = { ...a };
    await put(store, mine);
    mine.lastAttemptAt = 77;
    expect((await recordsOf(store))[0]?.lastAttemptAt).toBe(5);
  });

  test("single records: put, get, remove, and nothing when the update throws", async () => {
    const access = accessTo(make());
    const names = (): Promise<unknown[]> =>
      access.transact((view) => ({ result: [...view.all()].map(({ name }) => name).sort() }));
    await access.transact(() => ({ put: [a, b], result: 0 }));
    expect(await access.transact((view) => ({ result: [view.get("a"), view.get("c")] }))).toEqual([a, undefined]);
    await access.transact(() => ({ put: [{ ...b, lastFailureAt: 3 }], remove: ["a", "unknown"], result: 0 }));
    expect(await access.transact((view) => ({ result: view.get("b") }))).toMatchObject({ lastFailureAt: 3 });
    const failing = access.transact(() => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await names()).toEqual(["b"]);
  });
});

describe.each([
  ["memoryStore", () => memoryStore()],
  ["lmdbStore", () => lmdb()],
])("records by name: %s", (_, make) => {
  test("the revision grows with every change through either door, and with nothing else", async () => {
    const store = make();
    const { byName } = store;
    const seen: (number | undefined)[] = [];
    const note = (): unknown => seen.push(byName?.revision());
    note();
    await byName?.transact(() => ({ put: [a], result: 0 }));
    note();
    await byName?.transact(() => ({ put: [], remove: [], result: 0 }));
    await store.transact(() => ({ result: 0 }));
    note();
    await put(store, b);
    note();
    expect(seen).toEqual([0, 1, 1, 2]);
  });

  test("our own changes are not foreign, those of others are, once", async () => {
    const store = make();
    const access = accessTo(store);
    const isForeign = (): Promise<boolean> => access.transact((view) => ({ result: view.isForeign }));
    await access.transact(() => ({ put: [a], result: 0 }));
    expect([await isForeign(), access.isUndisturbed()]).toEqual([false, true]);
    await put(store, b);
    expect([access.isUndisturbed(), await isForeign(), await isForeign()]).toEqual([false, true, false]);
  });
});

describe("memoryStore", () => {
  test("may be given records", async () => {
    expect(await recordsOf(memoryStore([a]))).toEqual([a]);
  });
});

describe("lmdbStore", () => {
  test("touches nothing before the first transaction", async () => {
    const directory = path.join(temporary(), "store");
    const store = lmdb(directory);
    await store.release?.();
    expect(fs.existsSync(directory)).toBe(false);
  });

  test("is durable: another store on the directory reads what this one wrote", async () => {
    const directory = path.join(temporary(), "store");
    const first = lmdb(directory);
    await put(first, a, b);
    await first.release?.();
    expect(sorted(await recordsOf(lmdb(directory)))).toEqual([a, b]);
  });

  test("may be used again after its release", async () => {
    const store = lmdb();
    await put(store, a);
    await store.release?.();
    await store.release?.();
    expect(await recordsOf(store)).toEqual([a]);
  });

  test("belongs to one user: directory 0700, files 0600", async () => {
    const directory = path.join(temporary(), "deep", "store");
    await put(lmdb(directory), a);
    const modes = ["", "tasks.mdb", "tasks.mdb-lock"].map(
      (name) => fs.statSync(path.join(directory, name)).mode & 0o777,
    );
    expect(modes.map((mode) => mode.toString(8))).toEqual(["700", "600", "600"]);
  });

  test("refuses a link in place of its directory", async () => {
    const directory = temporary();
    fs.symlinkSync(directory, path.join(directory, "link"));
    await expect(recordsOf(lmdb(path.join(directory, "link")))).rejects.toMatchObject({ code: "state-permissions" });
  });

  test("refuses a store of a later format, and lets go of it", async () => {
    const directory = path.join(temporary(), "store");
    const { open } = await import("lmdb");
    await put(lmdb(directory), a);
    await opened.pop()?.release?.();
    const root = open({ path: path.join(directory, "tasks.mdb"), ...AS_STORED });
    await root.put("format", "2");
    await root.close();
    await expect(recordsOf(lmdb(directory))).rejects.toThrow("the task store has format 2, this program reads 1");
    const again = open({ path: path.join(directory, "tasks.mdb"), ...AS_STORED });
    await again.put("format", "1");
    await again.close();
    expect(await recordsOf(lmdb(directory))).toEqual([a]);
  });

  test("a document that is no JSON is handed on as text, under the name of its key, and survives the others' writes", async () => {
    const directory = path.join(temporary(), "store");
    const { open } = await import("lmdb");
    await put(lmdb(directory), a, b);
    await opened.pop()?.release?.();
    const root = open({ path: path.join(directory, "tasks.mdb"), ...AS_STORED });
    await root.openDB({ name: "tasks", encoding: "string", keyEncoding: "binary" }).put(Buffer.from("na"), "{broken");
    await root.close();
    const store = lmdb(directory);
    const found = await store.byName?.transact((view) => ({ result: [...view.all()] }));
    expect(found?.map(({ name, raw }) => [name, raw])).toEqual([
      ["a", "{broken"],
      ["b", b],
    ]);
    await store.transact((records) => ({ records: [...records, taskRecord({ name: "c" })], result: 0 }));
    expect(await recordsOf(store)).toEqual(["{broken", b, taskRecord({ name: "c" })]);
  });

  describe("a data file that is damaged is refused before it is mapped, and nothing of it is lost", () => {
    async function filled(): Promise<{ readonly directory: string; readonly file: string; readonly data: Buffer }> {
      const directory = path.join(temporary(), "store");
      await put(lmdb(directory), ...Array.from({ length: 500 }, (_, i) => taskRecord({ name: `task ${i}` })));
      await opened.pop()?.release?.();
      const file = path.join(directory, "tasks.mdb");
      return { directory, file, data: fs.readFileSync(file) };
    }

    test.each<[string, (data: Buffer) => Buffer]>([
      ["a text", () => Buffer.from("hello\n")],
      ["a hundred bytes", (data) => data.subarray(0, 100)],
      ["noise", (data) => Buffer.alloc(data.length, "noise")],
      ["first pages of zeros", (data) => data.fill(0, 0, 2 * 4096)],
      ["half of it", (data) => data.subarray(0, data.length / 2)],
      ["a page of zeros in the middle", (data) => data.fill(0, 5 * 4096, 6 * 4096)],
    ])("%s", async (_, spoil) => {
      const { directory, file, data } = await filled();
      const spoilt = spoil(Buffer.from(data));
      fs.writeFileSync(file, spoilt);
      await expect(recordsOf(lmdb(directory))).rejects.toMatchObject({
        code: "state-damaged",
        message: expect.stringMatching(/tasks\.mdb is damaged: .*; put a copy in its place, or move it away/),
      });
      expect(fs.readFileSync(file).equals(spoilt)).toBe(true);
      fs.writeFileSync(file, data);
      expect(await recordsOf(lmdb(directory))).toHaveLength(500);
    });

    test("an empty file is a new store", async () => {
      const { directory, file } = await filled();
      fs.truncateSync(file, 0);
      expect(await recordsOf(lmdb(directory))).toEqual([]);
    });

    test("one that lives is found sound, whatever came, grew and went", async () => {
      const directory = path.join(temporary(), "store");
      for (let round = 0; round < 12; round++) {
        const store = lmdb(directory);
        const known = await recordsOf(store);
        const fresh = Array.from({ length: 60 }, (_, i) => taskRecord({ name: `${"n".repeat(i * 40)} ${round}` }));
        await put(store, ...known.filter((_, i) => i % 3 !== 0), ...fresh);
        await opened.pop()?.release?.();
      }
      expect((await recordsOf(lmdb(directory))).length).toBeGreaterThan(60);
    });
  });

  test.each(["removed", "replaced"])(
    "a data file that is %s while in use: writes are refused, not lost",
    async (how) => {
      const directory = path.join(temporary(), "store");
      const store = lmdb(directory);
      await put(store, a);
      const file = path.join(directory, "tasks.mdb");
      const copy = fs.readFileSync(file);
      fs.rmSync(directory, { recursive: true });
      if (how === "replaced") {
        fs.mkdirSync(directory, { mode: 0o700 });
        fs.writeFileSync(file, copy, { mode: 0o600 });
      }
      await expect(put(store, b)).rejects.toMatchObject({
        code: "state-missing",
        message: expect.stringMatching(/tasks\.mdb was removed or replaced while in use/),
      });
      await store.release?.();
      await put(store, b);
      expect(await recordsOf(store)).toEqual([b]);
    },
  );

  test.each(["", undefined, 5])("refuses a directory without a name: %j", (directory) => {
    expect(() => lmdbStore(directory as string)).toThrow(new TypeError("directory must be a non-empty path"));
  });

  describe("and schedulers", () => {
    const rig = rigs();

    test("a second scheduler on the directory is refused as a store failure, until the first has stopped", async () => {
      const directory = path.join(temporary(), "store");
      const first = rig(MONDAY, { store: lmdb(directory) });
      const second = rig(MONDAY, { store: lmdb(directory) });
      await first.scheduler.initialize([]);
      await expect(second.scheduler.initialize([])).rejects.toMatchObject({
        name: "TaskStoreError",
        code: "task-store-failed",
        message: expect.stringContaining(`this process already holds ${directory}: stop the scheduler that does`),
        details: { operation: "reconcile", cause: { code: "lock-held" } },
      });
      await first.scheduler.stop();
      await second.scheduler.initialize([]);
    });

    test("is the default, in the directory given", async () => {
      const directory = path.join(temporary(), "mine");
      const { createScheduler } = await import("../../src/scheduler/index.js");
      const scheduler = createScheduler({ directory });
      await scheduler.initialize([["a", "0 0 30 2 *", async () => {}, 0]]);
      await scheduler.stop();
      expect((await recordsOf(lmdb(directory))).map(({ name }) => name)).toEqual(["a"]);
    });

    test("runs a task and remembers it", async () => {
      const directory = path.join(temporary(), "store");
      const first = rig(MONDAY, { store: lmdb(directory) });
      await new Promise<void>((started) => {
        void first.scheduler.initialize([["a", "* * * * *", async () => started(), 0]]);
      });
      await first.scheduler.stop();
      expect((await recordsOf(lmdb(directory)))[0]).toMatchObject({ lastAttemptAt: MONDAY, lastSuccessAt: MONDAY });
    });
  });
});
