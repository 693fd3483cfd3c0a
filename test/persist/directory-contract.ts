/** What every store that lives in a directory promises about the directory: privacy, and noticing what was done to it. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { documentKey } from "../../src/persist/keys.js";
import { acquireDirectoryLock, type LockTerm } from "../../src/persist/lock.js";
import { MARKER_FILE } from "../../src/persist/marker.js";
import type { OpenedStore } from "../../src/persist/store.js";
import { FAST_PARENT, temporaryDirectories } from "../support/temporary.js";
import { must } from "./store-contract.js";

export interface DirectoryBackend {
  readonly name: string;
  readonly open: (term: LockTerm) => Promise<OpenedStore>;
  /** The file without which the store is gone. */
  readonly dataFile: string;
  /** All files of a store with one document and one ledger record, relative to its directory. */
  readonly files: readonly string[];
}

const isRoot = process.geteuid?.() === 0;

export function describeDirectoryContract(backend: DirectoryBackend): void {
  const newDirectory = temporaryDirectories(FAST_PARENT);

  async function use(directory: string, value: string): Promise<void> {
    const term = must(acquireDirectoryLock(directory));
    const store = must(await backend.open(term));
    await store.commit(term, {
      documents: [{ key: documentKey("a"), text: value }],
      ledger: [{ identity: "a", at: 1, kind: "period", text: value }],
    });
    await store.close();
    term.release();
  }

  async function usedDirectory(): Promise<string> {
    const directory = newDirectory();
    await use(directory, "1");
    return directory;
  }

  /** The document, or the code of the refusal. */
  async function opening(directory: string): Promise<string> {
    const term = must(acquireDirectoryLock(directory));
    const opened = await backend.open(term);
    const found = opened.ok ? (await opened.value.get("a"))?.text : opened.error.code;
    if (opened.ok) await opened.value.close();
    term.release();
    return found ?? "empty";
  }

  function listing(directory: string): string[] {
    return fs
      .readdirSync(directory, { withFileTypes: true, recursive: true })
      .map((it) => path.relative(directory, path.join(it.parentPath, it.name)))
      .sort();
  }

  describe(`directory contract: ${backend.name}`, () => {
    test("STATE, permissions: files are 0600 and directories 0700, whatever the umask", async () => {
      const before = process.umask(0);
      try {
        const directory = await usedDirectory();
        const modes = listing(directory).map((name) => {
          const stat = fs.lstatSync(path.join(directory, name));
          return `${name} ${(stat.mode & 0o7777).toString(8)}`;
        });
        const expected = listing(directory).map((name) => {
          return `${name} ${fs.lstatSync(path.join(directory, name)).isDirectory() ? "700" : "600"}`;
        });
        expect(modes).toEqual(expected);
        expect(listing(directory)).toEqual(expect.arrayContaining([...backend.files, MARKER_FILE]));
      } finally {
        process.umask(before);
      }
    });

    const tampering: readonly { name: string; tamper: (file: string) => void }[] = [
      { name: "readable for others", tamper: (file) => fs.chmodSync(file, 0o644) },
      { name: "writable for the group", tamper: (file) => fs.chmodSync(file, 0o660) },
      { name: "a symbolic link", tamper: (file) => link(file) },
      { name: "a dangling symbolic link", tamper: (file) => dangle(file) },
      { name: "hard-linked elsewhere", tamper: (file) => fs.linkSync(file, `${file}.second`) },
      { name: "a directory", tamper: (file) => replaceByDirectory(file) },
    ];
    for (const name of [...backend.files, MARKER_FILE]) {
      for (const row of tampering) {
        test(`S31: ${name.slice(0, 20)} is refused when it is ${row.name}`, async () => {
          const directory = await usedDirectory();
          row.tamper(path.join(directory, name));
          expect(await opening(directory)).toBe("state-permissions");
        });
      }

      test.skipIf(!isRoot)(`S31: ${name.slice(0, 20)} of another user is refused (needs root)`, async () => {
        const directory = await usedDirectory();
        fs.chownSync(path.join(directory, name), 65_534, 65_534);
        expect(await opening(directory)).toBe("state-permissions");
      });
    }

    const losses: readonly { name: string; lose: (directory: string) => void | Promise<void>; expected: string }[] = [
      { name: "nothing", lose: () => undefined, expected: "1" },
      { name: "the data is lost", lose: (it) => fs.rmSync(data(it)), expected: "state-missing" },
      { name: "the marker is lost", lose: (it) => fs.rmSync(marker(it)), expected: "1" },
      { name: "everything is lost", lose: (it) => clear(it), expected: "empty" },
      { name: "the marker is emptied", lose: (it) => fs.truncateSync(marker(it)), expected: "state-damaged" },
      { name: "the marker is no JSON", lose: (it) => fs.writeFileSync(marker(it), "{"), expected: "state-damaged" },
      {
        name: "the marker lacks its fields",
        lose: (it) => fs.writeFileSync(marker(it), "{}"),
        expected: "state-damaged",
      },
      {
        name: "the data is noise",
        lose: (it) => fs.writeFileSync(data(it), "x".repeat(9000)),
        expected: "state-damaged",
      },
      { name: "the data is from before the last start", lose: (it) => putBack(it), expected: "state-rewound" },
      { name: "the data is of another store", lose: (it) => exchange(it), expected: "state-rewound" },
      { name: "the marker is of the other backend", lose: (it) => otherBackend(it), expected: "state-incompatible" },
    ];
    for (const row of losses) {
      test(`S32, R7: ${row.name}: ${row.expected}`, async () => {
        const directory = await usedDirectory();
        await row.lose(directory);
        expect(await opening(directory)).toBe(row.expected);
      });
    }

    test("S32: a refusal changes nothing, however often it is tried", async () => {
      const directory = await usedDirectory();
      fs.rmSync(data(directory));
      const before = listing(directory);
      const refusals = [await opening(directory), await opening(directory), await opening(directory)];
      expect([refusals, listing(directory)]).toEqual([refusals.map(() => "state-missing"), before]);
    });

    test("a crash between the store's stamp and its marker is no rewind", async () => {
      const directory = await usedDirectory();
      const before = fs.readFileSync(marker(directory));
      await use(directory, "2");
      fs.writeFileSync(marker(directory), before);
      expect(await opening(directory)).toBe("2");
    });

    function data(directory: string): string {
      return path.join(directory, backend.dataFile);
    }
    function marker(directory: string): string {
      return path.join(directory, MARKER_FILE);
    }
    function clear(directory: string): void {
      for (const name of fs.readdirSync(directory)) fs.rmSync(path.join(directory, name), { recursive: true });
    }
    async function putBack(directory: string): Promise<void> {
      const before = fs.readFileSync(data(directory));
      await use(directory, "2");
      fs.writeFileSync(data(directory), before);
    }
    async function exchange(directory: string): Promise<void> {
      fs.writeFileSync(data(directory), fs.readFileSync(data(await usedDirectory())));
    }
    function otherBackend(directory: string): void {
      const text = fs.readFileSync(marker(directory), "utf8");
      const flipped = text.includes('"lmdb"') ? text.replace('"lmdb"', '"files"') : text.replace('"files"', '"lmdb"');
      fs.writeFileSync(marker(directory), flipped);
    }
  });

  function link(file: string): void {
    fs.renameSync(file, `${file}.real`);
    fs.symlinkSync(`${file}.real`, file);
  }
  function dangle(file: string): void {
    fs.rmSync(file);
    fs.symlinkSync("/nonexistent/file", file);
  }
  function replaceByDirectory(file: string): void {
    fs.rmSync(file);
    fs.mkdirSync(file, { mode: 0o700 });
  }
}
