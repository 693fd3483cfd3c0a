/** What becomes of facts in the ledger, and in the lines of the log that tell them. */
import { describe, expect, test } from "vitest";
import { eventOfFact } from "../../../../src/actors/supervisor/write/events.js";
import { ledgerRecordOf } from "../../../../src/actors/supervisor/write/ledger-text.js";
import { define, pause, resume, retire, rewind } from "../../../../src/core/state/definition-transitions.js";
import { newDocument, type StateDocument } from "../../../../src/core/state/document.js";
import type { LedgerFact } from "../../../../src/core/state/facts.js";
import { claimPeriod, claimSlot, closePeriod } from "../../../../src/core/state/period-transitions.js";
import { completeRun } from "../../../../src/core/state/run-transitions.js";
import { readLedgerEntry } from "../../../../src/core/why/records.js";
import { supervisorFields } from "../../../../src/krond/log/event-lines.js";
import { rowsOf } from "../../../../src/operations/records/history.js";
import { at, birthAt, decisionOf, IDENTITY } from "../../../support/scheduling.js";

/** Not a whole second: as every clock is read. */
const NOW = at("2026-03-01T02:00:00.700Z");
const SECOND = "2026-03-01T02:00:00Z";
const SLOT = "2026-03-01T01:59:59.250Z";
const P1 = decisionOf("2026-03-01T00:00:00Z", SECOND);
const P2 = decisionOf("2026-03-02T00:00:00Z", null);
const PROCESS = { attemptId: "a7", holder: { kind: "process", pid: 7, startTicks: 70, bootId: "b" } } as const;
const ENDING = { kind: "exited", code: 0, signal: null, reason: null } as const;
const EMPTY = newDocument(IDENTITY);
const LIMIT = 5;

const claimed = claimPeriod(EMPTY, P1, PROCESS, NOW).document;
const slot = claimSlot(EMPTY, { source: "manual", slotAt: at(SLOT), aftermath: null, ...PROCESS }, NOW).document;
const slotRun = { attemptId: "a7", source: "manual", periodId: SLOT, pid: 7 };
const periodRun = { attemptId: "a7", source: null, periodId: P1.periodId, pid: 7 };
const noted = { identity: IDENTITY, at: NOW };
const ahead: StateDocument = { ...claimed, LastHandledPeriodID: "2026-03-09T00:00:00Z" };

/** Every kind of fact, from the transition that states it. The last column: which of its times is a slot. */
const ROWS: readonly (readonly [kind: string, facts: readonly LedgerFact[], slots: readonly string[]])[] = [
  ["claim of a period", claimPeriod(EMPTY, P1, PROCESS, NOW).facts, []],
  [
    "claim of a slot",
    claimSlot(EMPTY, { source: "manual", slotAt: at(SLOT), ...PROCESS, aftermath: null }, NOW).facts,
    [SLOT],
  ],
  ["end of a period's run", completeRun(claimed, periodRun, ENDING, NOW, LIMIT).facts, []],
  // What ran in it keeps its place within the second.
  ["end of a slot's run", completeRun(slot, slotRun, ENDING, NOW, LIMIT).facts, [SLOT, "2026-03-01T02:00:00.250Z"]],
  ["missed", closePeriod(EMPTY, P1, { outcome: "missed", reason: "deadline" }, NOW, LIMIT).facts, []],
  ["unschedulable", closePeriod(EMPTY, P2, { outcome: "unschedulable", reason: "none" }, NOW, LIMIT).facts, []],
  ["definition", define(EMPTY, "h", null, NOW, birthAt(NOW)).facts, []],
  ["removal", retire(EMPTY, NOW).facts, []],
  ["pause", pause(EMPTY, NOW + 90_001, "x", NOW).facts, []],
  ["resumption", resume(pause(EMPTY, NOW + 1, "x", NOW).document, NOW).facts, []],
  ["rewind", rewind(ahead, P2.nominalAt, P1.nominalAt, "root", NOW).facts, []],
  ["period before its definition", [{ ...noted, kind: "before_definition", periodId: P1.periodId }], []],
  [
    "gap",
    [
      {
        ...noted,
        kind: "periods_not_evaluated",
        firstAt: P1.nominalAt,
        lastAt: P2.nominalAt,
        count: 2,
        isCountExact: true,
      },
    ],
    [],
  ],
];

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?/g;
const WHOLE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Every time in any text that is not one in whole seconds. */
function finerTimesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return (value.match(TIME) ?? []).filter((time) => !WHOLE.test(time));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(finerTimesIn) : [];
}

describe("S1: what is written of a fact has whole seconds; only a slot's own instant may be finer (S40)", () => {
  test.each(ROWS)("%s: in the ledger", (_kind, facts, slots) => {
    const texts = facts.map((fact) => JSON.parse(ledgerRecordOf(fact, EMPTY, null).text) as unknown);
    expect(texts.length).toBeGreaterThan(0);
    expect([...finerTimesIn(texts)].sort()).toEqual(slots);
  });

  test.each(ROWS)("%s: in the log", (_kind, facts, slots) => {
    const lines = facts.map((fact) => supervisorFields(eventOfFact(fact, null)));
    expect(lines.map(({ time }) => time)).toEqual(facts.map(() => SECOND));
    // No line says when a run has ended: it is written then.
    expect(finerTimesIn(lines)).toEqual(slots.filter((time) => time === SLOT));
  });

  test.each(ROWS)("%s: in the history", (_kind, facts, slots) => {
    const entries = facts.flatMap((fact) => readLedgerEntry(ledgerRecordOf(fact, EMPTY, null)) ?? []);
    expect([...finerTimesIn(rowsOf(entries))].sort()).toEqual(slots);
  });
});

describe("S36: the records of one run", () => {
  test("S40: the record of its start and that of its end name the same start, which is not before its slot", () => {
    const [start] = claimSlot(EMPTY, { source: "manual", slotAt: at(SLOT), ...PROCESS, aftermath: null }, NOW).facts;
    const [end] = completeRun(slot, slotRun, ENDING, NOW + 5000, LIMIT).facts;
    const texts = [start, end].map((fact) => {
      return fact === undefined ? null : JSON.parse(ledgerRecordOf(fact, slot, null, slot.ActiveExecution).text);
    });
    expect(texts).toMatchObject([
      { started_at: "2026-03-01T02:00:00.250Z", ended_at: null },
      { started_at: "2026-03-01T02:00:00.250Z", ended_at: "2026-03-01T02:00:05.250Z" },
    ]);
  });

  test("the instant itself stays in the key: two changes within a second are two records", () => {
    const changes = [NOW, NOW + 1].flatMap((now) => pause(EMPTY, NOW + 90_000, "x", now).facts);
    expect(changes.map((fact) => ledgerRecordOf(fact, EMPTY, null).at)).toEqual([NOW, NOW + 1]);
  });
});
