/** S40, S41: what `why` says of runs that come from no period, and of periods that a hint stands in for. */
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { decide } from "../../../src/core/decision/decide.js";
import { toDecisionRecord } from "../../../src/core/decision/record.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { newDocument } from "../../../src/core/state/document.js";
import { refusedBy } from "../../../src/core/why/constraints.js";
import { currentAt } from "../../../src/core/why/current.js";
import type { WhyFacts } from "../../../src/core/why/facts.js";
import { readLedgerEntry } from "../../../src/core/why/records.js";
import { whyCurrent, whyPeriod } from "../../../src/core/why/why.js";
import { rowsOf } from "../../../src/operations/records/history.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const SLOT = "2026-03-01T12:00:30Z";

function facts(schedule: string, more: Partial<WhyFacts> = {}): WhyFacts {
  const definition = requireOk(readJobDefinition({ identity: "a", schedule, command: ["/bin/true"] }));
  return {
    identity: "a",
    daemon: "running",
    nominalAt: at(SLOT),
    now: at("2026-03-01T12:10:00Z"),
    versions: [{ definedAt: at("2026-03-01T06:00:00Z"), definition }],
    document: newDocument("a"),
    entries: [],
    spans: [{ bootedAt: at("2026-03-01T00:00:00Z"), at: at("2026-03-01T12:10:00Z") }],
    keptFromAt: at("2026-02-01T00:00:00Z"),
    ...more,
  };
}

function ran(source: string, slot: string, more: object = {}) {
  const begun = { period_id: slot, source, pid: 7, started_at: slot };
  const text = JSON.stringify({ ...begun, ended_at: "2026-03-01T12:01:00Z", exit_code: 0, signal: null, ...more });
  const entry = readLedgerEntry({ at: at(slot), kind: `run:${source}`, text });
  return entry === null ? [] : [entry];
}

describe("S40: a slot", () => {
  test.each([
    ["interval", "@every 90s", "executed by its interval"],
    ["hint-interval", "0 * * * *", "executed by an interval hint"],
    ["hint-oneshot", "0 * * * *", "executed by a one-shot hint"],
    ["manual", "0 * * * *", "executed by hand"],
  ])("of %s is answered from the ledger", (source, schedule, text) => {
    const answer = whyPeriod(facts(schedule, { entries: ran(source, SLOT) }));
    expect(answer).toMatchObject({ kind: "executed", run: { pid: 7, exit_code: 0 } });
    expect(answer.text).toContain(`${text}: started ${SLOT}, ended 2026-03-01T12:01:00Z, exit code 0`);
  });

  test("that runs is told as running", () => {
    const active = { PeriodID: SLOT, PID: 9, StartedAt: SLOT, ChosenTime: SLOT, Source: "manual" };
    const document = { ...newDocument("a"), ActiveExecution: active };
    const answer = whyPeriod(facts("0 * * * *", { document, entries: ran("manual", SLOT, { ended_at: null }) }));
    expect(answer).toMatchObject({ kind: "running", text: `running by hand since ${SLOT} (PID 9)` });
  });

  test("that only the document knows is answered from it", () => {
    const document = { ...newDocument("a"), LastSlot: { interval: SLOT } };
    const answer = whyPeriod(facts("@every 90s", { document }));
    expect(answer).toMatchObject({ kind: "executed", text: expect.stringContaining("by its interval") });
  });

  test("that never was: the nearest that were", () => {
    const entries = ["2026-03-01T11:59:00Z", "2026-03-01T12:02:00Z", "2026-03-01T09:00:00Z"].flatMap((slot) => {
      return ran("interval", slot);
    });
    const nearest = ["2026-03-01T11:59:00Z", "2026-03-01T12:02:00Z"];
    const answer = whyPeriod(facts("@every 90s", { entries }));
    expect(answer).toMatchObject({ kind: "not_a_period", nearest });
    expect(answer.text).toContain(`; the nearest are ${nearest.join(" and ")}`);
    expect(whyPeriod(facts("@every 90s")).text).toContain("; the nearest is not on record");
    expect(whyPeriod(facts("0 * * * *", { entries })).text).toContain("; runs beside it: 2026-03-01T11:59:00Z");
  });
});

