/** Names and handles of all jobs, against a plain map. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdentityIndex } from "../../../../src/actors/supervisor/rows/identity-index.js";
import { JobRows } from "../../../../src/actors/supervisor/rows/job-rows.js";
import { Listing } from "../../../../src/actors/supervisor/rows/listing.js";
import { sortInTurns } from "../../../../src/actors/turns.js";

const SEED = 20261118;

function filled(identities: readonly string[]): IdentityIndex {
  const names = new IdentityIndex();
  for (const identity of identities) names.add(identity);
  return names;
}

describe("identity index", () => {
  const identity = fc.oneof(
    fc.constantFrom("a", "b", "a/b", "prod/db", "ä", "😀", "x".repeat(600)),
    fc.string({ minLength: 1, unit: "binary" }),
    fc.nat(200).map((n) => `job-${n}`),
  );
  const act = fc.record({ what: fc.constantFrom("add", "remove"), identity });

  test("any sequence of additions and removals: as a map does", () => {
    const property = fc.property(fc.array(act, { maxLength: 300 }), (acts) => {
      const names = new IdentityIndex();
      const expected = new Map<string, number>();
      for (const { what, identity: raw } of acts) {
        const name = Buffer.from(raw).toString();
        if (what === "add") {
          const handle = names.add(name);
          if (!expected.has(name)) expect([...expected.values()]).not.toContain(handle);
          else expect(handle).toBe(expected.get(name));
          expected.set(name, handle);
        } else {
          const handle = names.handleOf(name);
          expect(handle).toBe(expected.get(name) ?? null);
          if (handle !== null) names.remove(handle);
          expected.delete(name);
        }
      }
      expect(names.size).toBe(expected.size);
      for (const [name, handle] of expected) {
        expect([names.handleOf(name), names.identityOf(handle), names.has(handle)]).toEqual([handle, name, true]);
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 300 });
  });

  test("handles are dense, and those of removed jobs are used again", () => {
    const names = filled(["a", "b", "c"]);
    names.remove(1);
    expect([names.add("d"), names.add("e"), names.handleEnd]).toEqual([1, 3, 4]);
  });

  test("what is gone gives its room back: a set that is replaced over and over does not grow", () => {
    const names = new IdentityIndex();
    for (let n = 0; n < 1_000; n++) names.add(`first/${n}`);
    const before = names.byteLength;
    for (let round = 0; round < 50; round++) {
      for (let handle = 0; handle < 1_000; handle++) names.remove(handle);
      for (let n = 0; n < 1_000; n++) names.add(`other/${round}/${n}`);
    }
    expect(names.size).toBe(1_000);
    expect(names.byteLength).toBeLessThan(before * 2);
  });

  test("P4: what is reserved is not grown again, and holds the same", () => {
    const identities = Array.from({ length: 5_000 }, (_, n) => `tenant-${n % 7}/${n}`);
    const [names, grown] = [new IdentityIndex(), filled(identities)];
    names.reserve(identities.length);
    const reserved = names.byteLength;
    const letters = Buffer.byteLength(identities.join(""));
    const handles = identities.map((identity) => names.add(identity));
    expect(names.byteLength - reserved).toBeLessThan(letters * 1.5);
    names.reserve(10);
    expect(handles.map((handle) => names.identityOf(handle))).toEqual(identities);
    expect(identities.map((identity) => grown.handleOf(identity))).toEqual(handles);
  });

  test("P3: a name and its row take less than a hundred bytes beside the letters", () => {
    const rows = new JobRows();
    rows.reserve(100_000);
    let letters = 0;
    for (let n = 0; n < 100_000; n++) {
      const name = `tenant-${n % 100}/job-${n}`;
      letters += name.length;
      rows.add(name);
    }
    expect((rows.byteLength - letters) / 100_000).toBeLessThan(100);
  });
});

describe("listing", () => {
  const many = Array.from({ length: 10_000 }, (_, n) => `job-${(n * 7_919) % 10_000}`);

  test("pages of any size, one after the other, are all jobs in the order of their names", async () => {
    const names = filled(many);
    const listing = new Listing(names);
    for (const limit of [1_000, 3_333, 20_000]) {
      const listed: string[] = [];
      let page = await listing.page({ limit });
      while (page.length > 0) {
        listed.push(...page.map((handle) => names.identityOf(handle)));
        page = await listing.page({ limit, afterIdentity: listed.at(-1) ?? "" });
      }
      expect(listed).toEqual([...many].sort());
    }
  });

  test("a cursor that is gone, jobs that come and go in between, and jobs by name", async () => {
    const names = filled(["a", "c", "e"]);
    const listing = new Listing(names);
    const listed = async (options: Parameters<Listing["page"]>[0]): Promise<string[]> => {
      return (await listing.page(options)).map((handle) => names.identityOf(handle));
    };
    expect(await listed({ afterIdentity: "b" })).toEqual(["c", "e"]);
    names.add("d");
    names.remove(names.handleOf("c") ?? -1);
    expect(await listed({ afterIdentity: "b" })).toEqual(["d", "e"]);
    expect(await listed({ identities: ["e", "nobody", "a"] })).toEqual(["e", "a"]);
    expect(await listed({ afterIdentity: "z" })).toEqual([]);
  });

  test("sorting in turns is sorting", async () => {
    const values = Uint32Array.from({ length: 33_333 }, (_, n) => (n * 2_654_435_761) >>> 0);
    const expected = [...values].sort((one, other) => one - other);
    expect([...(await sortInTurns(values, (one, other) => one - other))]).toEqual(expected);
  });
});
