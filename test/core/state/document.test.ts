import { describe, expect, test } from "vitest";
import { activeRuns, isSlotUsed, newDocument, standingOf } from "../../../src/core/state/document.js";
import { corruptFileName, stateFileName } from "../../../src/core/state/file-name.js";
import { appendHistory } from "../../../src/core/state/history.js";
import { at, runOf } from "../../support/scheduling.js";
import { FULL, HISTORY_ENTRY } from "./documents.js";

describe("names", () => {
  test.each([
    ["prod/db-backup", "62c9792808df5d7f7baea3a7cf35e89ca6c4e4bc74eeacff734682c66f8eed9c.json"],
    ["größe/☃", "2688ed5f1eb2243bf6832cac3d9b89092576d89cfb653a04ad953186b1ecc213.json"],
  ])("STATE storage location: %s is kept under hex(sha256(identity)).json", (identity, name) => {
    expect(stateFileName(identity)).toBe(name);
  });

  test("STATE corruption: <filename>.corrupt.<timestamp>", () => {
    expect(corruptFileName("ab.json", "2026-03-01T00:00:00Z")).toBe("ab.json.corrupt.2026-03-01T00:00:00Z");
  });
});

describe("views", () => {
  test("STATE LastHandledPeriodID: empty in a new document", () => {
    expect(standingOf(newDocument("a"))).toEqual({
      lastHandledAt: null,
      definedAt: null,
      carriedAt: null,
      pausedUntilAt: null,
      evaluatesFromAt: null,
      slots: undefined,
      lastRunAt: null,
      hints: undefined,
    });
  });

  test("standing: what the policy needs, as instants", () => {
    expect(standingOf(FULL)).toEqual({
      lastHandledAt: at("2026-03-01T00:00:00Z"),
      definedAt: at("2026-01-01T00:00:00Z"),
      carriedAt: at("2026-01-01T00:00:00Z"),
      pausedUntilAt: at("2026-04-01T00:00:00Z"),
      pausedFromAt: null,
      catchesUp: false,
      evaluatesFromAt: null,
      slots: FULL.LastSlot,
      lastRunAt: null,
      hints: undefined,
    });
  });

  test("S26: what runs, newest first", () => {
    expect(activeRuns(FULL)).toEqual([
      { ...runOf("2026-03-01T00:00:00Z", 4711), attemptId: "a-1" },
      runOf("2026-02-28T12:00:00.250Z", 17, "manual"),
    ]);
  });

  test.each<[source: string, slot: string, taken: boolean]>([
    ["manual", "2026-02-28T12:00:00.250Z", true],
    ["manual", "2026-02-28T11:59:59Z", true],
    ["manual", "2026-02-28T12:00:00.251Z", false],
    ["hint", "2026-02-28T12:00:00.250Z", false],
    ["interval", "2026-02-28T12:00:00.250Z", false],
    ["constructor", "2026-02-28T12:00:00.250Z", false],
  ])("S40: at most once per source and slot, with <=: %s %s taken: %s", (source, slot, taken) => {
    expect(isSlotUsed(FULL, source, at(slot))).toBe(taken);
  });
});

describe("history", () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, ExitCode) => ({ ...HISTORY_ENTRY, ExitCode }));

  test.each<[held: number, limit: number, kept: readonly number[]]>([
    [0, 3, [99]],
    [2, 3, [0, 1, 99]],
    [3, 3, [1, 2, 99]],
    [9, 3, [7, 8, 99]],
    [9, 1, [99]],
    [9, 0, []],
  ])("STATE history: %s held, capped at %s, oldest dropped first", (held, limit, kept) => {
    const document = { ...FULL, History: numbered(held) };
    const history = appendHistory(document, { ...HISTORY_ENTRY, ExitCode: 99 }, limit);
    expect(history.map((entry) => entry.ExitCode)).toEqual(kept);
  });
});
