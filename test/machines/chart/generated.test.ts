/** The table beside its definition, for charts that nobody has drawn. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnyStateMachine } from "xstate";
import { compiled } from "../../../src/machines/advance.js";
import { chart, EVENTS } from "./generated.js";
import { beginBoth, stepBoth } from "./oracle.js";

/** Charts that leave the order open, or go on after their end, are refused; `unsupported.test.ts` has one of each. */
const REFUSALS = /several regions act at once|something can still happen|too many/;

function isCompiled(machine: AnyStateMachine): boolean {
  try {
    compiled(machine);
    return true;
  } catch (error) {
    expect(String(error)).toMatch(REFUSALS);
    return false;
  }
}

test("does as XState does, whatever the chart", () => {
  let [taken, refused] = [0, 0];
  const history = fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(chart, history, (machine, events) => {
      if (!isCompiled(machine)) {
        refused += 1;
        return;
      }
      taken += 1;
      events.reduce((both, type) => stepBoth(machine, both, { type }), beginBoth(machine, undefined));
    }),
    { numRuns: 400 },
  );
  expect(taken).toBeGreaterThan(refused);
});
