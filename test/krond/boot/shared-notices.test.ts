/** What people are to be told goes with the jobs from one node to another. */
import { expect, test } from "vitest";
import type { Posted } from "../../../src/actors/messenger/notices.js";
import { SharedNotices } from "../../../src/krond/boot/shared-notices.js";
import type { Shard } from "../../../src/persist/cluster.js";
import type { Note } from "../../../src/persist/store.js";

const SHARDS: readonly Shard[] = [0, 1].map((number) => ({ pool: "any", number }));

function notice(identity: string, at: number): Note {
  const message = { id: `${identity}-${at}`, event: "failure", at: "2026-03-01T00:00:00Z", identity };
  return {
    key: `notice.${at}.${identity}`,
    text: JSON.stringify({ message, target: { kind: "command", argv: ["x"] } }),
  };
}

const NOTES: readonly Note[] = [
  notice("even-2", 2),
  notice("odd-1", 1),
  notice("even-1", 1),
  { key: "trouble.a", text: JSON.stringify({ identity: "even-1", kind: "failure", sinceAt: 1 }) },
  { key: "late.b", text: JSON.stringify({ identity: "odd-1", sinceAt: 1, lateMs: [1], told: [] }) },
  { key: "boot.note", text: JSON.stringify({ engine: "1" }) },
  { key: "notice.9.broken", text: "{" },
];

function place() {
  const [loaded, taken, left]: [string[], string[], string[]] = [[], [], []];
  const shared = new SharedNotices({
    member: { shardOf: async (identity) => SHARDS[identity.startsWith("even") ? 0 : 1] as Shard },
    store: { notes: async () => NOTES },
    notices: {
      load: (notes) => void loaded.push(...notes.map(({ key }) => key)),
      identities: () => ["even-1", "odd-1"],
      leave: (identities) => void left.push(...identities),
    },
    messenger: {
      take: (posted: readonly Posted[]) => void taken.push(...posted.map(({ key }) => key)),
      identities: () => ["even-2", "odd-1"],
      leave: (identities) => void left.push(...[...identities].map((identity) => `waiting ${identity}`)),
    },
  });
  return { shared, loaded, taken, left };
}

test("whoever takes a shard up brings what waits of its jobs, oldest first, and knows their troubles", async () => {
  const { shared, loaded, taken } = place();
  await shared.take(SHARDS.slice(0, 1));
  expect(taken).toEqual(["notice.1.even-1", "notice.2.even-2"]);
  expect(loaded).toContain("trouble.a");
  expect(loaded).not.toContain("late.b");
});

test("whoever gives it up brings nothing of them any more, and leaves them on record", async () => {
  const { shared, left } = place();
  await shared.leave(SHARDS.slice(0, 1));
  expect(left).toEqual(["even-1", "even-2", "waiting even-1", "waiting even-2"]);
});
