import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalDefinitionText, readJobDefinition } from "../../../src/core/job/schema.js";
import { isWithoutDeadline } from "../../../src/core/restart/cut.js";
import { requireOk } from "../../support/results.js";

/** What would be a mark, if a text could hold one. */
const TRICKY = ['"deadline":"0s","suspend":false', '","deadline":"0s","suspend":false', "\\", '"', "plain"] as const;
const text = fc.oneof(
  fc.constantFrom(...TRICKY),
  fc.string({ maxLength: 20 }).filter((it) => !it.includes("\0")),
);

const raw = fc.record({
  policy: fc.record(
    {
      deadline: fc.constantFrom("0s", "1s", "10s", "1h", "window"),
      suspend: fc.boolean(),
      concurrency: fc.constantFrom("allow", "forbid", "replace"),
    },
    { requiredKeys: [] },
  ),
  window: fc.constantFrom({ mode: "after", duration: "0s" }, { mode: "after", duration: "2m" }),
  description: text,
  command: fc.array(text, { maxLength: 2 }).map((words) => ["/bin/true", ...words]),
  env: fc.record({ A: text }),
});

test("S19: a canonical text has no deadline exactly where the real reader finds none and the job is run", () => {
  let without = 0;
  fc.assert(
    fc.property(raw, (fields) => {
      const read = readJobDefinition({ identity: "t/a", schedule: "0 3 * * *", ...fields });
      fc.pre(read.ok);
      const { policy } = requireOk(read);
      const isWithout = policy.deadlineMs === 0 && !policy.suspend;
      without += isWithout ? 1 : 0;
      expect(isWithoutDeadline(canonicalDefinitionText(requireOk(read)))).toBe(isWithout);
    }),
    { numRuns: 1_000 },
  );
  expect(without).toBeGreaterThan(50);
});
