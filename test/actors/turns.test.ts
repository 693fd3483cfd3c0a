import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sortByKeys } from "../../src/actors/turns.js";

describe("sorting by keys, in turns", () => {
  const key = fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 0xff_ff_ff_ff }));

  test("is what a stable sort gives, and what was handed in stays as it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(), key), { maxLength: 300 }), async (pairs) => {
        const [values, keys] = [0, 1].map((part) => Uint32Array.from(pairs, (pair) => pair[part] ?? 0));
        if (values === undefined || keys === undefined) throw new Error("no pairs");
        const wanted = [...pairs].sort(([, one], [, other]) => one - other).map(([value]) => value);
        expect([...(await sortByKeys(values, keys))]).toEqual(wanted);
        expect([...values]).toEqual(pairs.map(([value]) => value));
      }),
    );
  });

  test("many of them leave the loop to others in between", async () => {
    const count = 200_000;
    const keys = Uint32Array.from({ length: count }, (_, index) => Math.imul(index, 0x9e3779b1) >>> 0);
    let turns = 0;
    let isDone = false;
    const look = (): void => {
      turns += 1;
      if (!isDone) setImmediate(look);
    };
    setImmediate(look);
    const sorted = await sortByKeys(Uint32Array.from(keys), keys);
    isDone = true;
    expect(sorted).toEqual(Uint32Array.from(keys).sort());
    expect(turns).toBeGreaterThan(20);
  });
});
