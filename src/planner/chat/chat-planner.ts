/**
 * The planner that asks a model, at any endpoint that speaks as OpenAI's chat completions do, with tool calls. What it
 * proposes is judged like anybody's. Where the model cannot be asked, or does not come to an end, the rules are asked
 * instead, and the session says so.
 */
import type { Clock } from "../../actors/clock.js";
import { CHAT_LIMITS } from "../limits.js";
import type { Situation } from "../model.js";
import type { Planner, ProposeOptions } from "../port.js";
import { rulesFor } from "../rules.js";
import { inputsHashOf, NO_TOKENS, nextAnalysisAt, type Outcome, type OutcomeCode, type Session } from "../session.js";
import { Breaker } from "./breaker.js";
import { Conversation, type Held, type ServerManners } from "./conversation.js";
import type { ChatTransport } from "./transport.js";

export interface ChatPlannerOptions {
  readonly transport: ChatTransport;
  readonly model: string;
  readonly clock: Clock;
  /** For the jitter of the breaker: from 0 to 1. */
  readonly random: () => number;
  /** Told once each time the model is given up for a while. */
  readonly onGivenUp?: (message: string) => void;
  readonly deadlineMs?: number;
}

/** The server is sound, whatever it had to say. */
const SOUND: readonly OutcomeCode[] = ["proposed", "nothing", "loop"];
/** Nothing was learned about it. */
const UNTRIED: readonly OutcomeCode[] = ["quota", "cancelled"];
/** Its end is the session's own: nobody else is asked. */
const OWN_END: readonly OutcomeCode[] = ["proposed", "nothing", "cancelled"];

export class ChatPlanner implements Planner {
  readonly #options: ChatPlannerOptions;
  readonly #breaker: Breaker;
  readonly #manners: ServerManners = { isPlain: false };

  constructor(options: ChatPlannerOptions) {
    this.#options = options;
    this.#breaker = new Breaker(options.random);
  }

  async propose(situation: Situation, { signal, budget }: ProposeOptions): Promise<Session> {
    const { clock, transport, model, deadlineMs = CHAT_LIMITS.deadlineMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (signal.aborted) return sessionOf(situation, notHeld("cancelled", "it was ended before it began"));
    if (!this.#breaker.mayTry(nowMs)) {
      const seconds = Math.ceil(this.#breaker.restMs(nowMs) / 1_000);
      return byRules(situation, notHeld("unavailable", `the model is not asked for ${seconds} s, after failures`));
    }
    const ports = { transport, budget, clock, model, manners: this.#manners, deadlineMs };
    const held = await new Conversation(ports, situation, signal).hold();
    this.#learn(held);
    const isDone = OWN_END.includes(held.outcome.code) || held.proposals.length > 0;
    return isDone ? sessionOf(situation, held) : byRules(situation, held);
  }

  #learn({ outcome, restMs }: Held): void {
    if (SOUND.includes(outcome.code)) this.#breaker.succeeded();
    else if (UNTRIED.includes(outcome.code)) this.#breaker.leftOff();
    else {
      const atOnce = outcome.code === "tools_unsupported";
      const hasOpened = this.#breaker.failed(this.#options.clock.monotonicMs(), { atOnce, restMs });
      if (hasOpened) this.#options.onGivenUp?.(`the planner's model is given up for a while: ${outcome.message}`);
    }
  }
}

function notHeld(code: OutcomeCode, message: string): Held {
  return { outcome: { code, message }, proposals: [], calls: [], tokens: NO_TOKENS, durationMs: 0, restMs: 0 };
}

/** What was accepted stands, however the session went on. */
function sessionOf(situation: Situation, { outcome, proposals, calls, tokens, durationMs }: Held): Session {
  const isCut = proposals.length > 0 && outcome.code !== "proposed";
  return {
    endpoint: situation.endpoint.id,
    startedAt: situation.now,
    inputsHash: inputsHashOf(situation),
    kind: "chat",
    calls,
    tokens,
    durationMs,
    proposals,
    outcome: isCut ? { code: "proposed", message: `${outcome.code}, afterwards: ${outcome.message}` } : outcome,
    nextAnalysisAt: nextAnalysisAt(situation),
  };
}

function byRules(situation: Situation, { outcome, calls, tokens, durationMs }: Held): Session {
  const session = rulesFor(situation);
  const told: Outcome = {
    code: outcome.code,
    message: `${outcome.message}; the rules say: ${session.outcome.message}`,
  };
  return { ...session, calls: [...calls, ...session.calls], tokens, durationMs, outcome: told };
}
