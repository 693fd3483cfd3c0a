/** Proposals are read strictly, and judged by bounds, caps and what people have said. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextOccasion } from "../../src/core/governor/governor.js";
import { HOUR_MS, MINUTE_MS } from "../../src/core/time/instant.js";
import type { EndpointSituation, Proposal } from "../../src/planner/model.js";
import { judge, proposalFields, readProposal } from "../../src/planner/proposal.js";
import { BASELINE_MS, NOW, situation } from "./situations.js";

const interval = (intervalMs: number, ttlMinutes = 60): Proposal => ({
  type: "interval",
  intervalMs,
  ttlMinutes,
  reason: "x",
});
const BY_PLANNER = { by: "planner", reason: "" } as const;
const BY_PERSON = { by: "person", reason: "" } as const;
const LATER = NOW + HOUR_MS;

const proposals = fc.oneof(
  fc.record({
    type: fc.constant("interval" as const),
    intervalMs: fc.integer({ min: 1_000, max: 30 * 24 * HOUR_MS }),
    ttlMinutes: fc.integer({ min: 1, max: 1_440 }),
    reason: fc.constant("x"),
  }),
  fc.record({
    type: fc.constant("oneshot" as const),
    nextRunAt: fc.integer({ min: NOW, max: NOW + 30 * HOUR_MS }),
    ttlMinutes: fc.integer({ min: 1, max: 1_440 }),
    reason: fc.constant("x"),
  }),
  fc.record({
    type: fc.constant("pause_until" as const),
    until: fc.integer({ min: NOW - HOUR_MS, max: NOW + 48 * HOUR_MS }),
    reason: fc.constant("x"),
  }),
  fc.record({
    type: fc.constant("clear" as const),
    kind: fc.constantFrom("interval" as const, "oneshot" as const, "pause" as const),
    reason: fc.constant("x"),
  }),
);

describe("judging", () => {
  test.each<readonly [string, Partial<EndpointSituation>, number, object]>([
    ["within bounds", {}, 60_000, { ok: true, clamped: null }],
    [
      "below minIntervalMs",
      { minIntervalMs: 120_000 },
      60_000,
      { ok: true, clamped: "min", proposal: { intervalMs: 120_000 } },
    ],
    [
      "above maxIntervalMs",
      { maxIntervalMs: 900_000 },
      HOUR_MS,
      { ok: true, clamped: "max", proposal: { intervalMs: 900_000 } },
    ],
    [
      "less than a second",
      {},
      999,
      { ok: false, code: "out_of_bounds", message: expect.stringContaining("intervalMs") },
    ],
    ["more than a year", {}, 400 * 24 * HOUR_MS, { ok: false, code: "out_of_bounds" }],
  ])("an interval %s", (_, endpoint, intervalMs, verdict) => {
    expect(judge(interval(intervalMs), situation(endpoint), [])).toMatchObject(verdict);
  });

  test.each<readonly [string, Partial<EndpointSituation>, Proposal, object]>([
    ["a pause of 24 h", {}, { type: "pause_until", until: NOW + 24 * HOUR_MS, reason: "x" }, { ok: true }],
    [
      "a longer one",
      {},
      { type: "pause_until", until: NOW + 24 * HOUR_MS + 1, reason: "x" },
      { ok: false, code: "out_of_bounds" },
    ],
    ["one that has passed", {}, { type: "pause_until", until: NOW, reason: "x" }, { ok: false, code: "out_of_bounds" }],
    [
      "one on top of another",
      { pausedUntil: { until: LATER, ...BY_PLANNER } },
      { type: "pause_until", until: NOW + 2 * HOUR_MS, reason: "x" },
      { ok: false, message: expect.stringContaining("not prolonged") },
    ],
    [
      "its own pause cleared",
      { pausedUntil: { until: LATER, ...BY_PLANNER } },
      { type: "clear", kind: "pause", reason: "x" },
      { ok: true },
    ],
    [
      "its own hint replaced",
      { hints: { interval: { intervalMs: 1_000, expiresAt: LATER, ...BY_PLANNER }, oneshot: null } },
      interval(60_000),
      { ok: true },
    ],
    [
      "an instant beside a person's interval",
      { hints: { interval: { intervalMs: 1_000, expiresAt: LATER, ...BY_PERSON }, oneshot: null } },
      { type: "oneshot", nextRunAt: NOW + 1, ttlMinutes: 1, reason: "x" },
      { ok: false, code: "held_by_person" },
    ],
    [
      "its own interval beneath a person's instant",
      {
        hints: {
          interval: { intervalMs: 1_000, expiresAt: LATER, ...BY_PLANNER },
          oneshot: { nextRunAt: NOW + 1, expiresAt: LATER, ...BY_PERSON },
        },
      },
      { type: "clear", kind: "interval", reason: "x" },
      { ok: true },
    ],
  ])("%s", (_, endpoint, proposal, verdict) => {
    expect(judge(proposal, situation(endpoint), [])).toMatchObject(verdict);
  });

  test("there is one of each type in a session", () => {
    expect(judge(interval(60_000), situation(), [interval(90_000)])).toMatchObject({ ok: false, code: "repeated" });
    expect(
      judge({ type: "oneshot", nextRunAt: NOW + 1, ttlMinutes: 1, reason: "x" }, situation(), [interval(1)]),
    ).toMatchObject({ ok: true });
  });

  test("property: what is accepted never changes when the endpoint runs while a person's hint or pause holds", () => {
    const held = fc.constantFrom<Partial<EndpointSituation>>(
      { pausedUntil: { until: LATER, ...BY_PERSON } },
      { hints: { interval: { intervalMs: 600_000, expiresAt: LATER, ...BY_PERSON }, oneshot: null } },
      { hints: { interval: null, oneshot: { nextRunAt: NOW + 1_000, expiresAt: LATER, ...BY_PERSON } } },
    );
    fc.assert(
      fc.property(proposals, held, (proposal, endpoint) => {
        expect(judge(proposal, situation(endpoint), []).ok).toBe(false);
      }),
    );
  });

  test("property: an interval that is accepted is what the governor makes of it, within the bounds", () => {
    const bound = fc.option(fc.integer({ min: 1_000, max: 2 * HOUR_MS }));
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 4 * HOUR_MS }), bound, bound, (intervalMs, minMs, maxMs) => {
        fc.pre(minMs === null || maxMs === null || minMs <= maxMs);
        const verdict = judge(
          interval(intervalMs, 1_440),
          situation({ minIntervalMs: minMs, maxIntervalMs: maxMs }),
          [],
        );
        if (!verdict.ok || verdict.proposal.type !== "interval") throw new Error("refused");
        const next = (everyMs: number) =>
          nextOccasion({
            everyMs: BASELINE_MS,
            minMs,
            maxMs,
            cronNextAt: () => null,
            hints: { interval: { intervalMs: everyMs, expiresAt: NOW + 24 * HOUR_MS }, oneshot: null },
            lastRunAt: NOW,
            createdAt: null,
            pausedUntilAt: null,
            now: NOW,
          })?.slotAt;
        expect(next(intervalMs)).toBe(NOW + verdict.proposal.intervalMs);
      }),
    );
  });
});

describe("reading", () => {
  test("property: what is published is read as it was", () => {
    fc.assert(
      fc.property(proposals, (proposal) => {
        const { type, ...fields } = proposalFields(proposal);
        expect(readProposal(proposal.type, fields)).toEqual({ ok: true, proposal });
        expect(type).toBe(proposal.type);
      }),
    );
  });

  test("a reason is one line without what a terminal would obey", () => {
    const read = readProposal("clear", { kind: "pause", reason: " a\u001b[2J\nb\u202e " });
    expect(read).toEqual({ ok: true, proposal: { type: "clear", kind: "pause", reason: "a [2J b " } });
  });

  test.each([
    ["nothing", "interval", null, "mapping"],
    ["a list", "interval", [], "mapping"],
    ["unknown fields", "interval", { intervalMs: 60_000, ttlMinutes: 5, reason: "x", by: "person" }, "by"],
    [
      "inherited fields",
      "clear",
      JSON.parse('{"kind":"pause","reason":"x","__proto__":{"a":1}}') as unknown,
      "__proto__",
    ],
    ["more than a day", "interval", { intervalMs: 60_000, ttlMinutes: 1_441, reason: "x" }, "ttlMinutes"],
    ["a reason like a novel", "clear", { kind: "pause", reason: "x".repeat(301) }, "reason"],
    ["milliseconds for an instant", "pause_until", { until: NOW + MINUTE_MS, reason: "x" }, "until"],
  ] as const)("%s: refused, and the field is named", (_, type, fields, named) => {
    expect(readProposal(type, fields)).toMatchObject({ ok: false, message: expect.stringContaining(named) });
  });

  test("property: anything at all is read or refused, and nothing throws", () => {
    fc.assert(
      fc.property(fc.constantFrom("interval", "oneshot", "pause_until", "clear"), fc.anything(), (type, fields) => {
        expect(typeof readProposal(type, fields).ok).toBe("boolean");
      }),
    );
  });
});
