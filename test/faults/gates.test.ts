/** S16, S23: a gate waits for one definition and one period; when that is gone, it is closed, and never released. */
import { describe, expect, test } from "vitest";
import type { ActivationEvent } from "../../src/machines/step.js";
import { Scenario } from "../machines/scenario.js";

const HANDLED = "2026-03-01T09:00:00Z";
const BEFORE = "2026-03-01T09:59:00Z";
const DUE = "2026-03-01T10:00:00Z";
const DEADLINE = { deadlineMs: 3_600_000 };

const CHANGES: readonly (readonly [name: string, event: ActivationEvent])[] = [
  ["another definition", { type: "DEFINE", hash: "h2", carriedAt: null }],
  ["the removal of the job", { type: "REMOVE" }],
];

function armed(): Scenario {
  const job = new Scenario({ document: { DefinitionHash: "h1", LastHandledPeriodID: HANDLED }, policy: DEADLINE });
  job.wake(BEFORE, true);
  expect(job.wake(DUE)).toEqual([`arm a1 period ${DUE}`]);
  return job;
}

describe("S16: what a gate was made for is gone", () => {
  test.each(CHANGES)(
    "%s while it is being made: it is closed, and what is ready afterwards is closed too",
    (_, event) => {
      const job = armed();
      expect(job.tell(DUE, event)).toContain("close a1");
      const late = [...job.ready(DUE, "a1"), ...job.durable(DUE, "a1")];
      expect(late).toEqual(["close a1"]);
    },
  );

  test.each(CHANGES)("%s while its claim is being written: the claim stands, and it is released once", (_, event) => {
    const job = armed();
    expect(job.ready(DUE, "a1")).toEqual(["persist executed+run_started"]);
    expect(job.tell(DUE, event)).not.toContain("close a1");
    const released = [...job.durable(DUE, "a1"), ...job.durable(DUE, "a1")];
    expect(released.filter((effect) => effect.startsWith("go "))).toHaveLength(1);
  });
});
