/** What takes three leaders to go wrong, or to be shown not to. */
import { expect, test } from "vitest";
import { explore, type Perform } from "./support/explore.js";
import { perform } from "./support/model-api.js";

test("three leaders, two crashes, a deletion, and time that passes: at most one run, none off the record, none lost", () => {
  expect(explore({ leaders: 3, crashes: 2, deletions: 1, mayBeLate: true })).toBeGreaterThan(10_000);
});

test("the model can tell: GO by name instead of uid runs twice", () => {
  const careless: Perform = (api, effect, read, now) => {
    if (effect.type !== "go") return perform(api, effect, read, now);
    const uid = api.jobs[effect.name]?.metadata.uid ?? effect.uid;
    return perform(api, { ...effect, uid }, read, now);
  };
  const budget = { leaders: 3, crashes: 0, deletions: 1, mayBeLate: false };
  expect(() => explore(budget, careless)).toThrow(/ran 2 times|off the record/);
});
