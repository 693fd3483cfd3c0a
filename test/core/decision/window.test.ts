import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { candidateSecond, windowFrame } from "../../../src/core/decision/window.js";
import { SEEDED } from "./rules.js";

describe("window semantics: bounds are floored to whole seconds, S10 lead", () => {
  test.each([
    { mode: "after", durationMs: 3_600_000, leadMs: 0, spanSeconds: 3600 },
    { mode: "around", durationMs: 3_600_000, leadMs: 1_800_000, spanSeconds: 3600 },
    { mode: "before", durationMs: 3_600_000, leadMs: 3_600_000, spanSeconds: 3600 },
    { mode: "after", durationMs: 0, leadMs: 0, spanSeconds: 0 },
    { mode: "around", durationMs: 0, leadMs: 0, spanSeconds: 0 },
    { mode: "before", durationMs: 0, leadMs: 0, spanSeconds: 0 },
    { mode: "around", durationMs: 5000, leadMs: 3000, spanSeconds: 5 },
    { mode: "around", durationMs: 1000, leadMs: 1000, spanSeconds: 1 },
    { mode: "around", durationMs: 3_661_000, leadMs: 1_831_000, spanSeconds: 3661 },
    { mode: "after", durationMs: 1500, leadMs: 0, spanSeconds: 1 },
    { mode: "before", durationMs: 1500, leadMs: 2000, spanSeconds: 2 },
    { mode: "around", durationMs: 1500, leadMs: 1000, spanSeconds: 1 },
    { mode: "after", durationMs: 999, leadMs: 0, spanSeconds: 0 },
  ] as const)(
    "$mode $durationMs ms opens $leadMs ms before and spans $spanSeconds s",
    ({ mode, durationMs, leadMs, spanSeconds }) => {
      const frame = windowFrame({ mode, durationMs });
      expect(frame).toEqual({ durationMs, leadMs, spanSeconds, nominalSeconds: leadMs / 1000 });
      expect(Object.is(frame.leadMs, -0)).toBe(false);
    },
  );

  test("S10: a window of whole seconds spans exactly its duration and holds its nominal time", () => {
    const modes = fc.constantFrom("after" as const, "around" as const, "before" as const);
    fc.assert(
      fc.property(modes, fc.integer({ min: 0, max: 744 * 3600 }), (mode, seconds) => {
        const frame = windowFrame({ mode, durationMs: seconds * 1000 });
        expect(frame.spanSeconds).toBe(seconds);
        expect(frame.nominalSeconds).toBeGreaterThanOrEqual(0);
        expect(frame.nominalSeconds).toBeLessThanOrEqual(seconds);
      }),
      SEEDED,
    );
  });
});

describe("candidates", () => {
  test.each([
    { x: 0, span: 3600, second: 0 },
    { x: 1 - 2 ** -53, span: 3600, second: 3600 },
    { x: 1 - 2 ** -53, span: 1, second: 1 },
    { x: 1 - 2 ** -53, span: 2_678_400, second: 2_678_400 },
    { x: 0.5, span: 1, second: 1 },
    { x: 0.49999999999999994, span: 1, second: 0 },
    { x: 0.5, span: 3600, second: 1800 },
    { x: 0.8462881248863515, span: 10_800, second: 9140 },
  ])("x = $x of $span s is second $second", ({ x, span, second }) => {
    expect(candidateSecond(x, span)).toBe(second);
  });
});
