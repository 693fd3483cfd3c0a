import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coarseLength, MOST_LENGTH, UNKNOWN_LENGTH } from "../../../src/core/base/coarse.js";

describe("a length in 16 bits", () => {
  test.each([
    [null, UNKNOWN_LENGTH],
    [0, 1],
    [-5, 1],
    [1, 2],
    [2_047, 2_048],
    [2_048, 2_049],
    [4_095, 4_096],
    [4_096, 4_097],
    [Number.MAX_SAFE_INTEGER, MOST_LENGTH],
  ])("%s ms", (ms, length) => {
    expect(coarseLength(ms)).toBe(length);
  });

  test("property: what is longer is never less, and by one part in a thousand it is more", () => {
    const century = 100 * 366 * 86_400_000;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: century }), fc.integer({ min: 0, max: century }), (one, other) => {
        const [less, more] = one < other ? [one, other] : [other, one];
        expect(coarseLength(less)).toBeLessThanOrEqual(coarseLength(more));
        const isTold = more - less > less / 1_000;
        if (isTold && more > less) expect(coarseLength(less)).toBeLessThan(coarseLength(more));
        expect(coarseLength(more)).toBeLessThanOrEqual(MOST_LENGTH);
      }),
    );
  });
});
