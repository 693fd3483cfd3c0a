/** The tables of distributions and of constraint kinds: what a row promises, whatever it is. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { CLAUSE_WORDS, type ClauseKind, CONSTRAINT_KINDS } from "../../../src/core/decision/constraint/table.js";
import { DISTRIBUTION_NAMES, distributionKind } from "../../../src/core/decision/distribution/table.js";
import { distributionParams, parameterForms, parseDistribution } from "../../../src/core/decision/distributions.js";
import { requireOk } from "../../support/results.js";

const CRDS = ["deploy/operator/crd.yaml", "deploy/operator/chart/templates/crd.yaml"];
const crds = CRDS.map((file) => readFileSync(resolve(import.meta.dirname, "../../..", file), "utf8"));

describe("a row of the table of distributions", () => {
  test.each(DISTRIBUTION_NAMES)("%s is called as its key, and states exactly the parameters it has", (name) => {
    const kind = distributionKind(name);
    const plain = requireOk(parseDistribution(name, {}));
    expect([kind.name, plain.name]).toEqual([name, name]);
    expect(Object.keys(distributionParams(plain)).sort()).toEqual(Object.keys(kind.parameters).sort());
  });

  test("Kubernetes knows the same names and parameters", () => {
    for (const crd of crds) {
      expect(crd).toContain(`enum: [${DISTRIBUTION_NAMES.join(", ")}]`);
      for (const [, forms] of parameterForms()) {
        for (const parameter of Object.keys(forms)) expect(crd).toMatch(new RegExp(`^ +${parameter}: \\{ type:`, "m"));
      }
    }
  });
});

describe("a row of the table of constraint kinds", () => {
  test.each(Object.keys(CONSTRAINT_KINDS) as ClauseKind[])(
    "%s: its words lead back to it, and no others do",
    (name) => {
      const { words } = CONSTRAINT_KINDS[name];
      expect(words).toContain(name);
      expect([...CLAUSE_WORDS].filter(([, kind]) => kind === name).map(([word]) => word)).toEqual(words);
    },
  );

  test("Kubernetes knows the same words", () => {
    for (const crd of crds) expect(crd).toContain(`self.matches('^ *(${[...CLAUSE_WORDS.keys()].join("|")}) *=.+$')`);
  });
});
