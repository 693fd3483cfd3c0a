/**
 * R7: a data file that was truncated, emptied, flipped, swapped or put back. The process that opens it never crashes,
 * and it never believes a document that is not the one that was written last: it refuses the store, or flags the entry.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { BACKENDS } from "../../src/persist/backends.js";
import { copiesIn } from "../../src/persist/corrupt-copies.js";
import { documentKey } from "../../src/persist/keys.js";
import { INTACT_TESTS } from "../../src/persist/lmdb/entries.js";
import { DATA_FILE, DATABASE_NAMES } from "../../src/persist/lmdb/environment.js";
import { openLmdbStore } from "../../src/persist/lmdb/open.js";
import { checkPages } from "../../src/persist/lmdb/pages.js";
import { acquireDirectoryLock } from "../../src/persist/lock.js";
import { recoverStore } from "../../src/persist/recover.js";
import type { StateStore } from "../../src/persist/store.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

const newDirectory = temporaryDirectories(FAST_PARENT);
const isLong = process.env["KRON_TEST_LONG"] === "1";
const CASES = isLong ? 1_000 : 8;
const PAGE = 4096;
const JOBS = 60;
const LIVES = 4;

/** A repeatable source of numbers below `limit`. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const textOf = (job: number, life: number) => JSON.stringify({ job, life, filler: "x".repeat(300 + 40 * job) });
const LEDGER = JOBS * LIVES;

/** Every document and record is written anew in every life; the last one is what counts. */
async function filledDirectory(): Promise<string> {
  const directory = newDirectory();
  const term = must(acquireDirectoryLock(directory));
  const store = must(await openLmdbStore(term));
  for (let life = 1; life <= LIVES; life += 1) {
    const jobs = Array.from({ length: JOBS }, (_, job) => job);
    await store.commit(term, {
      documents: jobs.map((job) => ({ key: documentKey(`job/${job}`), text: textOf(job, life) })),
      ledger: jobs.map((job) => ({ identity: `job/${job}`, at: life, kind: "outcome", text: `${job} ${life}` })),
    });
  }
  await store.close();
  term.release();
  return directory;
}

interface Telling {
  readonly right: number;
  readonly flagged: number;
  readonly wrong: number;
}

async function tellDocuments(store: StateStore): Promise<Telling> {
  const expected = new Map<string, string>(
    Array.from({ length: JOBS }, (_, job) => [documentKey(`job/${job}`), textOf(job, LIVES)]),
  );
  const told = { right: 0, flagged: 0, wrong: 0 };
  for await (const page of store.documents()) {
    for (const entry of page) {
      if (!entry.isIntact) told.flagged += 1;
      else if (expected.get(entry.key) === entry.text) told.right += 1;
      else told.wrong += 1;
    }
  }
  return told;
}

async function tellLedger(store: StateStore): Promise<Telling> {
  const told = { right: 0, flagged: 0, wrong: 0 };
  for (const it of (await store.ledgerScan(null, 9_999)).records) {
    if (!it.isIntact) told.flagged += 1;
    else if (it.text === `${it.identity.slice("job/".length)} ${it.at}`) told.right += 1;
    else told.wrong += 1;
  }
  return told;
}

/** Reads all of it, then writes all of it: a refusal's code, or what was told. */
async function outcome(directory: string): Promise<string | { documents: Telling; ledger: Telling }> {
  const term = must(acquireDirectoryLock(directory));
  try {
    const opened = await openLmdbStore(term);
    if (!opened.ok) return opened.error.code;
    const told = { documents: await tellDocuments(opened.value), ledger: await tellLedger(opened.value) };
    const documents = Array.from({ length: JOBS }, (_, job) => ({ key: documentKey(`job/${job}`), text: "later" }));
    await opened.value.commit(term, { documents });
    await opened.value.close();
    return told;
  } finally {
    term.release();
  }
}

const damages: readonly { name: string; damage: (data: Buffer, random: (limit: number) => number) => Buffer }[] = [
  { name: "a bit flips anywhere", damage: (data, random) => flip(data, random(data.length), random(8)) },
  {
    name: "a bit flips in the header of a page",
    damage: (data, random) => flip(data, random(data.length / PAGE) * PAGE + random(48), random(8)),
  },
  {
    name: "a bit flips in a snapshot",
    damage: (data, random) => flip(data, random(2) * PAGE + random(184), random(8)),
  },
  {
    name: "two pages change places",
    damage: (data, random) => swap(data, 2 + random(data.length / PAGE - 2), 2 + random(data.length / PAGE - 2)),
  },
  {
    name: "a page is emptied",
    damage: (data, random) => {
      const page = 2 + random(data.length / PAGE - 2);
      return Buffer.from(data).fill(0, page * PAGE, (page + 1) * PAGE);
    },
  },
  { name: "the file is cut off", damage: (data, random) => data.subarray(0, 1 + random(data.length - 1)) },
];