describe("S41: a period that a hint stands in for", () => {
  const about = { ExpiresAt: "2026-03-01T13:00:00Z", SetAt: "2026-03-01T11:30:00Z", Reason: "a deployment" };
  const document = { ...newDocument("a"), Hints: { Interval: { IntervalMs: 30_000, ...about } } };
  const noon = { nominalAt: at("2026-03-01T12:00:00Z"), document };

  test("says by which hint, until when, and why", () => {
    expect(whyPeriod(facts("0 * * * *", noon))).toMatchObject({
      kind: "not_evaluated",
      reason: "hinted",
      from: "2026-03-01T11:30:00Z",
      until: "2026-03-01T13:00:00Z",
      text: expect.stringContaining("the hint every 30s, until 2026-03-01T13:00:00Z: a deployment"),
    });
  });

  test("one that was due before the hint is still being started", () => {
    const later = { Interval: { IntervalMs: 30_000, ...about, SetAt: "2026-03-01T12:05:00Z" } };
    const answer = whyPeriod(facts("0 * * * *", { ...noon, document: { ...newDocument("a"), Hints: later } }));
    expect(answer.kind).toBe("waiting");
  });

  test("when it is over, the gap on record names it", () => {
    const gap = { first: "2026-03-01T12:00:00Z", last: "2026-03-01T12:00:00Z", count: 1, is_count_exact: true };
    const hint = { hint: "interval", interval_ms: 30_000, expires_at: "2026-03-01T12:05:00Z", reason: "a deployment" };
    const text = JSON.stringify({ at: "2026-03-01T12:05:00Z", ...gap, reason: "hinted", hint });
    const entry = readLedgerEntry({ at: at("2026-03-01T12:00:00Z"), kind: "gap", text });
    const entries = entry === null ? [] : [entry];
    const answer = whyPeriod(facts("0 * * * *", { nominalAt: at("2026-03-01T12:00:00Z"), entries }));
    expect(answer.text).toContain("a hint stood in for the schedule, the hint every 30s, until 2026-03-01T12:05:00Z");
  });
});

describe("S46: a slot that cannot be started", () => {
  const Since = "2026-03-01T12:00:31Z";
  const StartFailure = { Source: "interval", Slot: SLOT, Code: "command-not-found", Since };
  const document = { ...newDocument("a"), StartFailure };
  const CAUSE = `since ${Since} it could not be started: the command does not exist (command-not-found)`;

  test("is what is said of its job now", () => {
    const nominalAt = at("2026-03-01T12:10:00Z");
    const answer = whyCurrent(facts("@every 90s", { document, nominalAt }));
    expect(answer).toMatchObject({ kind: "waiting", reason: "not_started:command-not-found", period_id: SLOT });
    expect(answer.text).toBe(`due since ${SLOT} by its interval, and not started: ${CAUSE}; it is tried again`);
    const none = whyCurrent(facts("@every 90s", { document, nominalAt, daemon: "none" }));
    expect(none.text).toContain("no daemon runs that would try it again");
  });

  test("is said beside what became of a period", () => {
    const hinted = { ...newDocument("a"), StartFailure: { ...StartFailure, Source: "hint-interval" } };
    const answer = whyCurrent(facts("0 * * * *", { document: hinted, nominalAt: at("2026-03-01T12:00:00Z") }));
    expect(answer.text).toContain(`; due since ${SLOT} by an interval hint, and not started: ${CAUSE}`);
  });

  test("is found by its instant, also when it is not wanted any more", () => {
    expect(whyPeriod(facts("@every 90s", { document })).kind).toBe("waiting");
    const text = JSON.stringify({ at: Since, source: "hint-interval", reason: "not_started:command-not-found" });
    const entry = readLedgerEntry({ at: at(SLOT), kind: "start_failed:hint-interval", text });
    const answer = whyPeriod(facts("0 * * * *", { entries: entry === null ? [] : [entry] }));
    expect(answer).toMatchObject({ kind: "not_evaluated", reason: "not_started:command-not-found" });
    expect(answer.text).toContain(
      "due by an interval hint, and never started: from 2026-03-01T12:00:31Z on it could not",
    );
  });

  test("that was started after all is told as its run", () => {
    const text = JSON.stringify({ at: Since, source: "interval", reason: "not_started:command-not-found" });
    const entry = readLedgerEntry({ at: at(SLOT), kind: "start_failed:interval", text });
    const entries = [...(entry === null ? [] : [entry]), ...ran("interval", SLOT)];
    expect(whyPeriod(facts("@every 90s", { entries })).kind).toBe("executed");
  });

  test.each(["{", "{}", '{"source":1,"reason":"x"}'])("a record that cannot be read says nothing: %s", (text) => {
    expect(readLedgerEntry({ at: at(SLOT), kind: "start_failed:interval", text })).toBeNull();
  });
});

