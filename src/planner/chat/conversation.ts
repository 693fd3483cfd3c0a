/**
 * One session with a model, from the first request to its end: bounded in time, rounds, calls and tokens, and over at the
 * first thing that repeats itself. What it leaves is proposals that were judged, and an account of everything.
 */
import type { Clock } from "../../actors/clock.js";
import { oneLine } from "../../core/endpoint/ended-run.js";
import type { PlannerBudget } from "../budget.js";
import { CHAT_LIMITS } from "../limits.js";
import type { Proposal, Situation } from "../model.js";
import type { Outcome, OutcomeCode, SessionCall, SessionTokens } from "../session.js";
import { echoTurn, openingTurns, REMINDER_TURN, requestBody, resultTurn, type Turn } from "./prompt.js";
import { type ChatMessage, errorText, looksLikeCall, type RawCall, readReply } from "./reply.js";
import { argumentsText, callKey, ToolBox } from "./tools.js";
import type { ChatTransport, Reply } from "./transport.js";

/** What is known of a server from one session to the next. */
export interface ServerManners {
  /** It has objected to fields that are not needed. */
  isPlain: boolean;
}

interface ConversationPorts {
  readonly transport: ChatTransport;
  readonly budget: PlannerBudget;
  readonly clock: Clock;
  readonly model: string;
  readonly manners: ServerManners;
  readonly deadlineMs: number;
}

export interface Held {
  readonly outcome: Outcome;
  readonly proposals: readonly Proposal[];
  readonly calls: readonly SessionCall[];
  readonly tokens: SessionTokens;
  readonly durationMs: number;
  /** How long the server wants to be left alone. */
  readonly restMs: number;
}

type Answer = { readonly message: ChatMessage } | { readonly failure: Outcome };

const PUT_OFF: readonly number[] = [429, 503];
const OBJECTING: readonly number[] = [400, 422];
const SPEAKS_OF_TOOLS = /\btools?\b|tool_choice|--jinja|function.?call/i;
const FIRST_ERROR_STATUS = 300;
/** Codes of what keeps a request from being sent. */
const NOT_SENT: readonly string[] = [
  "address-forbidden",
  "dns-failed",
  "connect-failed",
  "tls-failed",
  "secret-unreadable",
];

export class Conversation {
  readonly #ports: ConversationPorts;
  readonly #signal: AbortSignal;
  readonly #box: ToolBox;
  readonly #turns: Turn[];
  readonly #calls: SessionCall[] = [];
  readonly #seen = new Set<string>();
  readonly #fromMs: number;
  #usedTokens = 0;
  #isEstimated = false;
  #garbled = 0;
  #wasReminded = false;
  #wasRetried = false;
  #restMs = 0;

  constructor(ports: ConversationPorts, situation: Situation, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
    this.#box = new ToolBox(situation);
    this.#turns = [...openingTurns(situation)];
    this.#fromMs = ports.clock.monotonicMs();
  }

  async hold(): Promise<Held> {
    const outcome = await this.#rounds();
    const isCancelled = outcome.code === "cancelled";
    return {
      outcome,
      proposals: isCancelled ? [] : this.#box.accepted,
      calls: this.#calls,
      tokens: { used: this.#usedTokens, isEstimated: this.#isEstimated },
      durationMs: Math.round(this.#ports.clock.monotonicMs() - this.#fromMs),
      restMs: this.#restMs,
    };
  }

  async #rounds(): Promise<Outcome> {
    for (let round = 1; round <= CHAT_LIMITS.rounds; round++) {
      const answer = await this.#ask(round);
      if ("failure" in answer) return answer.failure;
      const { message } = answer;
      if (message.calls.length > 0) {
        const end = this.#answer(message);
        if (end !== null) return end;
      } else if (looksLikeCall(message.content) && !this.#wasReminded) {
        this.#wasReminded = true;
        this.#turns.push(echoTurn(message, []), REMINDER_TURN);
      } else {
        return this.#ended(message.content);
      }
    }
    return outcomeOf("loop", `it had not come to an end after ${CHAT_LIMITS.rounds} rounds`);
  }

  #ended(content: string): Outcome {
    const said = oneLine(content, CHAT_LIMITS.recordedChars);
    return outcomeOf(this.#box.accepted.length > 0 ? "proposed" : "nothing", said);
  }

  /** null: it goes on. */
  #answer(message: ChatMessage): Outcome | null {
    const calls = message.calls.slice(0, CHAT_LIMITS.callsPerRound);
    this.#turns.push(echoTurn(message, calls));
    for (const call of calls) {
      const end = this.#use(call);
      if (end !== null) return end;
    }
    const [unheard, ...more] = message.calls.slice(CHAT_LIMITS.callsPerRound);
    if (unheard !== undefined) this.#note(unheard, "dropped", `${more.length + 1} calls more than are heard at once`);
    return null;
  }

