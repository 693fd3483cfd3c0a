import { describe, expect, test } from "vitest";
import type { Policy } from "../../../src/core/job/definition.js";
import { cronOccasion, dueAt } from "../../../src/core/period/occasion.js";
import {
  type ActiveRun,
  type Circumstances,
  claimVerdict,
  type JobStanding,
  USUAL,
  verdict,
} from "../../../src/core/period/policy.js";
import { at, decisionOf, policyOf, runOf } from "../../support/scheduling.js";

const NOMINAL = "2026-03-01T00:00:00Z";
const CHOSEN = "2026-03-01T02:32:20Z";
const YESTERDAY = "2026-02-28T00:00:00Z";

interface Row {
  readonly title: string;
  readonly now: string;
  readonly verdict: string;
  readonly chosen?: string | null;
  readonly standing?: Partial<JobStanding>;
  readonly policy?: Partial<Policy>;
  readonly active?: readonly ActiveRun[];
  readonly circumstances?: Partial<Circumstances>;
}

const RUNNING = [runOf(YESTERDAY)];
const TWO = [runOf(YESTERDAY, 2), runOf("2026-02-27T00:00:00Z", 1)];

const ADAPTER_CASES: readonly Row[] = [
  { title: "deadline 0, one second late: missed", now: "2026-03-01T02:32:21Z", verdict: "missed deadline" },
  {
    title: "deadline 10m, now 02:40: executed",
    now: "2026-03-01T02:40:00Z",
    policy: { deadlineMs: 600_000 },
    verdict: "start",
  },
  {
    title: "forbid with an active execution inside the deadline: skipped",
    now: "2026-03-01T02:40:00Z",
    policy: { deadlineMs: 600_000 },
    active: RUNNING,
    verdict: "skipped concurrency_forbid",
  },
  {
    title: "last handled is the period: nothing, already handled",
    now: "2026-03-01T02:40:00Z",
    standing: { lastHandledAt: at(NOMINAL) },
    policy: { deadlineMs: 600_000 },
    verdict: "nothing already_handled",
  },
];

const BOUNDARIES: readonly Row[] = [
  {
    title: "SPEC trigger: a millisecond before the chosen time nothing happens",
    now: "2026-03-01T02:32:19.999Z",
    verdict: "nothing not_due",
  },
  { title: "SPEC trigger: now = chosen is eligible", now: CHOSEN, verdict: "start" },
  { title: "S20: deadline 0, within the chosen second: on time", now: "2026-03-01T02:32:20.999Z", verdict: "start" },
  { title: "S20: deadline 0, the next second: missed", now: "2026-03-01T02:32:21.000Z", verdict: "missed deadline" },
  {
    title: "S20: deadline 10s, the last second",
    now: "2026-03-01T02:32:30.999Z",
    policy: { deadlineMs: 10_000 },
    verdict: "start",
  },
  {
    title: "S20: deadline 10s, one second more",
    now: "2026-03-01T02:32:31Z",
    policy: { deadlineMs: 10_000 },
    verdict: "missed deadline",
  },
  {
    title: "S20: a deadline in milliseconds ends with the whole second it reaches",
    now: "2026-03-01T02:32:21Z",
    policy: { deadlineMs: 500 },
    verdict: "missed deadline",
  },
];

const IDEMPOTENCY: readonly Row[] = [
  {
    title: "S12: an older period than the last handled is handled",
    now: CHOSEN,
    standing: { lastHandledAt: at("2026-03-02T00:00:00Z") },
    verdict: "nothing already_handled",
  },
  {
    title: "S12: the day before being handled leaves it open",
    now: CHOSEN,
    standing: { lastHandledAt: at(YESTERDAY) },
    verdict: "start",
  },
  {
    title: "S21: its own running execution counts, whatever was handled",
    now: CHOSEN,
    active: [runOf(NOMINAL)],
    policy: { concurrency: "allow" },
    verdict: "nothing already_handled",
  },
  {
    title: "S21: also when it is not the newest",
    now: CHOSEN,
    active: [runOf("2026-03-01T02:00:00Z", 9, "manual"), runOf(NOMINAL)],
    policy: { concurrency: "replace" },
    verdict: "nothing already_handled",
  },
  {
    title: "S40: a manual run at the very instant is not this period",
    now: CHOSEN,
    active: [runOf(NOMINAL, 9, "manual")],
    policy: { concurrency: "allow" },
    verdict: "start",
  },
  {
    title: "S21: handled wins over suspended",
    now: CHOSEN,
    standing: { lastHandledAt: at(NOMINAL) },
    policy: { suspend: true },
    verdict: "nothing already_handled",
  },
];

