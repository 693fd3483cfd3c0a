/**
 * One request to a chat endpoint and its answer, over the dispatcher that sends everything else: names looked up once and
 * every address judged, no redirect followed, nothing sent twice, one clock over all of it, and an answer cut off where it
 * gets too long.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../actors/clock.js";
import { createDispatcher } from "../../actors/dispatcher/http-dispatcher.js";
import type { AnswerHeaders, Dispatcher, RequestArm } from "../../actors/dispatcher/port.js";
import { retryAfterMsOf } from "../../actors/dispatcher/retry-after.js";
import { type Environment, readSecret } from "../../actors/dispatcher/secrets.js";
import type { ArmFailure } from "../../actors/runner/port.js";
import { type HttpSettings, SETTINGS_DEFAULTS } from "../../core/config/settings.js";
import type { HttpTarget, SecretRef } from "../../core/job/definition.js";
import type { Ending } from "../../core/state/ending.js";
import { formatSecond } from "../../core/time/instant.js";
import { CHAT_LIMITS } from "../limits.js";

export type Reply =
  | { readonly kind: "answer"; readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  /** No whole answer; `reason` is a code of the registry. */
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

export interface ChatTransport {
  /** Never rejects. */
  post(body: string, timeoutMs: number, signal: AbortSignal): Promise<Reply>;
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Such as `https://api.example.com/v1`: what `/chat/completions` is put behind. */
  readonly baseUrl: URL;
  /** null: the server wants none. Read anew for each request. */
  readonly key: SecretRef | null;
  readonly env: Environment;
  readonly clock: Clock;
  /** Private addresses, for a model on one's own machine. */
  readonly allowPrivate: boolean;
}

const HEADER_TEXT = /^[\x20-\x7e]+$/;
const REDACTED = "[redacted]";

export function createTransport(options: TransportOptions): ChatTransport {
  return new DispatchedTransport(options);
}

class DispatchedTransport implements ChatTransport {
  readonly #options: TransportOptions;
  readonly #settings: HttpSettings;
  readonly #dispatcher: Dispatcher;
  readonly #waiting = new Map<string, (ending: Ending) => void>();

  constructor(options: TransportOptions) {
    const { clock, env, allowPrivate } = options;
    this.#options = options;
    this.#settings = { ...SETTINGS_DEFAULTS.http, allowPrivate };
    this.#dispatcher = createDispatcher({ clock, env });
    this.#dispatcher.subscribe((event) => {
      if (event.kind === "ended") this.#waiting.get(event.attemptId)?.(event.ending);
    });
  }

  async post(body: string, timeoutMs: number, signal: AbortSignal): Promise<Reply> {
    const key = await this.#readKey();
    if (!key.ok) return { kind: "failed", reason: "secret-unreadable", message: key.message };
    let head: AnswerHeaders = {};
    const onHead = (_: number, headers: AnswerHeaders): void => {
      head = headers;
    };
    const request = this.#request(body, timeoutMs, key.value, onHead);
    const reply = await this.#send(request, timeoutMs, signal);
    const retryAfterMs = retryAfterMsOf(head["retry-after"], this.#options.clock.now());
    const hide = (text: string): string => (key.value === null ? text : text.replaceAll(key.value, REDACTED));
    return reply.kind === "answer"
      ? { ...reply, text: hide(reply.text), retryAfterMs }
      : { ...reply, message: hide(reply.message) };
  }

  async close(): Promise<void> {
    await this.#dispatcher.close();
  }

  async #readKey() {
    const { key, env } = this.#options;
    if (key === null) return { ok: true, value: null } as const;
    const read = await readSecret(key, env);
    if (!read.ok) return { ok: false, message: read.error.message } as const;
    if (HEADER_TEXT.test(read.value)) return { ok: true, value: read.value } as const;
    return { ok: false, message: "the key holds characters that a header cannot have" } as const;
  }

  async #send(request: RequestArm, timeoutMs: number, signal: AbortSignal): Promise<Reply> {
    const armed = await this.#dispatcher.arm(request);
    if (!armed.ok) return { kind: "failed", reason: armed.error.code, message: this.#refusal(armed.error) };
    if (signal.aborted) {
      await this.#dispatcher.abort(armed.value);
      return { kind: "failed", reason: "cancelled", message: "it was ended before it was sent" };
    }
    const { attemptId } = request;
    const ended = new Promise<Ending>((resolve) => this.#waiting.set(attemptId, resolve));
    const onAbort = (): void => void this.#dispatcher.terminate(attemptId, 0);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const outcome = await this.#dispatcher.go(armed.value, this.#options.clock.now() + timeoutMs);
      if (outcome !== "started") return { kind: "failed", reason: "timeout", message: "its time was over" };
      return replyOf(await ended);
    } finally {
      this.#waiting.delete(attemptId);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Said for whoever asks a planner: the dispatcher says it for whoever configures jobs. */
  #refusal({ code, message }: ArmFailure): string {
    const { baseUrl, allowPrivate } = this.#options;
    if (code !== "address-forbidden" || allowPrivate) return message;
    return `${baseUrl.hostname} is no public address: --allow-private lets a planner go to private ones`;
  }

  /** Each has a name of its own: what is sent again is another request, whose answer is not to be that of the first. */
  #request(body: string, timeoutMs: number, key: string | null, onHead: NonNullable<RequestArm["onHead"]>): RequestArm {
    const attemptId = randomUUID();
    return {
      kind: "request",
      attemptId,
      identity: "planner",
      periodId: attemptId,
      scheduledFor: formatSecond(this.#options.clock.now()),
      target: targetFor(this.#options.baseUrl, body, timeoutMs, key),
      settings: this.#settings,
      onHead,
    };
  }
}

function targetFor(baseUrl: URL, body: string, timeoutMs: number, key: string | null): HttpTarget {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  return {
    kind: "http",
    url: url.href,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    secretHeaders: {},
    body,
    timeoutMs,
    maxResponseBytes: CHAT_LIMITS.responseBytes,
    excerptBytes: CHAT_LIMITS.responseBytes,
    success: [{ from: 200, to: 299 }],
    signature: null,
    tls: { caFile: null, certFile: null, keyFile: null },
    by: "krond",
  };
}

function replyOf(ending: Ending): Reply {
  switch (ending.kind) {
    case "answered":
      return { kind: "answer", status: ending.status, text: ending.excerpt ?? "", retryAfterMs: null };
    case "failed":
      return { kind: "failed", reason: ending.reason, message: ending.detail };
    default:
      return { kind: "failed", reason: ending.reason ?? "timeout", message: "it was not sent in time" };
  }
}

/** Seconds, or a date; null: neither. */
