import { afterEach, expect, test, vi } from "vitest";
import { trimMemorySoon } from "../../../src/krond/boot/trim-memory.js";

afterEach(() => {
  vi.useRealTimers();
});

test("P3: what only a start needed is given back, and no program sees the collector", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  // More than a heap is asked to be trimmed for.
  let garbage: number[][] | null = Array.from({ length: 400 }, () => new Array<number>(100_000).fill(1.5));
  const before = process.memoryUsage().heapUsed;
  expect(before).toBeGreaterThan(128 * 1024 * 1024);
  trimMemorySoon();
  // Whoever asks for it may hold on to everything until then.
  expect(garbage).toHaveLength(400);
  garbage = null;
  for (let second = 0; second < 20; second++) {
    vi.advanceTimersByTime(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(process.memoryUsage().heapUsed).toBeLessThan(before / 2);
  expect("gc" in globalThis).toBe(false);
});