const SUSPENSION: readonly Row[] = [
  {
    title: "SPEC: suspended: no trigger, no period handled",
    now: CHOSEN,
    policy: { suspend: true },
    verdict: "nothing suspended",
  },
  {
    title: "S17: suspended past the deadline: still nothing handled",
    now: "2026-03-01T09:00:00Z",
    policy: { suspend: true },
    verdict: "nothing suspended",
  },
  {
    title: "S17: suspended: not even unschedulable is recorded",
    now: CHOSEN,
    chosen: null,
    policy: { suspend: true },
    verdict: "nothing suspended",
  },
  {
    title: "S17: paused",
    now: CHOSEN,
    standing: { pausedUntilAt: at("2026-03-01T03:00:00Z") },
    verdict: "nothing paused",
  },
  {
    title: "S17: a pause ends by itself, on its instant",
    now: CHOSEN,
    standing: { pausedUntilAt: at(CHOSEN) },
    verdict: "start",
  },
  {
    title: "S17: suspend is named before pause",
    now: CHOSEN,
    standing: { pausedUntilAt: at("2026-03-01T03:00:00Z") },
    policy: { suspend: true },
    verdict: "nothing suspended",
  },
];

const BIRTH: readonly Row[] = [
  {
    title: "S14: chosen before first sight: never triggered, even inside the deadline",
    now: "2026-03-01T02:33:00Z",
    standing: { definedAt: at("2026-03-01T02:32:50Z") },
    policy: { deadlineMs: 600_000 },
    verdict: "nothing before_definition",
  },
  {
    title: "S14: defined within the chosen second",
    now: "2026-03-01T02:32:20.700Z",
    standing: { definedAt: at("2026-03-01T02:32:20.500Z") },
    verdict: "start",
  },
  {
    title: "S14: defined in the next second",
    now: "2026-03-01T02:32:21Z",
    standing: { definedAt: at("2026-03-01T02:32:21Z") },
    policy: { deadlineMs: 600_000 },
    verdict: "nothing before_definition",
  },
  {
    title: "S14: live before the edit: still triggered",
    now: "2026-03-01T02:33:00Z",
    standing: { definedAt: at("2026-03-01T02:32:50Z"), carriedAt: at(NOMINAL) },
    policy: { deadlineMs: 600_000 },
    verdict: "start",
  },
  {
    title: "S14: another period was live: no matter",
    now: "2026-03-01T02:33:00Z",
    standing: { definedAt: at("2026-03-01T02:32:50Z"), carriedAt: at(YESTERDAY) },
    policy: { deadlineMs: 600_000 },
    verdict: "nothing before_definition",
  },
  {
    title: "S14: unschedulable, window still open at first sight: recorded",
    now: "2026-03-01T02:33:00Z",
    chosen: null,
    standing: { definedAt: at("2026-03-01T02:33:00Z") },
    verdict: "unschedulable no candidate accepted within 64 attempts",
  },
  {
    title: "S14: unschedulable, window over at first sight: not recorded",
    now: "2026-03-01T04:00:00Z",
    chosen: null,
    standing: { definedAt: at("2026-03-01T03:00:01Z") },
    verdict: "nothing before_definition",
  },
];

const UNSCHEDULABLE: readonly Row[] = [
  {
    title: "S15: not before the window opens",
    now: "2026-02-28T23:59:59.999Z",
    chosen: null,
    verdict: "nothing not_due",
  },
  {
    title: "S15: when it opens",
    now: NOMINAL,
    chosen: null,
    verdict: "unschedulable no candidate accepted within 64 attempts",
  },
  {
    title: "SPEC: no retry and no deadline: late it is unschedulable all the same",
    now: "2026-03-01T09:00:00Z",
    chosen: null,
    verdict: "unschedulable no candidate accepted within 64 attempts",
  },
];

const CONCURRENCY: readonly Row[] = [
  {
    title: "S21: the deadline is judged before concurrency",
    now: "2026-03-01T02:32:21Z",
    active: RUNNING,
    verdict: "missed deadline",
  },
  {
    title: "S25: replace: the deadline is judged before the victims are told to end",
    now: "2026-03-01T02:32:21Z",
    policy: { concurrency: "replace" },
    active: RUNNING,
    verdict: "missed deadline",
  },
  {
    title: "SPEC allow: proceeds regardless",
    now: CHOSEN,
    policy: { concurrency: "allow" },
    active: TWO,
    verdict: "start",
  },
  {
    title: "S26: allow below max_active",
    now: CHOSEN,
    policy: { concurrency: "allow", maxActive: 3 },
    active: TWO,
    verdict: "start",
  },
  {
    title: "S26: allow at max_active",
    now: CHOSEN,
    policy: { concurrency: "allow", maxActive: 2 },
    active: TWO,
    verdict: "skipped too_many_active",
  },
  { title: "SPEC forbid: free", now: CHOSEN, verdict: "start" },
  {
    title: "S40: forbid: a manual run counts as active",
    now: CHOSEN,
    active: [runOf("2026-03-01T02:00:00Z", 9, "manual")],
    verdict: "skipped concurrency_forbid",
  },
  { title: "SPEC replace: free", now: CHOSEN, policy: { concurrency: "replace" }, verdict: "start" },
  {
    title: "S25: replace: the victims are all that run",
    now: CHOSEN,
    policy: { concurrency: "replace" },
    active: TWO,
    verdict: "replace 2,1",
  },
];

