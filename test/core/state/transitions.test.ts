import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../../src/core/decision/model.js";
import type { RunKey } from "../../../src/core/period/policy.js";
import { define, pause, resume, retire, rewind } from "../../../src/core/state/definition-transitions.js";
import { activeRuns, activeStates, keyOf, newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { EXIT_UNSEEN, START_UNCONFIRMED } from "../../../src/core/state/ending.js";
import {
  type Claimed,
  claimPeriod,
  claimSlot,
  closePeriod,
  fencePeriod,
} from "../../../src/core/state/period-transitions.js";
import { completeRun, confirmRun } from "../../../src/core/state/run-transitions.js";
import { sealed, type Transition } from "../../../src/core/state/transition.js";
import { at, birthAt, decisionOf, IDENTITY } from "../../support/scheduling.js";

const P1 = decisionOf("2026-03-01T00:00:00Z", "2026-03-01T02:00:00Z");
const P2 = decisionOf("2026-03-02T00:00:00Z", "2026-03-02T02:00:00Z");
const P3 = decisionOf("2026-03-03T00:00:00Z", "2026-03-03T02:00:00Z");
const DARK = decisionOf("2026-03-04T00:00:00Z", null);
const NOW = at("2026-03-01T02:00:00.700Z");
const LATER = at("2026-03-01T03:00:00Z");
const LIMIT = 5;
const EMPTY = newDocument(IDENTITY);
const SUCCESS = { kind: "exited", code: 0, signal: null, reason: null } as const;

const process = (pid: number): Claimed => ({
  attemptId: `a${pid}`,
  holder: { kind: "process", pid, startTicks: pid * 10, bootId: "b" },
});
const run = (decision: Decision, pid: number): RunKey => ({
  attemptId: null,
  source: null,
  periodId: decision.periodId,
  pid,
});
const claimed = (document: StateDocument, decision: Decision, pid: number): StateDocument =>
  claimPeriod(document, decision, process(pid), NOW).document;
const pids = (document: StateDocument): readonly number[] => activeStates(document).map((active) => active.PID);
const factKinds = (transition: Transition): readonly string[] => transition.facts.map((fact) => fact.kind);

describe("claim", () => {
  const { document, facts } = claimPeriod(EMPTY, P1, process(7), NOW);

  test("S22: outcome and active execution are one transition, from the start", () => {
    expect(document).toEqual({
      ...EMPTY,
      LastHandledPeriodID: "2026-03-01T00:00:00Z",
      LastOutcome: "executed",
      LastChosenTime: "2026-03-01T02:00:00Z",
      LastNominalTime: "2026-03-01T00:00:00Z",
      ActiveExecution: {
        PeriodID: "2026-03-01T00:00:00Z",
        PID: 7,
        StartedAt: "2026-03-01T02:00:00Z",
        ChosenTime: "2026-03-01T02:00:00Z",
        PIDStartTicks: 70,
        BootID: "b",
        AttemptID: "a7",
      },
      LastRunAt: "2026-03-01T02:00:00Z",
    });
  });

  test("S36: the ledger learns the outcome and the start", () => {
    const common = { identity: IDENTITY, at: NOW };
    expect(facts).toEqual([
      {
        ...common,
        kind: "outcome",
        periodId: P1.periodId,
        outcome: "executed",
        reason: null,
        nominalAt: P1.nominalAt,
        chosenAt: P1.chosenAt,
      },
      { ...common, kind: "run_started", run: { ...run(P1, 7), attemptId: "a7" }, holder: "process" },
    ]);
  });

  test("S26: the newest is ActiveExecution, older ones follow newest first", () => {
    expect(pids(claimed(claimed(document, P2, 8), P3, 9))).toEqual([9, 8, 7]);
  });

  test("S40: a slot counts as active and handles nothing", () => {
    const slot = claimSlot(
      document,
      { source: "manual", slotAt: at("2026-03-01T02:30:00.250Z"), ...process(8), aftermath: null },
      NOW,
    );
    expect(activeRuns(slot.document).map((active) => [active.source, active.periodId])).toEqual([
      ["manual", "2026-03-01T02:30:00.250Z"],
      [null, P1.periodId],
    ]);
    expect([
      slot.document.LastHandledPeriodID,
      slot.document.LastOutcome,
      slot.document.LastSlot,
      factKinds(slot),
    ]).toEqual([P1.periodId, "executed", { manual: "2026-03-01T02:30:00.250Z" }, ["run_started"]]);
  });
});

describe("broken invariants", () => {
  const handled = claimed(EMPTY, P2, 7);
  const slot = claimSlot(EMPTY, { source: "manual", slotAt: NOW, ...process(1), aftermath: null }, NOW).document;

  test.each<[title: string, attempt: () => unknown]>([
    ["S12: the handled period cannot be claimed again", () => claimed(handled, P2, 8)],
    ["S12: nor an older one", () => claimed(handled, P1, 8)],
    [
      "SPEC terminal outcomes are permanent",
      () => closePeriod(handled, P2, { outcome: "missed", reason: "deadline" }, NOW, LIMIT),
    ],
    ["an unschedulable period cannot be claimed", () => claimed(EMPTY, DARK, 8)],
    [
      "S40: a slot is claimed once",
      () => claimSlot(slot, { source: "manual", slotAt: NOW, ...process(2), aftermath: null }, NOW),
    ],
    [
      "S40: nor an older slot of its source",
      () => claimSlot(slot, { source: "manual", slotAt: NOW - 1, ...process(2), aftermath: null }, NOW),
    ],
    ["S32: a rewind cannot go forward", () => rewind(handled, P3.nominalAt, P1.nominalAt, "op", NOW)],
    ["S32: nor behind the current period", () => rewind(handled, P1.nominalAt, P2.nominalAt, "op", NOW)],
    ["S32: nor where nothing was handled", () => rewind(EMPTY, P1.nominalAt, P1.nominalAt, "op", NOW)],
  ])("%s", (_title, attempt) => {
    expect(attempt).toThrow("invariant broken");
  });
});

describe("every transition is sealed", () => {
  const known = claimed(EMPTY, P2, 7);

  test.each<[title: string, next: StateDocument]>([
    ["S12: LastHandledPeriodID going back", { ...known, LastHandledPeriodID: P1.periodId }],
    ["S12: LastHandledPeriodID forgotten", { ...known, LastHandledPeriodID: "" }],
    ["STATE identity: another's document", { ...known, Identity: "test/other" }],
  ])("refused: %s", (_title, next) => {
    expect(() => sealed(known, next)).toThrow("invariant broken");
  });
});

describe("skipped, missed, unschedulable", () => {
  test("S43: what is handled after it takes the place of what was to be tried again", () => {
    const waiting: StateDocument = {
      ...claimed(EMPTY, P1, 7),
      Retry: { PeriodID: P1.periodId, Attempt: 2, At: "2026-03-01T02:10:00Z" },
    };
    expect(claimPeriod(waiting, P2, process(8), LATER).document.Retry).toBeUndefined();
    const closed = closePeriod(waiting, P2, { outcome: "missed", reason: "deadline" }, LATER, LIMIT);
    expect(closed.document.Retry).toBeUndefined();
  });

  test.each([
    ["STATE deadline interaction", P2, { outcome: "missed", reason: "deadline" }, "2026-03-02T02:00:00Z"],
    ["S20", P2, { outcome: "missed", reason: "late_start" }, "2026-03-02T02:00:00Z"],
    ["S13", P2, { outcome: "missed", reason: "superseded" }, "2026-03-02T02:00:00Z"],
    ["STATE concurrency interaction", P2, { outcome: "skipped", reason: "concurrency_forbid" }, "2026-03-02T02:00:00Z"],
    ["STATE unschedulable period", DARK, { outcome: "unschedulable", reason: "no candidate" }, ""],
  ] as const)("%s: $2.outcome is recorded and what runs is not touched (S22)", (_title, decision, closing, chosen) => {
    const running = claimed(EMPTY, P1, 7);
    const { document, facts } = closePeriod(running, decision, closing, LATER, LIMIT);
    expect(document).toEqual({
      ...running,
      LastHandledPeriodID: decision.periodId,
      LastOutcome: closing.outcome,
      LastChosenTime: chosen,
      LastNominalTime: decision.periodId,
      LastReason: closing.reason,
      History: [
        {
          PeriodID: decision.periodId,
          Outcome: closing.outcome,
          NominalTime: decision.periodId,
          ChosenTime: chosen,
          CompletedAt: "2026-03-01T03:00:00Z",
          ExitCode: null,
          Reason: closing.reason,
        },
      ],
    });
    expect(facts.map((fact) => fact.kind === "outcome" && [fact.outcome, fact.reason])).toEqual([
      [closing.outcome, closing.reason],
    ]);
  });

  test("S32: a fence handles the current period, so that corruption starts nothing twice", () => {
    const { document } = fencePeriod(EMPTY, P2, NOW, LIMIT);
    expect([document.LastHandledPeriodID, document.LastOutcome, document.LastReason]).toEqual([
      P2.periodId,
      "skipped",
      "state_recovered",
    ]);
  });

  test("the reason of an earlier outcome does not stick to a later one", () => {
    const missed = closePeriod(EMPTY, P1, { outcome: "missed", reason: "deadline" }, NOW, LIMIT).document;
    expect(claimed(missed, P2, 7)).not.toHaveProperty("LastReason");
  });
});

describe("completion", () => {
  const three = claimed(claimed(claimed(EMPTY, P1, 1), P2, 2), P3, 3);

  test("STATE history: exit code and times are kept, ActiveExecution is cleared", () => {
    const { document, facts } = completeRun(claimed(EMPTY, P1, 7), run(P1, 7), { ...SUCCESS, code: 3 }, LATER, LIMIT);
    expect([document.ActiveExecution, document.History]).toEqual([
      null,
      [
        {
          PeriodID: P1.periodId,
          Outcome: "executed",
          NominalTime: P1.periodId,
          ChosenTime: "2026-03-01T02:00:00Z",
          CompletedAt: "2026-03-01T03:00:00Z",
          ExitCode: 3,
          StartedAt: "2026-03-01T02:00:00Z",
        },
      ],
    ]);
    expect(facts).toEqual([
      {
        kind: "run_ended",
        identity: IDENTITY,
        run: run(P1, 7),
        holder: "process",
        ending: { ...SUCCESS, code: 3 },
        endedAt: LATER,
        at: LATER,
      },
    ]);
  });

  test.each<[title: string, ended: RunKey, left: readonly number[]]>([
    ["S26: the newest ended: the next moves up", run(P3, 3), [2, 1]],
    ["S26: one in between ended", run(P2, 2), [3, 1]],
    ["S26: the oldest ended", run(P1, 1), [3, 2]],
    ["S22: own only: another process of the period", run(P3, 99), [3, 2, 1]],
    ["S22: own only: the same PID of another period", run(P1, 3), [3, 2, 1]],
    ["S22: own only: the same period and PID of another source", { ...run(P3, 3), source: "manual" }, [3, 2, 1]],
  ])("%s", (_title, ended, left) => {
    expect(pids(completeRun(three, ended, SUCCESS, LATER, LIMIT).document)).toEqual(left);
  });

  test("S22: a second report of the same end changes nothing", () => {
    const once = completeRun(three, run(P2, 2), SUCCESS, LATER, LIMIT).document;
    const twice = completeRun(once, run(P2, 2), SUCCESS, LATER, LIMIT);
    expect([twice.document === once, twice.facts]).toEqual([true, []]);
  });

  test("S12: a late completion of an old run leaves what was handled since", () => {
    const { document } = completeRun(three, run(P1, 1), SUCCESS, LATER, LIMIT);
    expect([document.LastHandledPeriodID, document.LastOutcome]).toEqual([P3.periodId, "executed"]);
  });

  test("STATE crash recovery: success is never assumed: a run nobody saw begin is unconfirmed (S23)", () => {
    const { document } = completeRun(claimed(EMPTY, P1, 7), run(P1, 7), START_UNCONFIRMED, LATER, LIMIT);
    expect([document.ActiveExecution, document.History[0]?.ExitCode, document.History[0]?.Reason]).toEqual([
      null,
      null,
      "start_unconfirmed",
    ]);
  });

  test("S29: an exit code nobody saw is null", () => {
    const confirmed = confirmRun(claimed(EMPTY, P1, 7), run(P1, 7));
    const { document } = completeRun(confirmed, run(P1, 7), EXIT_UNSEEN, LATER, LIMIT);
    expect([document.History[0]?.ExitCode, document.History[0]?.Reason]).toEqual([null, EXIT_UNSEEN.reason]);
  });

  test("S23: a confirmation concerns its own run only, and once", () => {
    const confirmed = confirmRun(three, run(P2, 2));
    expect(activeStates(confirmed).map((active) => active.Confirmed)).toEqual([undefined, true, undefined]);
    expect(confirmRun(confirmed, run(P2, 2))).toBe(confirmed);
    expect(confirmRun(confirmed, run(P2, 5))).toBe(confirmed);
  });
});

describe("definitions, pauses, rewinds", () => {
  const known = define(EMPTY, "h1", null, NOW, birthAt(NOW)).document;

  test.each<[title: string, seen: () => Transition, expected: object, facts: readonly string[]]>([
    [
      "S14: first sight",
      () => define(EMPTY, "h1", null, NOW, birthAt(NOW)),
      { DefinedAt: "2026-03-01T02:00:00Z", DefinitionHash: "h1" },
      ["defined"],
    ],
    [
      "S14: the same again is no change",
      () => define(known, "h1", P1.nominalAt, LATER, birthAt(LATER)),
      { DefinedAt: "2026-03-01T02:00:00Z" },
      [],
    ],
    [
      "S14: an edit carries the live period over",
      () => define(known, "h2", P1.nominalAt, LATER, birthAt(LATER)),
      { DefinedAt: "2026-03-01T03:00:00Z", DefinitionHash: "h2", CarriedPeriodID: P1.periodId },
      ["defined"],
    ],
    [
      "S16: removal keeps the state",
      () => retire(claimed(known, P1, 7), LATER),
      { RemovedAt: "2026-03-01T03:00:00Z", LastHandledPeriodID: P1.periodId },
      ["removed"],
    ],
    [
      "S16: removal twice is once",
      () => retire(retire(known, NOW).document, LATER),
      { RemovedAt: "2026-03-01T02:00:00Z" },
      [],
    ],
    [
      "S14: added again: born again, nothing carried",
      () => define(retire(known, NOW).document, "h1", P1.nominalAt, LATER, birthAt(LATER)),
      { DefinedAt: "2026-03-01T03:00:00Z" },
      ["defined"],
    ],
    [
      "S17: pause with an end and a reason",
      () => pause(EMPTY, LATER, "deploy", NOW),
      { Pause: { Until: "2026-03-01T03:00:00Z", Reason: "deploy" } },
      ["paused"],
    ],
    [
      "S17: a pause that nobody saw begin is not dated, however often it changes",
      () => pause(pause(EMPTY, LATER, "deploy", NOW, false, false).document, LATER + 60_000, "more", NOW, false, false),
      { Pause: expect.not.objectContaining({ Since: expect.anything() }) },
      ["paused"],
    ],
    [
      "S32: a rewind frees what the clock has not reached",
      () => rewind(claimed(EMPTY, P3, 7), P1.nominalAt, P1.nominalAt, "op", NOW),
      { LastHandledPeriodID: P1.periodId, LastReason: "rewound" },
      ["rewound"],
    ],
  ])("%s", (_title, seen, expected, facts) => {
    const transition = seen();
    expect(transition.document).toMatchObject(expected);
    expect(factKinds(transition)).toEqual(facts);
  });

  test.each<[title: string, document: StateDocument, absent: string]>([
    [
      "S16: added again: no tombstone",
      define(retire(known, NOW).document, "h1", null, LATER, birthAt(LATER)).document,
      "RemovedAt",
    ],
    [
      "S14: added again: nothing is carried",
      define(retire(known, NOW).document, "h1", P1.nominalAt, LATER, birthAt(LATER)).document,
      "CarriedPeriodID",
    ],
    [
      "S14: an edit with nothing live forgets the former",
      define(define(known, "h2", P1.nominalAt, NOW, birthAt(NOW)).document, "h3", null, LATER, birthAt(LATER)).document,
      "CarriedPeriodID",
    ],
    ["S17: resumed", resume(pause(EMPTY, LATER, "deploy", NOW).document, NOW).document, "Pause"],
  ])("%s", (_title, document, absent) => {
    expect(document).not.toHaveProperty(absent);
  });
});

describe("any sequence of transitions", () => {
  const decisions = [P1, P2, P3, decisionOf("2026-03-04T00:00:00Z", "2026-03-04T02:00:00Z")];
  const step = fc.record({
    kind: fc.constantFrom("claim", "close", "complete", "slot", "pause", "define"),
    n: fc.nat(3),
    pid: fc.integer({ min: 1, max: 4 }),
  });

  /** Applies what is allowed and leaves out what an invariant forbids, as a caller that checks first would. */
  function apply(document: StateDocument, { kind, n, pid }: { kind: string; n: number; pid: number }): StateDocument {
    const decision = decisions[n] ?? P1;
    const attempts: Readonly<Record<string, () => Transition>> = {
      claim: () => claimPeriod(document, decision, process(pid), NOW),
      close: () => closePeriod(document, decision, { outcome: "missed", reason: "deadline" }, NOW, LIMIT),
      complete: () => completeRun(document, run(decision, pid), SUCCESS, NOW, LIMIT),
      slot: () => claimSlot(document, { source: "manual", slotAt: NOW + n, ...process(pid), aftermath: null }, NOW),
      pause: () => pause(document, LATER, "x", NOW),
      define: () => define(document, `h${n}`, null, NOW, birthAt(NOW)),
    };
    try {
      return attempts[kind]?.().document ?? document;
    } catch (error) {
      expect(String(error)).toContain("invariant broken");
      return document;
    }
  }

  test("STATE invariants: LastHandledPeriodID never decreases, no run is on record twice, history stays bounded", () => {
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let document = EMPTY;
      for (const each of steps) {
        const next = apply(document, each);
        expect(next.LastHandledPeriodID >= document.LastHandledPeriodID).toBe(true);
        const keys = activeStates(next).map((active) => JSON.stringify(keyOf(active)));
        expect(new Set(keys).size).toBe(keys.length);
        expect(next.History.length).toBeLessThanOrEqual(LIMIT);
        document = next;
      }
    });
    fc.assert(property, { seed: 3, numRuns: 300 });
  });
});

test("S43: an answer that asks for a longer rest than the backoff is given it, up to a day", () => {
  const measured = { durationMs: 1, bytes: 0, excerpt: null };
  const timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
  const rule = { limit: 1, backoffMs: 30_000, maxBackoffMs: 30_000, on: ["answered"] } as const;
  const after = (retryAfterMs: number | undefined): string | undefined => {
    const wish = retryAfterMs === undefined ? {} : { retryAfterMs };
    const ending = {
      kind: "answered",
      status: 503,
      isExpected: false,
      reason: null,
      ...wish,
      ...measured,
      timings,
    } as const;
    const document = claimed(EMPTY, P1, 7);
    return completeRun(document, run(P1, 7), ending, LATER, LIMIT, { rule, compiled: null }).document.Retry?.At;
  };
  expect([undefined, 10_000, 90_000, 400 * 86_400_000].map(after)).toEqual([
    "2026-03-01T03:00:30Z",
    "2026-03-01T03:00:30Z",
    "2026-03-01T03:01:30Z",
    "2026-03-02T03:00:00Z",
  ]);
});
