/**
 * One request and its answer. It is sent at most once: whatever goes wrong afterwards is its end, and no layer below sends
 * it again. One clock runs over all of it, from the first attempt to connect to the last byte.
 */
import type { Dispatcher } from "undici";
import { isInStatuses } from "../../core/job/status-reader.js";
import { isPast } from "../../core/period/lateness.js";
import { ABORTED_LATE, type Ending } from "../../core/state/ending.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import { ConnectFailure, type Line } from "./lines.js";
import { excerptOf, idempotencyKeyOf, signatureOf } from "./message.js";
import type { RequestArm } from "./port.js";

/** Everything that can fail for reasons of the job has been done. */
export interface Prepared {
  readonly request: RequestArm;
  readonly headers: Readonly<Record<string, string>>;
  readonly signingSecret: string | null;
  /** Not to be seen in what is kept of the answer. */
  readonly secrets: readonly string[];
  readonly dnsMs: number | null;
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

export class Exchange implements Dispatcher.DispatchHandler {
  private readonly fromMs: number;
  private readonly timer: Timer;
  private readonly chunks: Buffer[] = [];
  private keptBytes = 0;
  private bytes = 0;
  private status: number | null = null;
  private sentMs: number | null = null;
  private firstByteMs: number | null = null;
  private isOver = false;

  constructor(
    private readonly prepared: Prepared,
    private readonly line: Line,
    private readonly latestAt: EpochMs,
    private readonly clock: Clock,
    private readonly onEnd: (ending: Ending, isLineSound: boolean) => void,
  ) {
    this.fromMs = clock.monotonicMs();
    const { timeoutMs } = prepared.request.target;
    this.timer = clock.after(timeoutMs, () => this.fail("timeout", `no whole answer within ${timeoutMs} ms`));
  }

  send(): void {
    const { request, headers, signingSecret } = this.prepared;
    const { url, method, body } = request.target;
    const { pathname, search } = new URL(url);
    const id = idempotencyKeyOf(request.identity, request.periodId);
    const signature = signingSecret === null ? {} : signatureOf(signingSecret, id, this.clock.now(), body ?? "");
    const path = `${pathname}${search}`;
    try {
      this.line.client.dispatch({ path, method, headers: { ...headers, ...signature }, body }, this);
    } catch (error) {
      this.fail("connect-failed", error instanceof Error ? error.message : String(error));
    }
  }

  /** Its socket is destroyed; whether it was received nobody can tell. */
  fail(reason: FailureReason, detail: string): void {
    this.end({ kind: "failed", status: this.status, isSent: this.sentMs !== null, detail, reason, ...this.measured() });
  }

  /** Nobody is told any more. */
  drop(): void {
    this.isOver = true;
    this.timer.cancel();
    this.line.destroy();
  }

  /** Right before the head is written: the last moment to think better of it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver || this.sentMs !== null) controller.abort(new Error("it is not sent again"));
    else if (isPast(this.latestAt, this.clock.now())) this.end(ABORTED_LATE);
    else this.sentMs = this.clock.monotonicMs();
    if (this.isOver) controller.abort(new Error("it is too late"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    if (status < FIRST_FINAL_STATUS || this.isOver) return;
    this.status = status;
    this.firstByteMs = this.clock.monotonicMs() - (this.sentMs ?? this.fromMs);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    const { maxResponseBytes, excerptBytes } = this.prepared.request.target;
    this.bytes += chunk.length;
    if (this.keptBytes < excerptBytes) {
      // A copy: the rest of what it is a part of is not to be kept with it.
      const kept = Buffer.from(chunk.subarray(0, excerptBytes - this.keptBytes));
      this.chunks.push(kept);
      this.keptBytes += kept.length;
    }
    if (this.bytes <= maxResponseBytes) return;
    this.fail("response-too-large", `the answer is longer than ${maxResponseBytes} bytes`);
  }

  onResponseEnd(): void {
    const { status } = this;
    if (status === null) {
      this.fail("response-invalid", "the answer has no status");
      return;
    }
    const isExpected = isInStatuses(status, this.prepared.request.target.success);
    this.end({ kind: "answered", status, isExpected, reason: null, ...this.measured() }, true);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof ConnectFailure) {
      this.fail(error.phase === "tls" ? "tls-failed" : "connect-failed", error.message);
      return;
    }
    const reason = BROKEN_ANSWERS.has(error.name) ? "response-invalid" : "connection-lost";
    this.fail(this.sentMs === null ? "connect-failed" : reason, error.message || error.name);
  }

  private end(ending: Ending, isLineSound = false): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer.cancel();
    this.onEnd(ending, isLineSound);
  }

  private measured() {
    const { request, secrets, dnsMs } = this.prepared;
    const { connected } = this.line;
    return {
      durationMs: Math.round(this.clock.monotonicMs() - this.fromMs),
      bytes: this.bytes,
      timings: {
        dnsMs: rounded(dnsMs),
        connectMs: rounded(connected?.connectMs ?? null),
        tlsMs: rounded(connected?.tlsMs ?? null),
        firstByteMs: rounded(this.firstByteMs),
      },
      excerpt: this.status === null ? null : excerptOf(this.chunks, request.target.excerptBytes, secrets),
    };
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