function flip(data: Buffer, at: number, bit: number): Buffer {
  const damaged = Buffer.from(data);
  damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
  return damaged;
}

function swap(data: Buffer, left: number, right: number): Buffer {
  const damaged = Buffer.from(data);
  data.copy(damaged, left * PAGE, right * PAGE, (right + 1) * PAGE);
  data.copy(damaged, right * PAGE, left * PAGE, (left + 1) * PAGE);
  return damaged;
}

const tally = { cases: 0, refused: 0, flagged: 0, harmless: 0 };
afterAll(() => console.info(`R7: ${JSON.stringify(tally)}`));

describe("R7: nothing that was not written last is believed, and nobody crashes", () => {
  for (const [index, { name, damage }] of damages.entries()) {
    test(`${name}, ${CASES} times`, async () => {
      const directory = await filledDirectory();
      const file = path.join(directory, DATA_FILE);
      const data = fs.readFileSync(file);
      const marker = fs.readFileSync(path.join(directory, "kron-store.json"));
      const random = numbers(index + 1);
      for (let round = 0; round < CASES; round += 1) {
        fs.writeFileSync(file, damage(data, random));
        fs.writeFileSync(path.join(directory, "kron-store.json"), marker);
        const found = await outcome(directory);
        tally.cases += 1;
        if (typeof found === "string") {
          expect(["state-damaged", "state-missing", "state-rewound", "state-incompatible"]).toContain(found);
          tally.refused += 1;
          continue;
        }
        const { documents, ledger } = found;
        expect([documents.wrong, documents.right + documents.flagged], `round ${round}`).toEqual([0, JOBS]);
        expect([ledger.wrong, ledger.right + ledger.flagged], `round ${round}`).toEqual([0, LEDGER]);
        tally[documents.flagged + ledger.flagged > 0 ? "flagged" : "harmless"] += 1;
      }
    });
  }
});

test("R7: a damaged document is copied and fenced by a recovery, and taken away when nobody knows whose it was", async () => {
  const directory = await filledDirectory();
  const file = path.join(directory, DATA_FILE);
  const data = fs.readFileSync(file);
  for (const job of [3, 4]) {
    // Copies of the page may lie about in the file; only one of them is in use.
    const text = `"job":${job},"life":${LIVES}`;
    for (let at = data.indexOf(text); at >= 0; at = data.indexOf(text, at + 1)) data.write("X", at + 1);
  }
  fs.writeFileSync(file, data);
  const term = must(acquireDirectoryLock(directory));
  const report = must(
    await recoverStore(term, BACKENDS.lmdb, {
      now: Date.UTC(2026, 2, 1),
      identities: ["job/3"],
      copies: copiesIn(directory),
      fence: ({ identity, text }) => (identity === undefined ? null : { text: `fenced, was ${text}`, ledger: [] }),
    }),
  );
  const store = must(await openLmdbStore(term));
  const found = [(await store.get("job/3"))?.text, await store.get("job/4"), (await store.counts()).documents];
  await store.close();
  term.release();
  expect(report).toMatchObject({ found: JOBS, fenced: 1, movedAside: [] });
  expect(report.copies.length).toBe(2);
  expect(found).toEqual(["fenced, was undefined", undefined, JOBS - 1]);
});

