/**
 * One request and its answer. It is sent at most once: whatever goes wrong afterwards is its end, and no layer below sends
 * it again. One clock runs over all of it, from the first attempt to connect to the last byte.
 */

import type { Dispatcher } from "undici";
import { messageOf } from "../../core/base/errors/message.js";
import { isInStatuses } from "../../core/job/status-reader.js";
import { isPast } from "../../core/period/lateness.js";
import { ABORTED_LATE, BODY_UNEXPECTED, type Ending } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import { type BodyJudge, bodyJudgeOf } from "./body-judge.js";
import { ConnectFailure, errorText, type Line } from "./lines.js";
import { excerptOf, idempotencyKeyOf, signatureOf } from "./message.js";
import type { AnswerHeaders, RequestArm } from "./port.js";
import { retryAfterMsOf } from "./retry-after.js";

/** Everything that can fail for reasons of the job has been done. */
export interface Prepared {
  readonly request: RequestArm;
  readonly headers: Readonly<Record<string, string>>;
  readonly signingKey: Buffer | null;
  /** Not to be seen in what is kept of the answer. */
  readonly secrets: readonly string[];
  readonly dnsMs: number | null;
}

/** How long it waited for room, as it goes on record: what did not wait says nothing of it. */
export function waitedField(waitedMs: number): { readonly waitedMs?: number } {
  const whole = Math.floor(waitedMs);
  return whole === 0 ? {} : { waitedMs: whole };
}

/** Codes of the registry, and what also ends processes. */
export type FailureReason =
  | "connect-failed"
  | "tls-failed"
  | "connection-lost"
  | "response-invalid"
  | "response-too-large"
  | "timeout"
  | "cancelled";

/** Interim answers, such as 103: any number may come before the one that counts. */
const FIRST_FINAL_STATUS = 200;
const BROKEN_ANSWERS: ReadonlySet<string> = new Set([
  "HTTPParserError",
  "HeadersOverflowError",
  "ResponseContentLengthMismatchError",
]);

/** When it may still be sent, and how long it has waited to be. */
interface Turn {
  readonly latestAt: EpochMs;
  readonly waitedMs: number;
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #fromMs: number;
  readonly #timer: Timer;
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  #bytes = 0;
  #status: number | null = null;
  #retryAfterMs: number | null = null;
  #sentMs: number | null = null;
  #firstByteMs: number | null = null;
  #isOver = false;
  readonly #prepared: Prepared;
  readonly #line: Line;
  readonly #latestAt: EpochMs;
  readonly #waitedMs: number;
  readonly #clock: Clock;
  readonly #onEnd: (ending: Ending, isLineSound: boolean) => void;
  readonly #body: BodyJudge | null;

  constructor(
    prepared: Prepared,
    line: Line,
    { latestAt, waitedMs }: Turn,
    clock: Clock,
    onEnd: (ending: Ending, isLineSound: boolean) => void,
  ) {
    this.#prepared = prepared;
    this.#line = line;
    this.#latestAt = latestAt;
    this.#waitedMs = waitedMs;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#fromMs = clock.monotonicMs();
    this.#body = bodyJudgeOf(prepared.request.target.successBody);
    const { timeoutMs } = prepared.request.target;
    this.#timer = clock.after(timeoutMs, () => this.fail("timeout", `no whole answer within ${timeoutMs} ms`));
  }

  send(): void {
    const { request, headers, signingKey } = this.#prepared;
    const { url, method, body } = request.target;
    const { pathname, search } = new URL(url);
    const id = idempotencyKeyOf(request.identity, request.periodId);
    const signature = signingKey === null ? {} : signatureOf(signingKey, id, this.#clock.now(), body ?? "");
    const path = `${pathname}${search}`;
    try {
      this.#line.client.dispatch({ path, method, headers: { ...headers, ...signature }, body }, this);
    } catch (error) {
      this.fail("connect-failed", messageOf(error));
    }
  }

  /** Its socket is destroyed; whether it was received nobody can tell. */
  fail(reason: FailureReason, detail: string): void {
    this.#end({
      kind: "failed",
      status: this.#status,
      isSent: this.#sentMs !== null,
      detail,
      reason,
      ...this.#measured(),
    });
  }

  /** Nobody is told any more. */
  drop(): void {
    this.#isOver = true;
    this.#timer.cancel();
    this.#line.destroy();
  }

  /** Right before the head is written: the last moment to think better of it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver || this.#sentMs !== null) controller.abort(new Error("it is not sent again"));
    else if (isPast(this.#latestAt, this.#clock.now())) this.#end(ABORTED_LATE);
    else this.#sentMs = this.#clock.monotonicMs();
    if (this.#isOver) controller.abort(new Error("it is too late"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < FIRST_FINAL_STATUS || this.#isOver) return;
    this.#prepared.request.onHead?.(status, headers);
    this.#status = status;
    this.#retryAfterMs = retryAfterMsOf(headers["retry-after"], this.#clock.now());
    this.#firstByteMs = this.#clock.monotonicMs() - (this.#sentMs ?? this.#fromMs);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    const { maxResponseBytes, excerptBytes } = this.#prepared.request.target;
    this.#bytes += chunk.length;
    if (this.#keptBytes < excerptBytes) {
      // A copy: the rest of what it is a part of is not to be kept with it.
      const kept = Buffer.from(chunk.subarray(0, excerptBytes - this.#keptBytes));
      this.#chunks.push(kept);
      this.#keptBytes += kept.length;
    }
    if (this.#bytes <= maxResponseBytes) {
      this.#body?.take(chunk);
      return;
    }
    this.fail("response-too-large", `the answer is longer than ${maxResponseBytes} bytes`);
  }

  onResponseEnd(): void {
    const status = this.#status;
    if (status === null) {
      this.fail("response-invalid", "the answer has no status");
      return;
    }
    const isExpected = isInStatuses(status, this.#prepared.request.target.success);
    // Of an answer that has failed by its status the body says nothing more.
    const fault = isExpected ? (this.#body?.fault() ?? null) : null;
    const wish = isExpected || this.#retryAfterMs === null ? {} : { retryAfterMs: this.#retryAfterMs };
    this.#end({ ...answered(status, isExpected, fault), ...wish, ...this.#measured() }, true);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof ConnectFailure) {
      this.fail(error.phase === "tls" ? "tls-failed" : "connect-failed", error.message);
      return;
    }
    const reason = BROKEN_ANSWERS.has(error.name) ? "response-invalid" : "connection-lost";
    this.fail(this.#sentMs === null ? "connect-failed" : reason, errorText(error));
  }

  #end(ending: Ending, isLineSound = false): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.cancel();
    this.#onEnd(ending, isLineSound);
  }

  #measured() {
    const { request, secrets, dnsMs } = this.#prepared;
    const { connected } = this.#line;
    return {
      durationMs: Math.round(this.#clock.monotonicMs() - this.#fromMs),
      ...waitedField(this.#waitedMs),
      bytes: this.#bytes,
      timings: {
        dnsMs: rounded(dnsMs),
        connectMs: rounded(connected?.connectMs ?? null),
        tlsMs: rounded(connected?.tlsMs ?? null),
        firstByteMs: rounded(this.#firstByteMs),
      },
      excerpt: this.#status === null ? null : excerptOf(this.#chunks, request.target.excerptBytes, secrets),
    };
  }
}

function answered(status: number, isExpected: boolean, fault: string | null) {
  if (fault === null) return { kind: "answered", status, isExpected, reason: null } as const;
  return { kind: "answered", status, isExpected: false, reason: BODY_UNEXPECTED, detail: fault } as const;
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
