/** S51 in simulations, and the independent check of it: what it accepts and what it must catch. */
import { describe, expect, test } from "vitest";
import { formatInstant, MINUTE_MS, SECOND_MS } from "../../src/core/time/instant.js";
import { JobHistory } from "../../src/simulation/job-history.js";
import { judgeStops } from "../../src/simulation/stop-oracle.js";
import { FROM, job, play } from "./support.js";

const END = formatInstant(FROM + 10 * MINUTE_MS);

test.each([
  ["after runs", { after_runs: 4 }, 4],
  ["after failures", { after_failures: 3 }, 3],
  ["at an end", { at: END }, 10],
] as const)("the program keeps what the check asks for, across crashes too: %s", async (_name, stop, most) => {
  for (const schedule of ["* * * * *", "@every 60s"]) {
    const { findings, starts } = await play({
      jobs: [job({ schedule, stop })],
      run: { duration: { kind: "fixed", ms: SECOND_MS }, failChance: 1 },
      acts: { 130: { do: "crash", forMs: 5_000, step: null }, 181: { do: "crash", forMs: 2_000, step: null } },
      minutes: 45,
    });
    expect([findings.violations, findings.figures.duplicates]).toEqual([[], 0]);
    expect([schedule, starts.length <= most, starts.length > 0]).toEqual([schedule, true, true]);
  }
});

describe("the check finds out", () => {
  const history = (stop: object, startedAfterMs: readonly number[]): JobHistory => {
    const known = new JobHistory("a");
    known.define(job({ stop }), FROM);
    for (const after of startedAfterMs) {
      known.slotStarts.push({ source: "interval", slotAt: FROM + after, startedAt: FROM + after });
    }
    return known;
  };

  test.each<[string, object, readonly number[], string]>([
    ["one that is right", { after_runs: 2, at: END }, [1_000, 2_000], ""],
    ["a run too many", { after_runs: 2 }, [1_000, 2_000, 3_000], "began 3 runs"],
    ["one behind the end", { at: END }, [20 * MINUTE_MS], "has ended at"],
  ])("%s", (_name, stop, starts, said) => {
    const [found = ""] = judgeStops(history(stop, starts));
    expect(found).toContain(said);
    expect(found === "").toBe(said === "");
  });
});
