/** S21, S40: which checks apply to an occasion goes by its source, and by nothing else. */
import { describe, expect, test } from "vitest";
import {
  cronOccasion,
  isAskedSource,
  isOwnSource,
  isPeriod,
  type Occasion,
  recordedSource,
  slotOccasion,
} from "../../../src/core/period/occasion.js";
import { claimVerdict, type JobStanding, USUAL, type Verdict, verdict } from "../../../src/core/period/policy.js";
import { at, decisionOf, policyOf, runOf } from "../../support/scheduling.js";

const SLOT = "2026-03-01T00:00:00Z";
const NOW = at("2026-03-01T00:00:30Z");
const STANDING: JobStanding = { lastHandledAt: null, definedAt: null, carriedAt: null, pausedUntilAt: null };
const OCCASIONS: Readonly<Record<string, Occasion>> = {
  cron: cronOccasion(decisionOf(SLOT, SLOT)),
  interval: slotOccasion("interval", at(SLOT), at(SLOT)),
  "hint-interval": slotOccasion("hint-interval", at(SLOT), at(SLOT)),
  "hint-oneshot": slotOccasion("hint-oneshot", at(SLOT), at(SLOT)),
  reboot: slotOccasion("reboot", at(SLOT), at(SLOT)),
  manual: slotOccasion("manual", at(SLOT), at(SLOT)),
};

function said(answer: Verdict): string {
  if ("reason" in answer) return `${answer.kind} ${answer.reason}`;
  return answer.kind === "start" ? `start by ${new Date(answer.startByAt).toISOString().slice(11, 19)}` : answer.kind;
}

const POLICY = policyOf({ deadlineMs: 0 });
const RUNNING = [runOf("2026-02-28T00:00:00Z")];

/** What each source makes of: nothing special, a suspension, a pause, a run that goes on. */
const ROWS: readonly (readonly [string, string, string, string, string])[] = [
  ["cron", "missed deadline", "nothing suspended", "nothing paused", "missed deadline"],
  ["interval", "start by 00:01:30", "nothing suspended", "nothing paused", "nothing busy"],
  ["hint-interval", "start by 00:01:30", "nothing suspended", "nothing paused", "nothing busy"],
  ["hint-oneshot", "start by 00:01:30", "nothing suspended", "nothing paused", "nothing busy"],
  ["reboot", "missed deadline", "nothing suspended", "nothing paused", "missed deadline"],
  ["manual", "start by 00:01:30", "start by 00:01:30", "start by 00:01:30", "start by 00:01:30"],
];

describe("S21: the checks of a source", () => {
  test.each(ROWS)("%s, half a minute late", (source, usual, suspended, paused, busy) => {
    const occasion = OCCASIONS[source] as Occasion;
    const isHeld = { ...STANDING, pausedUntilAt: NOW + 1 };
    expect([
      said(verdict(STANDING, occasion, POLICY, [], NOW, USUAL)),
      said(verdict(STANDING, occasion, { ...POLICY, suspend: true }, [], NOW, USUAL)),
      said(verdict(isHeld, occasion, POLICY, [], NOW, USUAL)),
      said(verdict(STANDING, occasion, { ...POLICY, concurrency: "forbid" }, RUNNING, NOW, USUAL)),
    ]).toEqual([usual, suspended, paused, busy]);
  });

  test.each(Object.keys(OCCASIONS))("S40: %s is taken once it was claimed, and too late is judged again", (source) => {
    const occasion = OCCASIONS[source] as Occasion;
    const taken =
      source === "cron" ? { ...STANDING, lastHandledAt: at(SLOT) } : { ...STANDING, slots: { [source]: SLOT } };
    const late = claimVerdict(STANDING, occasion, POLICY, [], NOW, NOW - 1_000);
    expect(said(claimVerdict(taken, occasion, POLICY, [], NOW, NOW))).toBe("nothing already_handled");
    expect(said(late)).toBe(source === "cron" || source === "reboot" ? "missed late_start" : "nothing busy");
  });
});

test.each([
  ["cron", null, true, true, false],
  ["interval", "interval", false, true, false],
  ["hint-oneshot", "hint-oneshot", false, true, false],
  ["reboot", "reboot", false, true, false],
  ["manual", "manual", false, false, true],
] as const)("%s: how it is recorded, and what is asked of that", (source, recorded, isOfPeriod, isOwn, isAsked) => {
  const on = recordedSource(source);
  expect([on, isPeriod(on), isOwnSource(on), isAskedSource(on)]).toEqual([recorded, isOfPeriod, isOwn, isAsked]);
});
