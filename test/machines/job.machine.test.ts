import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newDocument, type StateDocument } from "../../src/core/state/document.js";
import { parseDocument } from "../../src/core/state/parse.js";
import { serialiseDocument } from "../../src/core/state/serialise.js";
import { advance } from "../../src/machines/advance.js";
import { type JobSnapshot, jobMachine, jobSnapshotOf } from "../../src/machines/job.machine.js";
import type { JobEvent } from "../../src/machines/job-logic.js";
import { FULL, NAME } from "../core/state/documents.js";
import { at, birthAt, decisionOf, IDENTITY } from "../support/scheduling.js";

const NOW = at("2026-03-05T00:00:00Z");
const EMPTY = newDocument(IDENTITY);
const P1 = decisionOf("2026-03-02T00:00:00Z", "2026-03-02T02:00:00Z");
const P2 = decisionOf("2026-03-03T00:00:00Z", "2026-03-03T02:00:00Z");
const gate = (pid: number) => ({ kind: "process", pid, startTicks: 5, bootId: "b" }) as const;
const claim = (decision: typeof P1, pid: number): JobEvent => ({
  type: "CLAIM",
  decision,
  holder: gate(pid),
  attemptId: `a${pid}`,
  now: NOW,
});
const ended = (decision: typeof P1, pid: number): JobEvent => ({
  type: "RUN_ENDED",
  run: { attemptId: null, source: null, periodId: decision.periodId, pid },
  ending: { kind: "exited", code: 0, signal: null, reason: null },
  now: NOW,
});
const CLOSE: JobEvent = { type: "CLOSE", decision: P2, closing: { outcome: "missed", reason: "deadline" }, now: NOW };
const SUSPEND: JobEvent = { type: "CONFIGURED", isSuspended: true, historyLimit: 5 };
const UNSUSPEND: JobEvent = { type: "CONFIGURED", isSuspended: false, historyLimit: 5 };
const PAUSE: JobEvent = { type: "PAUSED", untilAt: NOW + 60_000, reason: "deploy", now: NOW };
const tick = (now: number): JobEvent => ({ type: "TICK", now });
const DEFINED: JobEvent = { type: "DEFINED", hash: "h2", carriedAt: null, birth: birthAt(NOW), now: NOW };
const REMOVED: JobEvent = { type: "REMOVED", now: NOW };

const from = (document: StateDocument): JobSnapshot => jobSnapshotOf({ document, historyLimit: 5, isSuspended: false });

function follow(
  events: readonly JobEvent[],
  document = EMPTY,
): { snapshot: JobSnapshot; persisted: readonly string[] } {
  let snapshot = from(document);
  const persisted: string[] = [];
  for (const event of events) {
    const next = advance(jobMachine, snapshot, event);
    snapshot = next.snapshot;
    for (const effect of next.effects) {
      persisted.push(effect.type === "persist" ? effect.params.facts.map((fact) => fact.kind).join("+") : effect.type);
    }
  }
  return { snapshot, persisted };
}

const stateOf = ({ value }: JobSnapshot): string =>
  typeof value === "object" ? `${value.standing} ${value.period} ${value.runs}` : String(value);

