import { expect, test } from "vitest";
import { trimMemory } from "../../../src/krond/boot/trim-memory.js";

test("P3: what only a start needed is given back, and no program sees the collector", async () => {
  // More than a heap is asked to be trimmed for, and nobody's any more.
  let garbage: number[][] | null = Array.from({ length: 400 }, () => new Array<number>(100_000).fill(1.5));
  const before = process.memoryUsage().heapUsed;
  expect(before).toBeGreaterThan(128 * 1024 * 1024);
  garbage = null;
  await trimMemory();
  expect([garbage, process.memoryUsage().heapUsed < before / 2]).toEqual([null, true]);
  expect("gc" in globalThis).toBe(false);
});
