import { describe, expect, it } from "vitest";
import { JobCollector } from "../../../src/core/config/collector.js";
import type { LocatedJob } from "../../../src/core/config/located.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { requireOk } from "../../support/results.js";

function job(identity: string, file: string, line: number): LocatedJob {
  const definition = requireOk(readJobDefinition({ identity, schedule: "@daily", command: ["x"] }));
  return { definition, file, line, column: 5 };
}

describe("jobs of all files", () => {
  it("S37: an identity belongs to the job that had it first, across files", () => {
    const jobs = new JobCollector();
    expect(jobs.add(job("a", "1.yaml", 3))).toBeNull();
    expect(jobs.add(job("A", "1.yaml", 4))).toBeNull();
    expect(jobs.add(job("a", "2.kron", 9))).toEqual({
      problem: {
        code: "identity-duplicate",
        message: 'the identity "a" is already used at 1.yaml:3:5',
        path: ["identity"],
      },
      file: "2.kron",
      line: 9,
      column: 5,
      length: 1,
      identity: "a",
    });
    expect(jobs.jobs.map(({ definition, file }) => [definition.identity, file])).toEqual([
      ["a", "1.yaml"],
      ["A", "1.yaml"],
    ]);
    expect(jobs.find("a")?.line).toBe(3);
    expect(jobs.find("b")).toBeUndefined();
  });

  it("S37: names that objects know too are identities like any other", () => {
    const jobs = new JobCollector();
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    expect(names.map((name, line) => jobs.add(job(name, "f", line)))).toEqual([null, null, null, null]);
    expect(jobs.size).toBe(4);
  });

  it("beyond the limit one problem says so, and nothing more is taken", () => {
    const jobs = new JobCollector(2);
    const told = ["a", "b", "c", "d"].map((name, line) => jobs.add(job(name, "f", line))?.problem.code ?? null);
    expect(told).toEqual([null, null, "limit-exceeded", null]);
    expect(jobs.size).toBe(2);
  });
});
