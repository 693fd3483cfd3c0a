/** Whatever a server answers, a session comes to an end within its bounds, and proposes nothing that may not be proposed. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/actors/clock.js";
import { HOUR_MS } from "../../src/core/time/instant.js";
import { type PlannerBudget, TenantBudget } from "../../src/planner/budget.js";
import { Breaker } from "../../src/planner/chat/breaker.js";
import { ChatPlanner } from "../../src/planner/chat/chat-planner.js";
import type { ChatTransport, Reply } from "../../src/planner/chat/transport.js";
import { BREAKER_LIMITS, CHAT_LIMITS } from "../../src/planner/limits.js";
import { judge } from "../../src/planner/proposal.js";
import { decodeSession, encodeSession } from "../../src/planner/session.js";
import { NOW, situation } from "./situations.js";

/** Time passes where somebody waits for it. */
function jumpingClock(): Clock {
  let nowMs = 0;
  return {
    now: () => NOW + nowMs,
    monotonicMs: () => nowMs,
    after: (delayMs, callback) => {
      let isOver = false;
      queueMicrotask(() => {
        nowMs += delayMs;
        if (!isOver) callback();
      });
      return {
        cancel: () => {
          isOver = true;
        },
      };
    },
  };
}

const word = fc.constantFrom("interval", "60000", "", "x", "2026-03-28T13:00:00Z", "propose_interval", "__proto__");
const args = fc.oneof(
  fc.record({ intervalMs: fc.oneof(fc.integer(), word), ttlMinutes: fc.oneof(fc.nat(2_000), word), reason: word }),
  fc.record({ nextRunAt: word, ttlMinutes: fc.nat(2_000), reason: word }),
  fc.record({ until: word, reason: word }),
  fc.record({ kind: fc.constantFrom("interval", "pause", "all"), reason: word }),
  fc.anything(),
);
const name = fc.constantFrom(
  "propose_interval",
  "propose_next_time",
  "pause_until",
  "clear",
  "get_siblings",
  "get_last_errors",
  "rm",
  "",
);
const toolCall = fc.record(
  {
    id: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
    function: fc.record(
      {
        name,
        arguments: fc.oneof(
          args,
          args.map((it) => JSON.stringify(it)),
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const said = fc.record(
  {
    content: fc.oneof(fc.string(), fc.constant(null), fc.anything()),
    tool_calls: fc.oneof(fc.array(toolCall, { maxLength: 8 }), fc.anything()),
  },
  { requiredKeys: [] },
);
const usage = fc.option(fc.record({ total_tokens: fc.oneof(fc.integer(), fc.double(), fc.string()) }), {
  nil: undefined,
});
const body = fc.oneof(
  { weight: 8, arbitrary: fc.record({ choices: fc.array(fc.record({ message: said }), { maxLength: 2 }), usage }) },
  { weight: 1, arbitrary: fc.anything() },
);
const reply = fc.oneof(
  {
    weight: 10,
    arbitrary: body.map((it): Reply => ({ kind: "answer", status: 200, text: textOf(it), retryAfterMs: null })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      status: fc.constantFrom(204, 302, 400, 422, 429, 500, 503),
      text: fc.string(),
      retryAfterMs: fc.option(fc.nat(100_000)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Reply>(
      { kind: "failed", reason: "timeout", message: "" },
      { kind: "failed", reason: "connection-lost", message: "\u001b" },
    ),
  },
);

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

describe("a session", () => {
  test("property: ends within its rounds and tokens, is on record, and what it proposes may be proposed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(reply, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 40_000 }),
        async (replies, most) => {
          let asked = 0;
          const transport: ChatTransport = {
            post: async () => replies[asked++ % replies.length] ?? { kind: "failed", reason: "timeout", message: "" },
            close: async () => undefined,
          };
          let [reserved, mostReserved] = [0, 0];
          const inner = new TenantBudget({ plannerCallsPerDay: null, plannerTokensPerDay: most });
          const budget: PlannerBudget = {
            reserve: async (tokens, now) => {
              const promised = await inner.reserve(tokens, now);
              if (!promised.ok) return promised;
              reserved += tokens;
              mostReserved = Math.max(mostReserved, reserved);
              return {
                ok: true,
                settle: async (used) => {
                  reserved = Math.max(0, reserved - tokens + used);
                  await promised.settle(used);
                },
              };
            },
          };
          const planner = new ChatPlanner({ transport, model: "m", clock: jumpingClock(), random: () => 0 });
          const about = situation({ maxIntervalMs: HOUR_MS, minIntervalMs: 60_000 });
          const session = await planner.propose(about, { signal: new AbortController().signal, budget });
          // A retry and the request without optional fields come on top.
          expect(asked).toBeLessThanOrEqual(CHAT_LIMITS.rounds + 2);
          expect(mostReserved).toBeLessThanOrEqual(most);
          expect(decodeSession(encodeSession(session))).toEqual(session);
          for (const [at, proposal] of session.proposals.entries()) {
            expect(judge(proposal, about, session.proposals.slice(0, at))).toEqual({
              ok: true,
              proposal,
              clamped: null,
            });
          }
          expect(encodeSession(session)).not.toMatch(/\p{Cc}|\\u00[01]/u);
        },
      ),
    );
  });
});

describe("the breaker", () => {
  const failing = (breaker: Breaker, nowMs: number): boolean => breaker.mayTry(nowMs) && breaker.failed(nowMs, {});

  test("opens after three failures, tells it once, lets one try it after a while, and rests for longer each time", () => {
    const breaker = new Breaker(() => 0);
    expect([failing(breaker, 0), failing(breaker, 0), failing(breaker, 0)]).toEqual([false, false, true]);
    let nowMs = 0;
    for (const restMs of [60_000, 120_000, 240_000]) {
      expect(breaker.restMs(nowMs)).toBe(restMs);
      expect(breaker.mayTry(nowMs + restMs - 1)).toBe(false);
      nowMs += restMs;
      expect([breaker.mayTry(nowMs), breaker.mayTry(nowMs)]).toEqual([true, false]);
      expect(breaker.failed(nowMs, {})).toBe(false);
    }
    expect(breaker.mayTry(nowMs + BREAKER_LIMITS.longestMs)).toBe(true);
    breaker.succeeded();
    expect(breaker.mayTry(nowMs)).toBe(true);
    expect(failing(breaker, nowMs)).toBe(false);
  });

  test("never rests for longer than an hour, jitter and what servers ask for included", () => {
    const breaker = new Breaker(() => 1);
    breaker.failed(0, { atOnce: true, restMs: 1e12 });
    expect(breaker.restMs(0)).toBe(BREAKER_LIMITS.longestMs * (1 + BREAKER_LIMITS.jitter));
  });

  test("one that was left off is tried again", () => {
    const breaker = new Breaker(() => 0);
    breaker.failed(0, { atOnce: true });
    expect(breaker.mayTry(60_000)).toBe(true);
    breaker.leftOff();
    expect(breaker.mayTry(60_000)).toBe(true);
  });
});
