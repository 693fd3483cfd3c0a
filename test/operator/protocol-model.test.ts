/** At most once, over every order (S23 on Kubernetes): leaders that are all active, each between any two requests of the others. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { Sketch } from "../../src/operator/plan/sketch.js";
import { type Budget, explore, type Perform } from "./support/explore.js";
import { perform } from "./support/model-api.js";

afterEach(() => void vi.restoreAllMocks());

describe("at most once, whatever the order (S23 on Kubernetes)", () => {
  const budgets: readonly (readonly [string, Budget])[] = [
    ["one leader, two crashes", { leaders: 1, crashes: 2, deletions: 1, mayBeLate: true }],
    ["two leaders, one crash", { leaders: 2, crashes: 1, deletions: 0, mayBeLate: false }],
    ["two leaders, a user who deletes a Job", { leaders: 2, crashes: 0, deletions: 1, mayBeLate: false }],
  ];
  test.each(budgets)("%s: at most one run, none off the record, none lost", (_name, budget) => {
    expect(explore(budget)).toBeGreaterThan(50);
  });

  test("the model can tell: a claim without resourceVersion runs twice", () => {
    const careless: Perform = (api, effect, read, now) => {
      const fresh = api.kronJob ?? read;
      return perform(api, effect, effect.type === "writeStatus" ? fresh : read, now);
    };
    const budget = { leaders: 2, crashes: 0, deletions: 0, mayBeLate: false };
    expect(() => explore(budget, careless)).toThrow(/ran 2 times|off the record|handled already/);
  });

  test("the model can tell: a Job that is created running runs off the record", () => {
    const careless: Perform = (api, effect, read, now) => {
      const [state, result] = perform(api, effect, read, now);
      if (effect.type !== "createGate" || result.kind !== "job") return [state, result];
      const { name, uid } = result.job;
      const startByAt = Number.POSITIVE_INFINITY;
      const go = { type: "go", name, uid, startByAt, news: { kind: "resumed" } } as const;
      const [running] = perform(state, go, read, now);
      return [running, result];
    };
    const budget = { leaders: 2, crashes: 0, deletions: 0, mayBeLate: false };
    expect(() => explore(budget, careless)).toThrow(/ran 2 times|off the record/);
  });

  test("the model can tell: a sweep that does not look at what is claimed loses runs", () => {
    vi.spyOn(Sketch.prototype, "isActive").mockReturnValue(false);
    const budget = { leaders: 2, crashes: 0, deletions: 0, mayBeLate: false };
    expect(() => explore(budget)).toThrow(/executed, and nothing ran/);
  });
});