  #use(call: RawCall): Outcome | null {
    const key = callKey(call);
    if (this.#seen.has(key)) {
      this.#note(call, "dropped", "the same call again");
      return outcomeOf("loop", "it made the same call again");
    }
    this.#seen.add(key);
    const { result, content, isGarbled } = this.#box.use(call);
    if (isGarbled) this.#garbled += 1;
    const isLast = this.#garbled > 1;
    this.#note(call, isLast ? "dropped" : result, content);
    if (isLast) return outcomeOf("response_invalid", "its calls had no readable arguments, twice");
    this.#turns.push(resultTurn(call.id, content));
    return null;
  }

  #note({ name, arguments: given }: RawCall, result: SessionCall["result"], message: string): void {
    if (this.#calls.length >= CHAT_LIMITS.rounds * CHAT_LIMITS.callsPerRound) return;
    const said = oneLine(message, CHAT_LIMITS.recordedChars);
    this.#calls.push({ name: oneLine(name, 60), arguments: argumentsText(given), result, message: said });
  }

  async #ask(round: number): Promise<Answer> {
    const { budget, clock, manners, model } = this.#ports;
    const body = requestBody(model, this.#turns, manners.isPlain);
    const least = tokensOf(body) + CHAT_LIMITS.maxTokens;
    const promised = await budget.reserve(least, clock.now());
    if (!promised.ok) return failed("quota", promised.message);
    const reply = await this.#post(body);
    const read = reply.kind === "answer" && reply.status < FIRST_ERROR_STATUS ? readReply(reply.text, round) : null;
    const used = this.#count(body, reply, read?.ok === true ? read.message.usedTokens : null);
    await promised.settle(used);
    if (this.#signal.aborted) return failed("cancelled", "it was ended");
    if (read?.ok === true) return { message: read.message };
    if (read !== null) return failed("response_invalid", oneLine(read.message, CHAT_LIMITS.recordedChars));
    return this.#afterError(reply, round);
  }

  /** What was used: by the server's own count, or by size. Of an answer that was lost, at least what was asked. */
  #count(body: string, reply: Reply, counted: number | null): number {
    const isAnswer = reply.kind === "answer";
    if (isAnswer ? reply.status >= FIRST_ERROR_STATUS : NOT_SENT.includes(reply.reason)) return 0;
    const used = counted ?? tokensOf(body) + (isAnswer ? tokensOf(reply.text) : 0);
    this.#usedTokens += used;
    if (counted === null) this.#isEstimated = true;
    return used;
  }

  async #post(body: string): Promise<Reply> {
    const leftMs = this.#leftMs();
    if (leftMs <= 0) return { kind: "failed", reason: "timeout", message: "its time was over" };
    return this.#ports.transport.post(body, leftMs, this.#signal);
  }

  #leftMs(): number {
    return Math.floor(this.#fromMs + this.#ports.deadlineMs - this.#ports.clock.monotonicMs());
  }

  async #afterError(reply: Reply, round: number): Promise<Answer> {
    if (reply.kind === "failed") {
      const code =
        reply.reason === "timeout" ? "deadline" : isInvalid(reply.reason) ? "response_invalid" : "unavailable";
      return failed(code, `${reply.reason}: ${oneLine(reply.message, CHAT_LIMITS.recordedChars)}`);
    }
    const { status, text, retryAfterMs } = reply;
    const { manners } = this.#ports;
    if (OBJECTING.includes(status) && !manners.isPlain) {
      manners.isPlain = true;
      return this.#ask(round);
    }
    if (PUT_OFF.includes(status)) return this.#putOff(status, retryAfterMs, round);
    const said = oneLine(errorIn(text), CHAT_LIMITS.recordedChars);
    const code = SPEAKS_OF_TOOLS.test(text) ? "tools_unsupported" : "unavailable";
    return failed(code, `the server answered ${status}: ${said}`);
  }

  /** Once in a session, and only where there is time for it. */
  async #putOff(status: number, retryAfterMs: number | null, round: number): Promise<Answer> {
    const waitMs = retryAfterMs ?? CHAT_LIMITS.retryAfterMs;
    this.#restMs = waitMs;
    const isWorthIt = waitMs <= CHAT_LIMITS.longestRetryMs && waitMs < this.#leftMs();
    if (this.#wasRetried || !isWorthIt) return failed("unavailable", `the server answered ${status}: not now`);
    this.#wasRetried = true;
    await this.#wait(waitMs);
    if (this.#signal.aborted) return failed("cancelled", "it was ended");
    return this.#ask(round);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = this.#ports.clock.after(ms, done);
      this.#signal.addEventListener("abort", done, { once: true });
    });
  }
}

function outcomeOf(code: OutcomeCode, message: string): Outcome {
  return { code, message };
}

function failed(code: OutcomeCode, message: string): Answer {
  return { failure: outcomeOf(code, message) };
}

function isInvalid(reason: string): boolean {
  return reason === "response-invalid" || reason === "response-too-large";
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / CHAT_LIMITS.bytesPerToken);
}

/** What an error says, where it says so in one of the usual ways. */
function errorIn(text: string): string {
  const read = readReply(text, 0);
  return read.ok ? "" : read.message.startsWith("the server answered with") ? read.message : errorText(text);
}