describe("job", () => {
  test.each<[title: string, events: readonly JobEvent[], state: string]>([
    ["rests", [], "enabled none idle"],
    ["planned", [{ type: "PLANNED" }], "enabled planned idle"],
    ["eligible", [{ type: "PLANNED" }, { type: "DUE" }], "enabled eligible idle"],
    [
      "S22: a claim is handled and busy at once",
      [{ type: "PLANNED" }, { type: "DUE" }, claim(P1, 7)],
      "enabled none busy",
    ],
    ["S22: missed: handled, nothing runs", [{ type: "PLANNED" }, { type: "DUE" }, CLOSE], "enabled none idle"],
    ["completed", [claim(P1, 7), ended(P1, 7)], "enabled none idle"],
    ["S22: own only: another's end leaves it busy", [claim(P1, 7), ended(P1, 8)], "enabled none busy"],
    ["S26: busy until the last has ended", [claim(P1, 7), claim(P2, 8), ended(P1, 7)], "enabled none busy"],
    ["S17: suspended", [SUSPEND], "suspended none idle"],
    ["S17: resumed", [SUSPEND, UNSUSPEND], "enabled none idle"],
    ["S17: paused", [PAUSE], "paused none idle"],
    ["S17: suspend > pause", [PAUSE, SUSPEND], "suspended none idle"],
    ["S17: the pause is still there afterwards", [PAUSE, SUSPEND, UNSUSPEND], "paused none idle"],
    ["S17: a pause lasts to its end", [PAUSE, tick(NOW + 59_999)], "paused none idle"],
    ["S17: and ends by itself", [PAUSE, tick(NOW + 60_000)], "enabled none idle"],
    ["S17: or when it is lifted", [PAUSE, { type: "RESUMED", now: NOW }], "enabled none idle"],
    ["S16: removed, and still watching", [claim(P1, 7), REMOVED], "removed none busy"],
    ["S16: added again", [DEFINED, REMOVED, DEFINED], "enabled none idle"],
  ])("%s", (_title, events, state) => {
    expect(stateOf(follow(events).snapshot)).toBe(state);
  });

  test.each<[title: string, events: readonly JobEvent[], persisted: readonly string[]]>([
    ["S22: outcome and start are one write", [claim(P1, 7)], ["outcome+run_started"]],
    [
      "S23: a confirmation is no write of its own",
      [claim(P1, 7), { type: "RUN_CONFIRMED", run: { attemptId: null, source: null, periodId: P1.periodId, pid: 7 } }],
      ["outcome+run_started"],
    ],
    ["completion", [claim(P1, 7), ended(P1, 7)], ["outcome+run_started", "run_ended"]],
    ["planning writes nothing: decisions are not persisted", [{ type: "PLANNED" }, { type: "DUE" }, SUSPEND], []],
    ["S17: pause and its end", [PAUSE, tick(NOW + 60_000)], ["paused", "resumed"]],
    ["S14, S16", [DEFINED, REMOVED], ["defined", "removed"]],
  ])("persists: %s", (_title, events, persisted) => {
    expect(follow(events).persisted).toEqual(persisted);
  });

  test("S23: the write of a claim names its attempt; no other does", () => {
    const { snapshot, effects } = advance(jobMachine, from(EMPTY), claim(P1, 7));
    const later = advance(jobMachine, snapshot, ended(P1, 7)).effects;
    expect([...effects, ...later].map((effect) => effect.type === "persist" && effect.params.claimedBy)).toEqual([
      "a7",
      null,
    ]);
  });

  test("STATE invariants: a claim of a handled period is a broken invariant, not a second run", () => {
    expect(() => follow([claim(P2, 7), claim(P1, 8)])).toThrow("invariant broken");
  });
});

describe("snapshot and document", () => {
  test("a document becomes a snapshot and the same document again", () => {
    expect(from(FULL).context.document).toBe(FULL);
  });

  const event = fc.constantFrom<JobEvent>(
    ...[claim(P1, 7), claim(P2, 8), CLOSE, ended(P1, 7), ended(P2, 8), PAUSE, tick(NOW + 60_000), DEFINED, REMOVED],
    { type: "CLAIM_SLOT", aftermath: null, source: "manual", slotAt: NOW, holder: gate(9), attemptId: "a9", now: NOW },
    { type: "RESUMED", now: NOW },
  );

  test("no loss: what a snapshot becomes through the text of its document behaves as the snapshot", () => {
    const property = fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const { snapshot } = followAllowed(events);
      const read = parseDocument(serialiseDocument(snapshot.context.document), NAME);
      const restored = from(read.ok ? read.value : EMPTY);
      expect([restored.context.document, stateOf(restored)]).toEqual([snapshot.context.document, stateOf(snapshot)]);
    });
    fc.assert(property, { seed: 17, numRuns: 200 });
  });

  test("monotonic: no sequence of events moves LastHandledPeriodID back or changes an outcome", () => {
    const property = fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const handled = events.map((_, index) => followAllowed(events.slice(0, index + 1)).snapshot.context.document);
      for (const [index, document] of handled.entries()) {
        const before = handled[index - 1] ?? EMPTY;
        expect(document.LastHandledPeriodID >= before.LastHandledPeriodID).toBe(true);
        const isSame = document.LastHandledPeriodID === before.LastHandledPeriodID;
        expect(isSame ? document.LastOutcome : before.LastOutcome).toBe(before.LastOutcome);
      }
    });
    fc.assert(property, { seed: 18, numRuns: 100 });
  });

  /** Leaves out the events that the caller must not send: a second claim of what is handled. */
  function followAllowed(events: readonly JobEvent[]): { snapshot: JobSnapshot } {
    let snapshot = from(EMPTY);
    for (const next of events) {
      try {
        ({ snapshot } = advance(jobMachine, snapshot, next));
      } catch (error) {
        expect(String(error)).toContain("invariant broken");
      }
    }
    return { snapshot };
  }
});
