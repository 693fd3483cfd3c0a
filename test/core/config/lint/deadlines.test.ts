import { describe, expect, test } from "vitest";
import { deadlineWarnings } from "../../../../src/core/config/lint/deadlines.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { requireOk } from "../../../support/results.js";

function job(schedule: string, more: Record<string, unknown> = {}): JobDefinition {
  return requireOk(readJobDefinition({ identity: `t/${schedule}`, schedule, command: ["/bin/true"], ...more }));
}

describe("S20: a job that a restart would cost a whole period", () => {
  test("rarer than hourly, with a deadline of 0s: what it would cost, and what to write", () => {
    const [warning, ...others] = deadlineWarnings([job("0 3 * * *"), job("0 */2 * * *")]);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ kind: "no-deadline", identities: ["t/0 3 * * *", "t/0 */2 * * *"] });
    expect(warning?.message).toContain("2 jobs have a deadline of 0s");
    expect(warning?.message).toContain("costs t/0 3 * * * the whole period");
    expect(warning?.hint).toContain("policy: { deadline: window }");
  });

  test.each<[string, JobDefinition]>([
    ["hourly", job("0 * * * *")],
    ["every minute", job("* * * * *")],
    ["any deadline", job("0 3 * * *", { policy: { deadline: "1s" } })],
    ["until the window ends", job("0 3 * * *", { policy: { deadline: "window" } })],
    ["suspended", job("0 3 * * *", { policy: { suspend: true } })],
  ])("nothing is said of one that is %s", (_, definition) => {
    expect(deadlineWarnings([definition])).toEqual([]);
  });
});