describe("what only the check of the pages finds", () => {
  interface File {
    readonly data: Buffer;
    /** Offsets of the two snapshots, the last one first. */
    readonly metas: readonly [number, number];
  }

  const TXN = 24 + 128;
  const FREE_ROOT = 24 + 24 + 40;
  const MAIN_ROOT = FREE_ROOT + 48;
  const u64 = (data: Buffer, offset: number) => Number(data.readBigUInt64LE(offset));

  function read(file: string): File {
    const data = fs.readFileSync(file);
    return { data, metas: u64(data, TXN) > u64(data, PAGE + TXN) ? [0, PAGE] : [PAGE, 0] };
  }

  /** The newest page of a kind: older ones may be free by now. */
  function pageWith({ data }: File, flags: number): number {
    const pages = Array.from({ length: data.length / PAGE - 2 }, (_, index) => (index + 2) * PAGE);
    const ofKind = pages.filter((at) => data.readUInt16LE(at + 18) === flags && u64(data, at) === at / PAGE);
    return Math.max(0, ...ofKind.sort((left, right) => u64(data, left + 8) - u64(data, right + 8)).slice(-1));
  }

  const rows: readonly { name: string; spoil: (file: File) => void; message: RegExp }[] = [
    {
      name: "the last snapshot claims to be older than the one before it: the last commit would be forgotten",
      spoil: ({ data, metas }) => data.writeBigUInt64LE(BigInt(u64(data, metas[0] + TXN) - 2), metas[0] + TXN),
      message: /is really a newer one/,
    },
    {
      name: "the snapshots do not follow each other",
      spoil: ({ data, metas }) => data.writeBigUInt64LE(BigInt(u64(data, metas[0] + TXN) - 4), metas[0] + TXN),
      message: /do not follow each other/,
    },
    {
      name: "a branch hides documents that exist",
      spoil: (file) => {
        const at = pageWith(file, 1);
        const second = at + 24 + file.data.readUInt16LE(at + 26);
        file.data[second + 8] = 0xff;
      },
      message: /out of order|wrong page/,
    },
    {
      name: "a page that is in use counts as free: the next commit would overwrite it",
      spoil: ({ data, metas }) => {
        const list = u64(data, metas[0] + FREE_ROOT) * PAGE;
        const node = list + 24 + data.readUInt16LE(list + 24);
        const entries = node + 8 + data.readUInt16LE(node + 6);
        data.writeBigUInt64LE(1n, entries);
        data.writeBigUInt64LE(BigInt(u64(data, metas[0] + MAIN_ROOT)), entries + 8);
      },
      message: /is free and in use/,
    },
    {
      name: "a database got another name, and would be missed and created anew",
      spoil: ({ data, metas }) => {
        const at = data.indexOf("documents\0", u64(data, metas[0] + MAIN_ROOT) * PAGE);
        data.write("documents!", at);
      },
      message: /no database "documents!"/,
    },
    {
      name: "a database got the flags of another kind, which ends the process that opens it",
      spoil: ({ data, metas }) => {
        const at = data.indexOf("documents\0", u64(data, metas[0] + MAIN_ROOT) * PAGE) + "documents\0".length;
        data.writeUInt16LE(0x104, at + 4);
      },
      message: /has flags 260/,
    },
    {
      name: "the free space of a page reaches beyond it",
      spoil: (file) => file.data.writeUInt16LE(PAGE, pageWith(file, 2) + 22),
      message: /bounds/,
    },
  ];
  for (const row of rows) {
    test(row.name, async () => {
      const directory = await filledDirectory();
      const file = path.join(directory, DATA_FILE);
      const found = read(file);
      row.spoil(found);
      fs.writeFileSync(file, found.data);
      const checked = await checkPages(file, DATABASE_NAMES);
      expect(checked.ok ? "nothing wrong" : checked.error).toMatch(row.message);
      expect(await outcome(directory)).toBe("state-damaged");
    });
  }
});

describe("the check of the pages", () => {
  test("never throws and never hangs, whatever the bytes", async () => {
    const directory = await filledDirectory();
    const file = path.join(directory, DATA_FILE);
    const data = fs.readFileSync(file);
    const random = numbers(99);
    let found = 0;
    for (let round = 0; round < 30 * CASES; round += 1) {
      const { damage } = damages[round % damages.length] ?? { damage: (it: Buffer) => it };
      fs.writeFileSync(file, damage(damage(data, random), random));
      if (!(await checkPages(file, DATABASE_NAMES)).ok) found += 1;
    }
    expect(found).toBeGreaterThan(10 * CASES);
  });

  test("finds nothing wrong with a store that lives: documents of all sizes that come, grow, shrink and go", async () => {
    const directory = newDirectory();
    const random = numbers(7);
    const term = must(acquireDirectoryLock(directory));
    const store = must(await openLmdbStore(term));
    for (let round = 0; round < (isLong ? 2_000 : 60); round += 1) {
      const many = random(3) === 0 ? random(1_000) : random(20);
      const some = (n: number) => Array.from({ length: n }, () => `job/${random(2_000)}`);
      await store.commit(term, {
        documents: some(many).map((it) => ({
          key: documentKey(it),
          text: random(4) === 0 ? null : "x".repeat(random(10) === 0 ? random(20_000) : random(800)),
        })),
        ledger: some(random(100)).map((identity) => ({
          identity,
          at: random(9),
          kind: "x",
          text: "y".repeat(random(900)),
        })),
        removed: { ledger: some(random(300)).map((identity) => ({ identity, at: random(9), kind: "x" })) },
      });
      const checked = await checkPages(path.join(directory, DATA_FILE), DATABASE_NAMES, { tests: INTACT_TESTS });
      expect(checked, `round ${round}`).toEqual({ ok: true, value: { areIntact: true } });
    }
    await store.close();
    term.release();
  });
});