describe("S24: a period that is tried again", () => {
  const NOON = "2026-03-01T12:00:00Z";
  const Since = "2026-03-01T12:00:01Z";
  const StartFailure = { Source: "cron", Slot: NOON, Code: "command-not-found", Since };
  const document = { ...newDocument("a"), StartFailure };
  const CAUSE = `it is due, and cannot be started: since ${Since} it could not be started: the command does not exist (command-not-found)`;
  const tried = (more: Partial<WhyFacts> = {}) => {
    const policy = { deadline: "3h" };
    const definition = requireOk(
      readJobDefinition({ identity: "a", schedule: "0 * * * *", command: ["/bin/x"], policy }),
    );
    const versions = [{ definedAt: at("2026-03-01T06:00:00Z"), definition }];
    return { ...facts("0 * * * *", { nominalAt: at(NOON), document, ...more }), versions };
  };

  test("says what stands in its way, and until when it is tried", () => {
    const answer = whyCurrent(tried());
    expect(answer).toMatchObject({ kind: "waiting", reason: "not_started:command-not-found" });
    expect(answer.text).toBe(`${CAUSE}; it is tried again until 2026-03-01T13:00:00Z`);
  });

  test("says it also while nobody can try it", () => {
    const stopping = whyCurrent(tried({ daemon: "stopping" }));
    expect(stopping).toMatchObject({ kind: "waiting", reason: "stopping" });
    expect(stopping.text).toContain(`${CAUSE}, but the daemon is stopping`);
    const none = whyCurrent(tried({ daemon: "none" }));
    expect(none).toMatchObject({ kind: "waiting", reason: "no_daemon" });
    expect(none.text).toContain(`${CAUSE}, but no daemon runs`);
  });

  test("is what is asked about without an instant, and said beside another period", () => {
    expect(currentAt(tried().versions, document, at("2026-03-01T12:59:00Z"))).toBe(at(NOON));
    const answer = whyCurrent(tried({ nominalAt: at("2026-03-01T13:00:00Z") }));
    expect(answer.text).toContain(`; due since ${NOON} by its schedule, and not started: since ${Since}`);
  });
});

describe("S40: a job without periods, asked about without an instant", () => {
  const versions = facts("@every 90s").versions;
  const now = at("2026-03-01T12:10:00Z");
  const LastSlot = { interval: "2026-03-01T12:09:00Z", manual: "2026-03-01T12:05:00Z" };
  const document = { ...newDocument("a"), LastSlot, LastRunAt: "2026-03-01T12:09:00Z" };

  test("the last run, and when the next one is due", () => {
    const nominalAt = currentAt(versions, document, now);
    expect(nominalAt).toBe(at("2026-03-01T12:09:00Z"));
    const entries = ran("interval", "2026-03-01T12:09:00Z", { ended_at: "2026-03-01T12:09:02Z" });
    const answer = whyCurrent(facts("@every 90s", { document, nominalAt, entries }));
    expect(answer.kind).toBe("executed");
    expect(answer.text).toMatch(/^executed by its interval: .*exit code 0; the next is due at 2026-03-01T12:10:30Z$/);
  });

  test("before there was one, the first that is to come", () => {
    const fresh = { ...newDocument("a"), DefinedAt: "2026-03-01T12:09:30Z" };
    const nominalAt = currentAt(versions, fresh, now);
    const answer = whyCurrent(facts("@every 90s", { document: fresh, nominalAt }));
    expect(answer).toMatchObject({ kind: "not_yet", period_id: "2026-03-01T12:11:00Z" });
    expect(answer.text).toBe("not yet: due at 2026-03-01T12:11:00Z by its interval");
  });

  test("the slot that cannot be started comes before the last run; a boot is found by the moment", () => {
    const StartFailure = { Source: "interval", Slot: SLOT, Code: "command-not-found", Since: SLOT };
    expect(currentAt(versions, { ...document, StartFailure }, now)).toBe(at(SLOT));
    expect(currentAt(facts("@reboot").versions, { ...document, StartFailure }, now)).toBe(now);
    expect(currentAt([], null, now + 1)).toBe(now);
  });
});

test("S15: a period in which no second was found names the constraints that refused them", () => {
  const clauses = { only: "dow=MON;hours=3", avoid: "" };
  const definition = requireOk(
    readJobDefinition({
      identity: "a",
      schedule: "0 12 * * *",
      window: { duration: "1h" },
      constraints: { only: clauses.only },
      command: ["/bin/x"],
    }),
  );
  const compiled = compileRule(definition);
  const nominalAt = at("2026-03-01T12:00:00Z");
  const decision = toDecisionRecord(compiled, decide(compiled, nominalAt), { tzVersion: "x", engineVersion: "1" });
  expect(refusedBy(decision)).toBe("all of them refused by only dow=MON");
  expect(refusedBy({ ...decision, unschedulable: false })).toBeNull();
  const text = JSON.stringify({ outcome: "unschedulable", reason: decision.reason, at: SLOT, decision });
  const entry = readLedgerEntry({ at: nominalAt, kind: "period", text });
  const entries = entry === null ? [] : [entry];
  const answer = whyPeriod(facts("0 12 * * *", { nominalAt, entries }));
  expect(answer.text).toContain("within 64 attempts, all of them refused by only dow=MON (recorded at");
  expect(rowsOf(entries)).toMatchObject([
    { reason: decision.reason, refused_by: "all of them refused by only dow=MON" },
  ]);
});
