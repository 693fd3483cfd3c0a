/** What a step says has ended: an activation holds none of it any more, and whoever looks on has nothing to guess. */
import { describe, expect, test } from "vitest";
import { type Ended, idOf } from "../../src/machines/draft.js";
import { step } from "../../src/machines/step.js";
import { type Plot, Scenario } from "./scenario.js";

const T10 = "2026-03-01T10:00:00Z";
const T11 = "2026-03-01T11:00:00Z";

function scenario(plot: Plot = {}): { readonly job: Scenario; readonly words: () => readonly string[] } {
  const all: Ended[] = [];
  const job = new Scenario({
    ...plot,
    document: { LastHandledPeriodID: "2026-03-01T09:00:00Z" },
    step: (...about) => {
      const taken = step(...about);
      all.push(taken.ended);
      return taken;
    },
  });
  return { job, words: () => all.splice(0).flatMap(wordsOf) };
}

function wordsOf({ attempts, periods }: Ended): readonly string[] {
  return [
    ...attempts.map((attempt) => {
      const { execution, period } = attempt;
      return `${idOf(attempt)} ${JSON.stringify(execution.value)} ${execution.context.ending?.exitCode} ${JSON.stringify(period?.value ?? null)}`;
    }),
    ...periods.map(({ period, closing }) => {
      return `${period.context.occasion.periodId} ${closing === null ? "given up" : `${closing.outcome} ${closing.reason}`}`;
    }),
  ];
}

describe("a step says what ended in it", () => {
  test("nothing, while everything goes on", () => {
    const { job, words } = scenario();
    job.wake(T10);
    job.start(T10, "a1");
    expect(words()).toEqual([]);
  });

  test("an attempt, with its ending and with its period", () => {
    const { job, words } = scenario();
    job.wake(T10);
    job.start(T10, "a1");
    job.exited("2026-03-01T10:00:05Z", "a1", 3);
    expect(words()).toEqual([`a1 {"ended":"recorded"} 3 {"terminal":{"executed":"completed"}}`]);
  });

  test("a period that was skipped, in its reason's words", () => {
    const { job, words } = scenario({ policy: { concurrency: "forbid" } });
    job.wake(T10);
    job.start(T10, "a1");
    job.wake(T11);
    expect(words()).toEqual([`${T11} skipped concurrency_forbid`]);
  });
});
