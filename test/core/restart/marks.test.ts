import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { marksOf, marksOfUsual } from "../../../src/core/restart/marks.js";
import { newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { stateFileName } from "../../../src/core/state/file-name.js";
import { parseDocument } from "../../../src/core/state/parse.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { formatInstant } from "../../../src/core/time/instant.js";

const instant = fc.integer({ min: 0, max: 4_000_000_000 }).map((second) => formatInstant(second * 1000));
/** What may look like the end of the history, or like its beginning. */
const words = fc.constantFrom(
  "",
  "x",
  '],"DefinedAt":"',
  ',"History":[',
  '"ActiveExecution":',
  '],"LastReason":"',
  "}]",
);
const entry = fc.record(
  {
    PeriodID: instant,
    Outcome: fc.constantFrom("executed" as const, "missed" as const),
    NominalTime: instant,
    ChosenTime: instant,
    CompletedAt: instant,
    ExitCode: fc.option(fc.integer()),
    Reason: words,
    DefinedAt: fc.constant([["deep"]]),
    History: fc.constant([{ History: [] }]),
  },
  { requiredKeys: ["PeriodID", "Outcome", "NominalTime", "ChosenTime", "CompletedAt", "ExitCode"] },
);
const active = fc.record({ PeriodID: instant, PID: fc.integer({ min: 1 }), StartedAt: instant, ChosenTime: instant });

const usual = fc.record(
  {
    identity: fc.constantFrom("job", 'a","History":[', "ü"),
    handled: fc.option(instant),
    History: fc.array(entry, { maxLength: 12 }),
    LastReason: words,
    DefinedAt: instant,
    DefinitionHash: fc.constantFrom("abc", '],"DefinedAt":"'),
    CarriedPeriodID: instant,
    LastRunAt: instant,
    LastSlot: fc.record({ manual: instant, interval: instant }),
    Later: fc.constantFrom<unknown>(1, { DefinedAt: "x", list: [], DefinedAt2: [[]] }, [{ list: [1], DefinedAt: "y" }]),
  },
  { requiredKeys: ["identity", "handled", "History"] },
);

const HINT = { ExpiresAt: "2026-03-01T02:00:00Z", SetAt: "2026-03-01T00:00:00Z", Reason: "r" };
const unusual = fc.record(
  {
    ActiveExecution: active,
    Pause: fc.record({ Until: instant, Reason: words }),
    RemovedAt: instant,
    EvaluatesFrom: instant,
    Hints: fc.constant({ Oneshot: { NextRunAt: "2026-03-01T01:00:00Z", ...HINT } }),
  },
  { requiredKeys: [] },
);

type Usual = typeof usual extends fc.Arbitrary<infer T> ? T : never;

function documentOf({ identity, handled, ...rest }: Usual, more: object): StateDocument {
  const last = handled ?? "";
  return {
    ...newDocument(identity),
    LastHandledPeriodID: last,
    LastOutcome: last === "" ? "" : "executed",
    LastChosenTime: last,
    LastNominalTime: last,
    ...(rest as Partial<StateDocument>),
    ...more,
  };
}

describe("marks of a document", () => {
  test("S30: of the usual kind they are read without the history, and are those of the whole document", () => {
    fc.assert(
      fc.property(usual, (it) => {
        const text = serialiseDocument(documentOf(it, {}));
        const read = parseDocument(text, stateFileName(it.identity));
        expect(read.ok && marksOf(read.value)).toEqual(marksOfUsual(text));
      }),
      { numRuns: 3_000, seed: 20261118 },
    );
  });

  test("S26, S17, S16: what runs, is paused or removed is left to the full reader", () => {
    fc.assert(
      fc.property(usual, unusual, (it, more) => {
        const text = serialiseDocument(documentOf(it, more));
        expect(marksOfUsual(text) === null).toBe(Object.keys(more).length > 0);
      }),
      { numRuns: 2_000, seed: 20261118 },
    );
  });

  const [EARLIER, LATER] = ["2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z"];
  const HANDLED = { LastHandledPeriodID: EARLIER, LastNominalTime: EARLIER };
  const sound = JSON.parse(serialiseDocument(newDocument("job"))) as Record<string, unknown>;
  test.each<[string, Record<string, unknown> | string]>([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["another version", { ...sound, Version: "2" }],
    ["no identity", { ...sound, Identity: "" }],
    [
      "a timestamp in another form",
      { ...sound, LastHandledPeriodID: "2026-03-01T01:00:00+01:00", LastOutcome: "missed" },
    ],
    ["an impossible date", { ...sound, DefinedAt: "2026-02-30T00:00:00Z" }],
    ["an empty date of definition", { ...sound, DefinedAt: "" }],
    ["an outcome without a period", { ...sound, LastOutcome: "missed" }],
    ["a period without an outcome", { ...sound, ...HANDLED }],
    ["an unknown outcome", { ...sound, ...HANDLED, LastOutcome: "lost" }],
    ["a chosen time that is none", { ...sound, LastChosenTime: "later" }],
    ["a nominal time of another period", { ...sound, ...HANDLED, LastOutcome: "missed", LastNominalTime: LATER }],
    ["a reason that is no text", { ...sound, LastReason: 1 }],
    ["slots that are none", { ...sound, LastSlot: { manual: "later" } }],
    ["a hash that is no text", { ...sound, DefinitionHash: 1 }],
    ["null for a running execution", { ...sound, ActiveExecution: null }],
  ])("S32: %s: the full reader is asked", (_, document) => {
    const text = typeof document === "string" ? document : JSON.stringify(document);
    expect(marksOfUsual(text)).toBeNull();
  });
});
