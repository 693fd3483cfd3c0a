/** C12, S32: what was due when the store may have forgotten something counts as handled, whatever it comes from, and nothing else. */
import { describe, expect, test } from "vitest";
import { compileRule } from "../../../src/core/decision/compile.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { type FenceRules, fenceDocument } from "../../../src/core/state/fence.js";
import { requireOk } from "../../support/results.js";
import { at } from "../../support/scheduling.js";

const UP_TO = at("2026-03-05T12:00:00Z");
const RULES: FenceRules = {
  upToAt: UP_TO,
  now: UP_TO + 1_000,
  reason: "failover_fenced",
  bootId: "boot-2",
  historyLimit: 10,
};

function compiled(more: Readonly<Record<string, unknown>>) {
  const raw = { identity: "a", command: ["/bin/true"], timezone: "UTC", ...more };
  return compileRule(requireOk(readJobDefinition(raw)));
}

function known(more: Partial<StateDocument>): StateDocument {
  return { ...newDocument("a"), DefinedAt: "2026-01-01T00:00:00Z", ...more };
}

const handled = (id: string): Partial<StateDocument> => ({
  LastHandledPeriodID: id,
  LastOutcome: "executed",
  LastChosenTime: id,
  LastNominalTime: id,
});
const HOURLY = compiled({ schedule: "0 * * * *" });
const EVERY = compiled({ schedule: "@every 10m" });
const kindsOf = ({ facts }: ReturnType<typeof fenceDocument>): readonly string[] => facts.map(({ kind }) => kind);

describe("periods", () => {
  test("C12: the newest that was due is closed, those before it are told of together", () => {
    const fenced = fenceDocument(known(handled("2026-03-05T09:00:00Z")), HOURLY, RULES);
    expect(fenced.document).toMatchObject({
      LastHandledPeriodID: "2026-03-05T12:00:00Z",
      LastOutcome: "skipped",
      LastReason: "failover_fenced",
    });
    expect(fenced.facts).toEqual([
      expect.objectContaining({ kind: "outcome", outcome: "skipped", reason: "failover_fenced" }),
      expect.objectContaining({
        kind: "periods_not_evaluated",
        firstAt: at("2026-03-05T10:00:00Z"),
        lastAt: at("2026-03-05T11:00:00Z"),
        count: 2,
        reason: "failover_fenced",
      }),
    ]);
  });

  test("one whose chosen time is still to come runs: nobody can have begun it", () => {
    const late = compiled({ schedule: "0 * * * *", window: { mode: "after", duration: "59m" } });
    const document = known(handled("2026-03-05T11:00:00Z"));
    expect(fenceDocument(document, late, RULES).document).toBe(document);
  });

  test("what is on record stays, and fencing again changes nothing", () => {
    const document = known(handled("2026-03-05T12:00:00Z"));
    expect(fenceDocument(document, HOURLY, RULES)).toEqual({ document, facts: [] });
    const once = fenceDocument(known(handled("2026-03-05T09:00:00Z")), HOURLY, RULES).document;
    expect(fenceDocument(once, HOURLY, RULES)).toEqual({ document: once, facts: [] });
  });

  test("S14: a period from before the definition never runs, and gets no outcome", () => {
    const document = known({ DefinedAt: "2026-03-05T12:00:00Z" });
    const monthly = compiled({ schedule: "0 0 1 * *" });
    expect(fenceDocument(document, monthly, RULES)).toEqual({ document, facts: [] });
  });
});

describe("slots", () => {
  test("of an interval all up to then are used, and it goes on from there", () => {
    const document = known({ LastRunAt: "2026-03-05T11:45:00Z", LastSlot: { interval: "2026-03-05T11:45:00Z" } });
    const fenced = fenceDocument(document, EVERY, RULES);
    expect(fenced.facts).toEqual([
      expect.objectContaining({ kind: "slot_closed", source: "interval", slotAt: at("2026-03-05T11:55:00Z") }),
    ]);
    expect(fenced.document).toMatchObject({
      LastRunAt: "2026-03-05T12:00:00Z",
      LastSlot: { interval: "2026-03-05T12:00:00Z" },
    });
    expect(fenceDocument(fenced.document, EVERY, RULES).facts).toEqual([]);
  });

  test("C12, S40: what goes on after a failover keeps its place within the second", () => {
    const document = known({
      LastRunAt: "2026-03-05T11:45:00.350Z",
      LastSlot: { interval: "2026-03-05T11:45:00.350Z" },
    });
    const fenced = fenceDocument(document, EVERY, RULES);
    expect(fenced.document).toMatchObject({
      LastRunAt: "2026-03-05T11:59:59.350Z",
      LastSlot: { interval: "2026-03-05T12:00:00Z" },
    });
    expect(fenceDocument(fenced.document, EVERY, RULES)).toEqual({ document: fenced.document, facts: [] });
  });

  test("one that is still to come stays as it is", () => {
    const document = known({ LastRunAt: "2026-03-05T11:55:00Z", LastSlot: { interval: "2026-03-05T11:55:00Z" } });
    expect(fenceDocument(document, EVERY, RULES)).toEqual({ document, facts: [] });
  });

  test("S42: a single run that somebody asked for is consumed; a later one is waited for", () => {
    const about = { ExpiresAt: "2026-03-05T13:00:00Z", SetAt: "2026-03-05T11:00:00Z", Reason: "" };
    const asked = (NextRunAt: string): StateDocument =>
      known({ ...handled("2026-03-05T12:00:00Z"), Hints: { Oneshot: { NextRunAt, ...about } } });
    const fenced = fenceDocument(asked("2026-03-05T11:59:00Z"), HOURLY, RULES);
    expect(kindsOf(fenced)).toEqual(["hint_ended", "slot_closed"]);
    expect(fenced.document.Hints).toBeUndefined();
    const later = asked("2026-03-05T12:30:00Z");
    expect(fenceDocument(later, HOURLY, RULES)).toEqual({ document: later, facts: [] });
  });

  test("S43: an attempt that was due is given up, a later one is not", () => {
    const retry = (At: string): StateDocument =>
      known({ ...handled("2026-03-05T12:00:00Z"), Retry: { PeriodID: "2026-03-05T12:00:00Z", Attempt: 2, At } });
    expect(kindsOf(fenceDocument(retry("2026-03-05T11:59:59Z"), HOURLY, RULES))).toEqual(["retry_dropped"]);
    const later = retry("2026-03-05T12:00:30Z");
    expect(fenceDocument(later, HOURLY, RULES)).toEqual({ document: later, facts: [] });
  });

  test("S44: the present boot counts as run", () => {
    const Due = { Slot: "2026-03-05T11:00:00Z", Since: "2026-03-05T11:00:00Z" };
    const reboot = compiled({ schedule: "@reboot" });
    const fenced = fenceDocument(known({ Boot: { ID: "boot-1", Due } }), reboot, RULES);
    expect([kindsOf(fenced), fenced.document.Boot]).toEqual([["boot"], { ID: "boot-2" }]);
    expect(fenceDocument(fenced.document, reboot, RULES).facts).toEqual([]);
  });
});
