import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  documentKey,
  identityPrefix,
  instantOfKey,
  kindOfKey,
  readDocumentKey,
  recordKey,
  splitIdentity,
} from "../../src/persist/keys.js";

describe("S30: the name of a document", () => {
  test("is hex(sha256(identity)) and .json, and nothing of the identity", () => {
    const digest = createHash("sha256").update("prod/db-backup", "utf8").digest("hex");
    expect(documentKey("prod/db-backup")).toBe(`${digest}.json`);
  });

  const names: readonly { name: string; isKey: boolean }[] = [
    { name: `${"0af9".repeat(16)}.json`, isKey: true },
    { name: `${"0AF9".repeat(16)}.json`, isKey: false },
    { name: `${"0af9".repeat(15)}.json`, isKey: false },
    { name: `${"0af9".repeat(16)}.json.corrupt.20260301T000000Z`, isKey: false },
    { name: `${"0af9".repeat(16)}.json.new`, isKey: false },
    { name: "kron-store.json", isKey: false },
    { name: "../x.json", isKey: false },
  ];
  for (const { name, isKey } of names) {
    test(`${name} is ${isKey ? "a" : "no"} document`, () => expect(readDocumentKey(name) !== null).toBe(isKey));
  }
});

describe("S36: the key of a ledger record", () => {
  const instants = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
  const kinds = fc.constantFrom("outcome", "run_started", "slot:manual", "a");
  const identities = fc.string({ minLength: 1, maxLength: 40 });

  test("property: tells instant and kind again", () => {
    fc.assert(
      fc.property(identities, instants, kinds, (identity, at, kind) => {
        const key = recordKey(identity, at, kind);
        expect([instantOfKey(key), kindOfKey(key)]).toEqual([at, kind]);
      }),
      { seed: 7 },
    );
  });

  test("property: within one identity keys sort by instant, then by kind", () => {
    fc.assert(
      fc.property(instants, kinds, instants, kinds, (at, kind, otherAt, otherKind) => {
        const byKey = Math.sign(recordKey("a", at, kind).compare(recordKey("a", otherAt, otherKind)));
        const byKind = kind === otherKind ? 0 : kind < otherKind ? -1 : 1;
        expect(byKey).toBe(at === otherAt ? byKind : Math.sign(at - otherAt));
      }),
      { seed: 7 },
    );
  });

  test("begins with the first bytes of the identity's hash, as the name of its document does", () => {
    const digits = documentKey("äöü").slice(0, 32);
    expect([identityPrefix("äöü").toString("hex"), recordKey("äöü", 0, "a").toString("hex", 0, 16)]).toEqual([
      digits,
      digits,
    ]);
  });
});

test("a record's text may hold line breaks, its identity may not", () => {
  expect(splitIdentity("a/b\nfirst\nsecond")).toEqual({ identity: "a/b", text: "first\nsecond" });
  expect(splitIdentity("a/b")).toEqual({ identity: "a/b", text: null });
});
