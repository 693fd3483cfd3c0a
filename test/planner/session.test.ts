/** A session on record is what it was, and says when the endpoint may be looked at again. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../src/core/time/instant.js";
import { rulesFor } from "../../src/planner/rules.js";
import {
  CALL_RESULTS,
  decodeSession,
  encodeSession,
  mayAnalyse,
  OUTCOMES,
  type Session,
} from "../../src/planner/session.js";
import { readSituation, situationText } from "../../src/planner/situation.js";
import { endingWith, NOW, planned, situation, steady } from "./situations.js";

const FAILING = endingWith(steady(HOUR_MS), 6, "failure");
const SESSION = rulesFor(situation({}, FAILING));

describe("on record", () => {
  const text = fc.string({ maxLength: 50 });
  const session = fc.record({
    calls: fc.array(
      fc.record({ name: text, arguments: text, result: fc.constantFrom(...CALL_RESULTS), message: text }),
    ),
    tokens: fc.record({ used: fc.nat(), isEstimated: fc.boolean() }),
    durationMs: fc.nat(),
    outcome: fc.record({ code: fc.constantFrom(...OUTCOMES), message: text }),
  });

  test("property: a session is read as it was written", () => {
    fc.assert(
      fc.property(session, (some) => {
        const whole: Session = { ...SESSION, ...some };
        expect(decodeSession(encodeSession(whole))).toEqual(whole);
      }),
    );
  });

  const written = encodeSession(SESSION);
  test.each([
    ["nothing", ""],
    ["broken JSON", written.slice(0, -1)],
    ["another version", written.replace('"v":1', '"v":2')],
    ["a field more", written.replace('"v":1', '"v":1,"w":1')],
    ["a proposal that is none", written.replace('"ttlMinutes":60', '"ttlMinutes":0')],
    ["a hash that is none", written.replace(SESSION.inputsHash, "x")],
    ["far too much", `${written}${" ".repeat(200_000)}`],
  ])("%s is none", (_, other) => {
    expect(other).not.toBe(written);
    expect(decodeSession(other)).toBeNull();
  });

  test("the hash is of what the planner was told: the same again for the same, another for anything else", () => {
    expect(rulesFor(situation({}, FAILING)).inputsHash).toBe(SESSION.inputsHash);
    expect(rulesFor(situation({ name: "other" }, FAILING)).inputsHash).not.toBe(SESSION.inputsHash);
    expect(rulesFor(situation({}, FAILING.slice(1))).inputsHash).not.toBe(SESSION.inputsHash);
  });
});

describe("cool-down", () => {
  const nextFor = (intervalMs: number | null, some = {}): number =>
    (rulesFor(situation({ baseline: { text: "x", intervalMs }, ...some }, [])).nextAnalysisAt - NOW) / MINUTE_MS;

  test("goes by the baseline, from a quarter of an hour to six hours", () => {
    expect([nextFor(1_000), nextFor(HOUR_MS), nextFor(48 * HOUR_MS), nextFor(null)]).toEqual([15, 60, 360, 15]);
  });

  test("a hint that runs it every second does not make it be looked at every second", () => {
    expect(nextFor(HOUR_MS, planned(1_000, "x"))).toBe(60);
  });

  test("until then it is left alone, but for a clock that had run ahead", () => {
    expect(mayAnalyse(null, NOW)).toBe(true);
    expect([mayAnalyse(SESSION, NOW), mayAnalyse(SESSION, SESSION.nextAnalysisAt)]).toEqual([false, true]);
    expect(mayAnalyse(SESSION, NOW - 24 * HOUR_MS)).toBe(true);
  });
});

describe("a situation as JSON", () => {
  const whole = situation(planned(600_000, "idle: x"), FAILING, {
    siblings: [{ name: "s", successRate: null, failures: 0, intervalMs: null }],
  });

  test("what is told is what is read", () => {
    expect(readSituation(JSON.parse(situationText(whole)), 0)).toEqual({ ok: true, value: whole });
  });

  test("runs are counted as health would be", () => {
    const runs = FAILING.map(({ endedAt, ...run }) => ({ ...run, endedAt: new Date(endedAt).toISOString() }));
    const { health: _, ...told } = JSON.parse(situationText(whole)) as Record<string, unknown>;
    expect(readSituation({ ...told, runs: [...runs].reverse() }, 0)).toMatchObject({
      ok: true,
      value: { health: whole.health },
    });
  });

  test("what has expired is not in force, and without a time of its own it is about now", () => {
    const endpoint = { id: "e", name: "n\u001b", baseline: { text: "x", intervalMs: 1_000 } };
    const hints = { interval: { intervalMs: 1_000, expiresAt: "2026-03-28T12:00:00Z", by: "person" }, oneshot: null };
    const read = readSituation({ endpoint: { ...endpoint, hints } }, NOW);
    expect(read).toMatchObject({ ok: true, value: { now: NOW, endpoint: { name: "n ", hints: { interval: null } } } });
  });

  test.each<readonly [string, unknown, string]>([
    ["no object", [], ""],
    ["no endpoint", {}, "endpoint"],
    ["both health and runs", { ...(JSON.parse(situationText(whole)) as object), runs: [] }, "runs"],
    [
      "bounds the wrong way round",
      { endpoint: { id: "e", name: "n", baseline: { text: "x" }, minIntervalMs: 2, maxIntervalMs: 1 } },
      "endpoint.minIntervalMs",
    ],
    [
      "a date that there is not",
      { now: "2026-02-30T00:00:00Z", endpoint: { id: "e", name: "n", baseline: { text: "x" } } },
      "now",
    ],
    [
      "an author nobody knows",
      {
        endpoint: {
          id: "e",
          name: "n",
          baseline: { text: "x" },
          pausedUntil: { until: "2026-03-28T12:00:00Z", by: "me" },
        },
      },
      "endpoint.pausedUntil.by",
    ],
  ])("%s: refused, with the field", (_, value, place) => {
    const read = readSituation(value, NOW);
    expect(read.ok ? null : read.error.map(({ path }) => path.join("."))).toEqual([place]);
  });
});
