import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HistoryEntry, newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { stateFileName } from "../../../src/core/state/file-name.js";
import { appendHistory, keepHistoryText } from "../../../src/core/state/history.js";
import type { Migration } from "../../../src/core/state/migrate.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { IDENTITY } from "../../support/scheduling.js";
import { FULL, NAME } from "./documents.js";

function parsed(text: string, migrations?: readonly Migration[]): StateDocument {
  const result = parseDocument(text, NAME, migrations);
  if (!result.ok) {
    throw new Error(result.error.message);
  }
  return result.value;
}

function codeOf(text: string, migrations?: readonly Migration[]): string {
  const result = parseDocument(text, NAME, migrations);
  return result.ok ? "ok" : result.error.code;
}

/** The full document with one change, as text; a change to undefined takes the field away. */
const changed = (changes: Readonly<Record<string, unknown>>): string => JSON.stringify({ ...FULL, ...changes });

describe("text of a document", () => {
  test("STATE schema: its keys in its order; nothing that is not there", () => {
    expect(serialiseDocument(newDocument("a"))).toBe(
      '{"Version":"1","Identity":"a","LastHandledPeriodID":"","LastOutcome":"","LastChosenTime":"","LastNominalTime":"","History":[]}',
    );
  });

  test("S30: additive fields come last, in a fixed order", () => {
    expect(Object.keys(JSON.parse(serialiseDocument(FULL)))).toEqual([
      ...["Version", "Identity", "LastHandledPeriodID", "LastOutcome", "LastChosenTime", "LastNominalTime"],
      ...["ActiveExecution", "History", "OtherActive", "LastSlot", "LastReason", "DefinedAt", "DefinitionHash"],
      ...["CarriedPeriodID", "Pause", "RemovedAt"],
    ]);
  });

  test("STATE schema: an active execution and a history entry begin with their schema's keys", () => {
    const { ActiveExecution, History } = JSON.parse(serialiseDocument(FULL));
    expect(Object.keys(ActiveExecution).slice(0, 4)).toEqual(["PeriodID", "PID", "StartedAt", "ChosenTime"]);
    expect(Object.keys(History[1]).slice(0, 6)).toEqual([
      ...["PeriodID", "Outcome", "NominalTime", "ChosenTime", "CompletedAt", "ExitCode"],
    ]);
    expect(History[1].ExitCode).toBeNull();
  });

  test("S30: there and back without loss", () => {
    expect(parsed(serialiseDocument(FULL))).toEqual(FULL);
  });

  test("S30: the same text, whether its history was written before or is written for the first time", () => {
    const field = fc.constantFrom("zone", "__proto__", "7", "toJSON", "Attempt", "Reason");
    const entry = fc
      .tuple(fc.constantFrom(...FULL.History), fc.array(fc.tuple(field, fc.oneof(fc.string(), fc.constant('\u2028"')))))
      .map(([known, more]) => {
        const strange = JSON.parse(
          `{${more.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`)}}`,
        );
        return { ...known, ...strange, ...("Attempt" in strange ? { Attempt: 3 } : {}) };
      });
    const runs = fc.array(fc.record({ entry, limit: fc.integer({ min: 0, max: 4 }), isWritten: fc.boolean() }));
    fc.assert(
      fc.property(runs, (all) => {
        let document: StateDocument = { ...FULL, History: [] };
        for (const { entry: next, limit, isWritten } of all) {
          if (isWritten) serialiseDocument(document);
          document = { ...document, History: appendHistory(document, next, limit) };
        }
        const text = serialiseDocument(document);
        // Nothing of a copy was ever a text.
        expect(text).toBe(serialiseDocument({ ...document, History: [...document.History] }));
        expect(serialiseDocument(parsed(text))).toBe(text);
        expect(JSON.parse(text).History).toEqual(JSON.parse(JSON.stringify(document.History)));
      }),
    );
  });

  test("S30: the same text, whether the history is taken from where it was read or written anew", () => {
    const text = fc.constantFrom(
      "",
      "{",
      "}",
      "},{",
      '"},{"PeriodID":"x"',
      "]",
      "\\",
      ',"History":[',
      "é\u2028",
      "null",
    );
    const nested = fc.constantFrom<unknown>([{ PeriodID: "x" }], { History: [] }, [], 7);
    const entry = fc
      .record({
        known: fc.constantFrom(...FULL.History),
        Reason: text,
        PeriodID: text,
        more: nested,
        isPlain: fc.boolean(),
      })
      .map(({ known, Reason, PeriodID, more, isPlain }) =>
        isPlain ? known : { ...known, Reason, PeriodID, ...(more === 7 ? {} : { Extra: more }) },
      );
    const documents = fc.record({
      entries: fc.array(entry, { maxLength: 4 }),
      ahead: fc.constantFrom<unknown>(undefined, { History: [FULL.History[0]] }, [',"History":[{"PeriodID":"']),
      // How another program may have written it.
      form: fc.constantFrom("own", "spaced", "reversed", "nulls"),
      limit: fc.integer({ min: 0, max: 5 }),
    });
    const kept = { own: 0, other: 0 };
    fc.assert(
      fc.property(documents, ({ entries, ahead, form, limit }) => {
        const own = { ...FULL, ActiveExecution: { ...FULL.ActiveExecution, Before: ahead }, History: entries };
        const stored = writtenAs(form, own as StateDocument);
        const [read, again] = [parsed(stored), parsed(stored)];
        keepHistoryText(read.History, stored);
        expect(serialiseDocument(read)).toBe(serialiseDocument(again));
        const next = { ...FULL.History[0], Reason: "another" } as HistoryEntry;
        const longer = (document: StateDocument) => ({ ...document, History: appendHistory(document, next, limit) });
        const twice = (document: StateDocument) => serialiseDocument(longer(longer(document)));
        expect(twice(read)).toBe(twice({ ...again, History: [...again.History] }));
        if (form === "own" && entries.length > 1) kept.own += 1;
        else kept.other += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(kept.own, kept.other)).toBeGreaterThan(50);
  });

  test("what a document has of its past is not made into texts again", () => {
    const stored = serialiseDocument({ ...FULL, History: [...FULL.History, ...FULL.History] });
    const read = parsed(stored);
    keepHistoryText(read.History, stored);
    // No entry is looked at any more.
    for (const entry of read.History)
      Object.defineProperty(entry, "Outcome", { get: () => expect.unreachable("it was read") });
    expect(serialiseDocument(read)).toBe(stored);
  });

  test("S30: byte-stable whatever the order in which fields came to be", () => {
    const reversed = Object.fromEntries(Object.entries(FULL).reverse());
    const slots = { ...FULL, LastSlot: Object.fromEntries(Object.entries(FULL.LastSlot ?? {}).reverse()) };
    expect(serialiseDocument(parsed(JSON.stringify(reversed)))).toBe(serialiseDocument(FULL));
    expect(serialiseDocument(slots)).toBe(serialiseDocument(FULL));
  });

  test("S30: the same of an entry of the past, and fields of another version come behind those of this one", () => {
    const [, entry] = FULL.History;
    const fields = Object.entries({ ...entry, Retries: 2 });
    const text = serialiseDocument({ ...FULL, History: [Object.fromEntries(fields) as never] });
    expect(text).toContain('"Source":"manual","Retries":2}]');
    fc.assert(
      fc.property(fc.shuffledSubarray(fields, { minLength: fields.length }), (shuffled) => {
        const History = [Object.fromEntries(shuffled) as never];
        expect(serialiseDocument({ ...FULL, History })).toBe(text);
      }),
    );
  });

  test("S30: what a newer version added survives an older program", () => {
    const future = {
      ...JSON.parse(serialiseDocument(FULL)),
      NewThing: { a: 1 },
      History: [{ ...FULL.History[0], Cpu: 7 }],
    };
    const text = serialiseDocument(parsed(JSON.stringify(future)));
    expect([JSON.parse(text).NewThing, JSON.parse(text).History[0].Cpu]).toEqual([{ a: 1 }, 7]);
    expect(serialiseDocument(parsed(text))).toBe(text);
  });

  test("__proto__ is a field like any other", () => {
    const text = serialiseDocument(newDocument(IDENTITY)).replace(/}$/, ',"__proto__":{"LastOutcome":"executed"}}');
    const document = parsed(text);
    expect(Object.getPrototypeOf(document)).toBe(Object.prototype);
    expect(serialiseDocument(document)).toBe(text);
  });

  test("SPEC period id: the same instant written with an offset is the same period", () => {
    expect(parsed(changed({ LastHandledPeriodID: "2026-03-01T01:00:00+01:00" })).LastHandledPeriodID).toBe(
      "2026-03-01T00:00:00Z",
    );
  });

  test.each<[title: string, changes: Readonly<Record<string, unknown>>]>([
    ["ActiveExecution absent", { ActiveExecution: undefined, OtherActive: undefined }],
    ["ActiveExecution null", { ActiveExecution: null, OtherActive: null }],
    ["History absent", { History: undefined }],
    ["History null", { History: null }],
    ["unschedulable: no chosen time", { LastOutcome: "unschedulable", LastChosenTime: "" }],
    ["ExitCode absent in an entry", { History: [{ ...FULL.History[0], ExitCode: undefined }] }],
  ])("STATE schema: accepted: %s", (_title, changes) => {
    expect(codeOf(changed(changes))).toBe("ok");
  });
});

describe("documents that cannot be used", () => {
  test.each<[title: string, text: string]>([
    ["empty", ""],
    ["cut off", serialiseDocument(FULL).slice(0, -1)],
    ["binary", "\u0000\u0001\u0002"],
    ["two documents", `${serialiseDocument(FULL)}${serialiseDocument(FULL)}`],
  ])("S32: unparsable is corrupt: %s", (_title, text) => {
    expect(codeOf(text)).toBe("state-document-corrupt");
  });

  test.each<[title: string, text: string]>([
    ["not an object", "null"],
    ["a list", "[]"],
    ["an empty object", "{}"],
    ["no Version", changed({ Version: undefined })],
    ["Version as a number", changed({ Version: 1 })],
    ["a Version without a migration", changed({ Version: "2" })],
    ["no Identity", changed({ Identity: undefined })],
    ["an empty Identity", changed({ Identity: "" })],
    ["another's Identity", changed({ Identity: "test/other" })],
    ["no LastHandledPeriodID", changed({ LastHandledPeriodID: undefined })],
    ["LastHandledPeriodID null", changed({ LastHandledPeriodID: null })],
    ["LastHandledPeriodID no timestamp", changed({ LastHandledPeriodID: "yesterday" })],
    ["LastHandledPeriodID on an impossible date", changed({ LastHandledPeriodID: "2026-02-30T00:00:00Z" })],
    ["no LastOutcome", changed({ LastOutcome: undefined })],
    ["an unknown LastOutcome", changed({ LastOutcome: "done" })],
    ["an outcome without a period", changed({ LastHandledPeriodID: "" })],
    ["a period without an outcome", changed({ LastOutcome: "" })],
    ["no LastChosenTime", changed({ LastChosenTime: undefined })],
    ["no LastNominalTime", changed({ LastNominalTime: undefined })],
    ["LastNominalTime of another period", changed({ LastNominalTime: "2026-03-01T00:01:00Z" })],
    ["LastNominalTime empty beside a period", changed({ LastNominalTime: "" })],
    ["ActiveExecution without PID", changed({ ActiveExecution: { ...FULL.ActiveExecution, PID: undefined } })],
    ["ActiveExecution with PID 0", changed({ ActiveExecution: { ...FULL.ActiveExecution, PID: 0 } })],
    ["ActiveExecution with a negative PID", changed({ ActiveExecution: { ...FULL.ActiveExecution, PID: -1 } })],
    ["ActiveExecution with a PID as text", changed({ ActiveExecution: { ...FULL.ActiveExecution, PID: "1" } })],
    ["ActiveExecution with a broken PeriodID", changed({ ActiveExecution: { ...FULL.ActiveExecution, PeriodID: "" } })],
    ["OtherActive beside nothing", changed({ ActiveExecution: undefined })],
    ["History no list", changed({ History: {} })],
    ["a history entry with an unknown outcome", changed({ History: [{ ...FULL.History[0], Outcome: "x" }] })],
    ["LastSlot no timestamp", changed({ LastSlot: { manual: "x" } })],
    ["a failing start without its slot", changed({ StartFailure: { Source: "interval", Code: "x", Since: "x" } })],
    ["a failing start that is a text", changed({ StartFailure: "command-not-found" })],
    ["a pause without an end", changed({ Pause: { Reason: "x" } })],
  ])("S32: readable but unusable refuses the start: %s", (_title, text) => {
    expect(codeOf(text)).toBe("state-incompatible");
  });

  test("STATE invariants: no text crashes the reader", () => {
    const keys = Object.keys(FULL);
    const field = fc.tuple(fc.constantFrom(...keys), fc.jsonValue({ maxDepth: 3 }));
    const property = fc.property(fc.array(field, { maxLength: 4 }), fc.nat(2000), (fields, cut) => {
      const text = changed(Object.fromEntries(fields));
      expect(["ok", "state-incompatible"]).toContain(codeOf(text));
      expect(["ok", "state-document-corrupt"]).toContain(codeOf(serialiseDocument(FULL).slice(0, cut)));
    });
    fc.assert(property, { seed: 5, numRuns: 1000 });
  });
});

describe("migration", () => {
  /** A made-up predecessor whose last handled period had another name. */
  const FROM_ZERO: Migration = {
    from: "0",
    to: "1",
    lastHandledOf: (raw) => String(raw["Last"]),
    apply: ({ Last, ...rest }) => ({ ...rest, Version: "1", LastHandledPeriodID: Last, LastNominalTime: Last }),
  };
  const OLD = JSON.stringify({
    ...{ Version: "0", Identity: IDENTITY, Last: "2026-03-01T00:00:00Z" },
    ...{ LastOutcome: "executed", LastChosenTime: "2026-03-01T02:32:20Z" },
  });
  const FORGETS: Migration = { ...FROM_ZERO, apply: (raw) => ({ ...FROM_ZERO.apply(raw), LastHandledPeriodID: "" }) };
  const SKIPS: Migration = { ...FROM_ZERO, apply: (raw) => ({ ...FROM_ZERO.apply(raw), Version: "0" }) };
  const CHAIN: readonly Migration[] = [
    { from: "-1", to: "0", lastHandledOf: (raw) => String(raw["Last"]), apply: (raw) => ({ ...raw, Version: "0" }) },
    FROM_ZERO,
  ];

  test("STATE migration: explicit, and no loss of LastHandledPeriodID", () => {
    expect(parsed(OLD, [FROM_ZERO]).LastHandledPeriodID).toBe("2026-03-01T00:00:00Z");
  });

  test("STATE migration: version by version", () => {
    const older = JSON.stringify({ ...JSON.parse(OLD), Version: "-1" });
    expect(parsed(older, CHAIN).LastHandledPeriodID).toBe("2026-03-01T00:00:00Z");
  });

  test.each<[title: string, migrations: readonly Migration[], code: string]>([
    ["without a migration", [], "state-incompatible"],
    ["a migration that forgets the last handled period", [FORGETS], "state-migration-failed"],
    ["a migration that does not reach its version", [SKIPS], "state-migration-failed"],
    [
      "migrations in a circle",
      [{ ...FROM_ZERO, to: "0", apply: (raw) => ({ ...raw, LastHandledPeriodID: raw["Last"] }) }],
      "state-incompatible",
    ],
  ])("STATE migration: refuse to start: %s", (_title, migrations, code) => {
    expect(codeOf(OLD, migrations)).toBe(code);
  });

  test("S30: the file name follows the identity", () => {
    expect(stateFileName(IDENTITY)).toBe(NAME);
  });
});

function writtenAs(form: string, document: StateDocument): string {
  const raw = JSON.parse(serialiseDocument(document));
  if (form === "own") return serialiseDocument(document);
  if (form === "spaced") return JSON.stringify(raw, null, 1);
  const entries = raw.History as Record<string, unknown>[];
  const changed = {
    reversed: entries.map((entry) => Object.fromEntries(Object.entries(entry).reverse())),
    nulls: entries.map((entry) => ({ ...entry, Signal: null })),
  }[form];
  return JSON.stringify({ ...raw, History: changed });
}