const CIRCUMSTANCES: readonly Row[] = [
  {
    title: "S13: tried, still open, the next is due: superseded",
    now: "2026-03-01T02:40:00Z",
    policy: { deadlineMs: 3_600_000 },
    circumstances: { successorDueAt: at("2026-03-01T02:40:00Z") },
    verdict: "missed superseded",
  },
  {
    title: "S13: the next is not due yet: tried again",
    now: "2026-03-01T02:39:59Z",
    policy: { deadlineMs: 3_600_000 },
    circumstances: { successorDueAt: at("2026-03-01T02:40:00Z") },
    verdict: "start",
  },
  {
    title: "S13: past the deadline the deadline is the reason",
    now: "2026-03-01T02:40:00Z",
    circumstances: { successorDueAt: at("2026-03-01T02:40:00Z") },
    verdict: "missed deadline",
  },
  {
    title: "S11: had to wait for an older period: the deadline counts from then",
    now: "2026-03-01T02:50:00.500Z",
    circumstances: { heldUntilAt: at("2026-03-01T02:50:00Z") },
    verdict: "start",
  },
  {
    title: "S11: and passes from then",
    now: "2026-03-01T02:50:01Z",
    circumstances: { heldUntilAt: at("2026-03-01T02:50:00Z") },
    verdict: "missed deadline",
  },
];

function judge(row: Row): string {
  const standing = { lastHandledAt: null, definedAt: null, carriedAt: null, pausedUntilAt: null, ...row.standing };
  const decision = decisionOf(NOMINAL, row.chosen === undefined ? CHOSEN : row.chosen);
  const circumstances = { ...USUAL, ...row.circumstances };
  const seen = verdict(
    standing,
    cronOccasion(decision),
    policyOf(row.policy),
    row.active ?? [],
    at(row.now),
    circumstances,
  );
  const detail = "reason" in seen ? seen.reason : "victims" in seen ? seen.victims.map((run) => run.pid).join() : "";
  return `${seen.kind} ${detail}`.trim();
}

describe.each([
  ["adapter cases of the decision contract", ADAPTER_CASES],
  ["trigger and deadline", BOUNDARIES],
  ["idempotency", IDEMPOTENCY],
  ["suspend and pause", SUSPENSION],
  ["first sight and edits", BIRTH],
  ["unschedulable", UNSCHEDULABLE],
  ["concurrency", CONCURRENCY],
  ["what happened before", CIRCUMSTANCES],
])("verdict: %s", (_title, rows) => {
  test.each(rows)("$title", (row) => {
    expect(judge(row)).toBe(row.verdict);
  });
});

describe("bound of the start", () => {
  const standing = { lastHandledAt: null, definedAt: null, carriedAt: null, pausedUntilAt: null };
  const decision = decisionOf(NOMINAL, CHOSEN);

  test("S20: chosen + deadline + start grace goes with the start", () => {
    const circumstances = { ...USUAL, startGraceMs: 30_000 };
    expect(
      verdict(standing, cronOccasion(decision), policyOf({ deadlineMs: 5000 }), [], at(CHOSEN), circumstances),
    ).toEqual({
      kind: "start",
      startByAt: at("2026-03-01T02:32:55Z"),
    });
  });

  test.each<[title: string, now: string, changes: Partial<JobStanding>, active: readonly ActiveRun[], seen: string]>([
    ["S20: the last second", "2026-03-01T02:32:55.999Z", {}, [], "start"],
    ["S20: a second more", "2026-03-01T02:32:56.000Z", {}, [], "missed late_start"],
    ["S21: handled meanwhile", "2026-03-01T02:32:20Z", { lastHandledAt: at(NOMINAL) }, [], "nothing already_handled"],
    [
      "S17: paused meanwhile",
      "2026-03-01T02:32:20Z",
      { pausedUntilAt: at("2026-03-02T00:00:00Z") },
      [],
      "nothing paused",
    ],
    ["S6: the clock went back: nothing triggers early", "2026-03-01T02:32:19Z", {}, [], "nothing not_due"],
    ["S21: another run began meanwhile", "2026-03-01T02:32:20Z", {}, RUNNING, "skipped concurrency_forbid"],
  ])("judged again before the claim: %s", (_title, now, changes, active, seen) => {
    const startByAt = at("2026-03-01T02:32:55Z");
    const judged = claimVerdict(
      { ...standing, ...changes },
      cronOccasion(decision),
      policyOf(),
      active,
      at(now),
      startByAt,
    );
    expect(`${judged.kind} ${"reason" in judged ? judged.reason : ""}`.trim()).toBe(seen);
  });

  test("S15: due when the window opens, if there is no chosen time", () => {
    expect([dueAt(decision), dueAt(decisionOf(NOMINAL, null))]).toEqual([at(CHOSEN), at(NOMINAL)]);
  });
});
