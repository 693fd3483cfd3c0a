/** Clauses of STATE that concern documents as a whole, whichever transition wrote them. */
import { describe, expect, test } from "vitest";
import { define, pause, resume, retire } from "../../../src/core/state/definition-transitions.js";
import { activeRuns, newDocument, type StateDocument, standingOf } from "../../../src/core/state/document.js";
import type { Migration } from "../../../src/core/state/migrate.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { claimPeriod, claimSlot, closePeriod, fencePeriod } from "../../../src/core/state/period-transitions.js";
import { completeRun, confirmRun } from "../../../src/core/state/run-transitions.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { openFilesStoreOn } from "../../../src/persist/files/open.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { SimulatedDisk } from "../../persist/support/simulated-disk.js";
import { requireOk } from "../../support/results.js";
import { at, birthAt, decisionOf, IDENTITY } from "../../support/scheduling.js";
import { FULL, NAME } from "./documents.js";

const P1 = decisionOf("2026-03-01T00:00:00Z", "2026-03-01T02:00:00Z");
const P2 = decisionOf("2026-03-02T00:00:00Z", "2026-03-02T02:00:00Z");
const P3 = decisionOf("2026-03-03T00:00:00Z", null);
const NOW = at("2026-03-01T02:00:00.700Z");
const LIMIT = 5;
const EMPTY = newDocument(IDENTITY);
const PROCESS = { attemptId: "a7", holder: { kind: "process", pid: 7, startTicks: 70, bootId: "b" } } as const;
const ENDING = { kind: "exited", code: 0, signal: null, reason: null } as const;
const RUN = { attemptId: "a7", source: null, periodId: P1.periodId, pid: 7 };

const claimed = claimPeriod(EMPTY, P1, PROCESS, NOW).document;

const WRITTEN: readonly (readonly [title: string, document: StateDocument])[] = [
  ["claim", claimed],
  ["completion", completeRun(claimed, RUN, ENDING, NOW, LIMIT).document],
  ["missed", closePeriod(claimed, P2, { outcome: "missed", reason: "deadline" }, NOW, LIMIT).document],
  ["unschedulable", closePeriod(claimed, P3, { outcome: "unschedulable", reason: "none" }, NOW, LIMIT).document],
  ["fence", fencePeriod(EMPTY, P2, NOW, LIMIT).document],
  [
    "slot",
    claimSlot(EMPTY, { source: "manual", slotAt: at("2026-03-01T02:30:00Z"), ...PROCESS, aftermath: null }, NOW)
      .document,
  ],
  ["definition", define(claimed, "h", P2.nominalAt, NOW, birthAt(NOW)).document],
  ["pause", pause(EMPTY, NOW + 60_000, "x", NOW).document],
  ["removal", retire(EMPTY, NOW).document],
];

/** Every text in the document that looks at all like a time. */
function timesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return /\d{4}-\d{2}|\d{2}:\d{2}|GMT/.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(timesIn) : [];
}

describe("whatever wrote a document", () => {
  test.each(WRITTEN)(
    "STATE schema: every timestamp that a transition writes is RFC 3339 in UTC: %s",
    (_title, document) => {
      const times = timesIn(JSON.parse(serialiseDocument(document)));
      expect(times.length).toBeGreaterThan(0);
      expect(times.filter((time) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time))).toEqual([]);
    },
  );

  test.each<[title: string, change: (document: StateDocument) => StateDocument]>([
    ["a definition", (document) => define(document, "h", null, NOW, birthAt(NOW)).document],
    ["a pause", (document) => pause(document, NOW + 1, "x", NOW).document],
    ["its end", (document) => resume(pause(document, NOW + 1, "x", NOW).document, NOW).document],
    ["a removal", (document) => retire(document, NOW).document],
    ["a confirmation", (document) => withoutConfirmation(confirmRun(document, RUN))],
  ])(
    "STATE transitions: only outcomes, starts and ends change what is said of periods and runs: not %s",
    (_title, change) => {
      const said = ({
        LastHandledPeriodID,
        LastOutcome,
        LastChosenTime,
        LastNominalTime,
        ActiveExecution,
        History,
      }: StateDocument) => [
        LastHandledPeriodID,
        LastOutcome,
        LastChosenTime,
        LastNominalTime,
        ActiveExecution,
        History,
      ];
      expect(said(change(claimed))).toEqual(said(claimed));
    },
  );

  test("STATE invariants: what is kept of the history changes nothing that is decided", () => {
    const forgetful = { ...FULL, History: [] };
    expect([standingOf(forgetful), activeRuns(forgetful)]).toEqual([standingOf(FULL), activeRuns(FULL)]);
    const next = claimPeriod(forgetful, P2, PROCESS, NOW);
    expect(next.facts).toEqual(claimPeriod(FULL, P2, PROCESS, NOW).facts);
    expect({ ...next.document, History: FULL.History }).toEqual(claimPeriod(FULL, P2, PROCESS, NOW).document);
  });
});

/** Additive: it says of a run that it was seen to begin. */
function withoutConfirmation(document: StateDocument): StateDocument {
  if (document.ActiveExecution === null) return document;
  const { Confirmed: _, ...active } = document.ActiveExecution;
  return { ...document, ActiveExecution: active };
}

describe("migration", () => {
  const FROM_ZERO: Migration = {
    from: "0",
    to: "1",
    lastHandledOf: (raw) => String(raw["LastHandledPeriodID"]),
    apply: (raw) => ({ ...raw, Version: "1" }),
  };
  const OLD = serialiseDocument(FULL).replace('"Version":"1"', '"Version":"0"');

  test("STATE migration: the same text becomes the same document, every time", () => {
    const migrated = () => serialiseDocument(requireOk(parseDocument(OLD, NAME, [FROM_ZERO])));
    expect([migrated(), migrated()]).toEqual([serialiseDocument(FULL), serialiseDocument(FULL)]);
  });

  test("STATE migration: what was handled before is handled afterwards", () => {
    const document = requireOk(parseDocument(OLD, NAME, [FROM_ZERO]));
    expect(() => claimPeriod(document, P1, PROCESS, NOW)).toThrow("invariant broken");
    expect(activeRuns(document)).toEqual(activeRuns(FULL));
  });
});

test("STATE write semantics: temporary file, sync, rename, sync of the directory", async () => {
  const disk = new SimulatedDisk();
  const term = requireOk(acquireMemoryLock({}, "/state"));
  const store = requireOk(await openFilesStoreOn(disk, term));
  disk.plan(null);
  await store.commit(term, { documents: [{ key: documentKey("a"), text: "{}" }] });
  const name = documentKey("a");
  expect(disk.operations).toEqual([
    `create ${name}.new`,
    `write ${name}.new`,
    `sync ${name}.new`,
    `rename ${name}`,
    "sync state/",
  ]);
});
