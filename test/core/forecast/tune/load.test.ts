import { describe, expect, test } from "vitest";
import { compileRule } from "../../../../src/core/decision/compile.js";
import { Load, type RuleStarts } from "../../../../src/core/forecast/tune/load.js";
import { ruleOf } from "../../../support/scheduling.js";

function startsIn(...buckets: readonly number[]): RuleStarts {
  return { compiled: compileRule(ruleOf()), buckets: Int32Array.from(buckets), unschedulable: 0 };
}

describe("a move is kept only when it makes the load flatter", () => {
  const rows: readonly (readonly [
    name: string,
    from: readonly number[],
    to: readonly number[],
    most: number,
    isKept: boolean,
    counts: readonly number[],
  ])[] = [
    ["apart is flatter", [0, 0, 0], [1, 2, 3], 4, true, [1, 4, 1, 1]],
    ["no bucket comes to have more than the peak allows", [0, 0, 0], [1, 2, 3], 3, false, [4, 3, 0, 0]],
    ["elsewhere, but no flatter", [0], [0], 9, false, [2, 3, 0, 0]],
    ["fuller than before", [0], [1], 9, false, [2, 3, 0, 0]],
    ["out of the horizon", [0], [], 9, true, [1, 3, 0, 0]],
  ];
  test.each(rows)("%s", (_, from, to, most, isKept, counts) => {
    const load = new Load(4);
    load.add(startsIn(0, 1, 1, 1));
    const before = startsIn(...from);
    load.add(before);
    expect(load.moveIfFlatter(before, startsIn(...to), most)).toBe(isKept);
    expect([...load.counts]).toEqual(counts);
    expect(load.total).toBe(counts.reduce((sum, starts) => sum + starts, 0));
    expect(load.peak()).toBe(Math.max(...counts));
  });
});
