/** What people have said holds against planners while it is in force, and against nobody else. */
import { describe, expect, test } from "vitest";
import { plannerNamed } from "../../../src/core/governor/author.js";
import type { HintKind } from "../../../src/core/governor/hint.js";
import { type HintsState, newDocument, type StateDocument } from "../../../src/core/state/document.js";
import { isClearHeld, isHintHeld, isPauseHeld } from "../../../src/core/state/held-by-person.js";
import { at, IDENTITY } from "../../support/scheduling.js";

const NOW = at("2026-03-01T12:00:00Z");
const RULES = plannerNamed("rules");
const MODEL = plannerNamed("some-model");

type By = string | undefined;

function hint(by: By, ExpiresAt = "2026-03-01T13:00:00Z"): NonNullable<HintsState["Interval"]> {
  const about = { ExpiresAt, SetAt: "2026-03-01T11:00:00Z", Reason: "" };
  return { IntervalMs: 60_000, ...about, ...(by === undefined ? {} : { By: by }) };
}

function document(more: Partial<StateDocument>): StateDocument {
  return { ...newDocument(IDENTITY), ...more };
}

function hinted(by: By, expiresAt?: string): StateDocument {
  return document({ Hints: { Interval: hint(by, expiresAt) } });
}

function oneshot(by: By): StateDocument {
  const { IntervalMs: _, ...about } = hint(by);
  return document({ Hints: { Oneshot: { NextRunAt: "2026-03-01T12:30:00Z", ...about } } });
}

function paused(by: By, Until = "2026-03-01T13:00:00Z"): StateDocument {
  return document({ Pause: { Until, Reason: "", ...(by === undefined ? {} : { By: by }) } });
}

describe("what is in force, and whether a planner's hint and pause stand back", () => {
  test.each<[string, StateDocument, boolean, boolean]>([
    ["nothing", document({}), false, false],
    ["a hint of whoever runs the daemon", hinted(undefined), true, true],
    ["a hint of a key", hinted("k1"), true, true],
    ["a one-shot of a key", oneshot("k1"), true, true],
    ["a hint of a person that ends this instant", hinted("k1", "2026-03-01T12:00:00Z"), false, false],
    ["a hint of its own", hinted(RULES), false, false],
    ["a hint of another planner", hinted(MODEL), false, false],
    ["a pause of a person", paused(undefined), true, true],
    ["a pause of a person that is over", paused(undefined, "2026-03-01T12:00:00Z"), false, false],
    ["a pause of a planner, which is not prolonged", paused(RULES), false, true],
  ])("%s", (_name, on, hintHeld, pauseHeld) => {
    expect([isHintHeld(on, RULES, NOW), isPauseHeld(on, RULES, NOW)]).toEqual([hintHeld, pauseHeld]);
    // Persons are held by nobody.
    for (const by of [undefined, "k1"]) {
      expect([isHintHeld(on, by, NOW), isPauseHeld(on, by, NOW)]).toEqual([false, false]);
    }
  });
});

describe("what a planner takes back", () => {
  const both = document({ Hints: { ...hinted(RULES).Hints, ...oneshot("k1").Hints } });
  test.each<[HintKind | "all" | "pause", StateDocument, boolean]>([
    ["interval", both, false],
    ["oneshot", both, true],
    ["all", both, true],
    ["pause", paused("k1"), true],
    ["pause", paused(MODEL), false],
    ["pause", both, false],
    ["interval", hinted(undefined), true],
  ])("%s", (kind, on, isHeld) => {
    expect(isClearHeld(on, RULES, kind)).toBe(isHeld);
    expect(isClearHeld(on, "k1", kind)).toBe(false);
  });
});
