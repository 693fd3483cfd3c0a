import { describe, expect, test } from "vitest";
import { documentKey } from "../../src/persist/keys.js";
import { acquireMemoryLock } from "../../src/persist/lock.js";
import { type CommitFault, MemoryDisk } from "../../src/persist/memory/disk.js";
import { openMemoryStore } from "../../src/persist/memory/store.js";
import { must } from "./store-contract.js";

const write = (text: string) => ({ documents: [{ key: documentKey("a"), text }] });

describe("R2, R3: the faults of a simulated disk", () => {
  const fatal = { code: "state-write-failed", category: "PersistenceError", isFatal: true };
  const rows: readonly { name: string; fault: CommitFault; first: unknown; later: unknown; found: string }[] = [
    {
      name: "a failed write",
      fault: { kind: "fail", errno: "ENOSPC", isDurable: false },
      first: fatal,
      later: fatal,
      found: "0",
    },
    {
      name: "a failed sync",
      fault: { kind: "fail", errno: "EIO", isDurable: true },
      first: fatal,
      later: fatal,
      found: "1",
    },
    { name: "a crash before", fault: { kind: "crash", isDurable: false }, first: "pending", later: "dead", found: "0" },
    { name: "a crash after", fault: { kind: "crash", isDurable: true }, first: "pending", later: "dead", found: "1" },
  ];
  for (const row of rows) {
    test(`${row.name}: the next start finds ${row.found}`, async () => {
      const disk = new MemoryDisk();
      const term = must(acquireMemoryLock(disk));
      const store = must(openMemoryStore(term, disk));
      await store.commit(term, write("0"));
      const crashed = new Promise<string>((resolve) => {
        disk.onCrash = () => resolve("pending");
      });
      disk.faults = (commit) => (commit === 2 ? row.fault : null);
      const first = await Promise.race([store.commit(term, write("1")).catch((error: unknown) => error), crashed]);
      const later = await attempt(() => store.commit(term, write("2")));
      expect([first, later]).toMatchObject([row.first, row.later]);
      term.release();
      const next = must(openMemoryStore(must(acquireMemoryLock(disk)), disk));
      expect((await next.get("a"))?.text).toBe(row.found);
    });
  }

  /** A dead store is used by nobody: that would be a bug of the simulation. */
  async function attempt(commit: () => Promise<unknown>): Promise<unknown> {
    try {
      return await commit();
    } catch (error) {
      return error instanceof Error && error.message.includes("closed store") ? "dead" : error;
    }
  }
});

test("a flipped bit is flagged, and the text is told as it is", async () => {
  const disk = new MemoryDisk();
  disk.damage(documentKey("a"), "flipped");
  const store = must(openMemoryStore(must(acquireMemoryLock(disk)), disk));
  expect(await store.get("a")).toEqual({ key: documentKey("a"), text: "flipped", isIntact: false });
});
