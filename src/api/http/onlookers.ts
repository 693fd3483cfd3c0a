/**
 * Whoever watches machines take their steps, by server-sent events: one frame a message. What is wanted is said in the
 * address, so that nothing else is made; who does not read is told less, and how much it was that they were not told.
 */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../actors/clock.js";
import type { Onlooker, Watching } from "../../operations/watching.js";
import { isGone } from "./answer.js";
import { ClientGone } from "./body.js";
import { HttpProblem, retryAfter } from "./problem.js";
import { STREAM_LIMITS } from "./sse.js";

export const ONLOOKER_LIMITS = {
  onlookers: 8,
  perHolder: 4,
} as const;

const RETRY_MS = 5_000;

interface Seat {
  readonly response: ServerResponse;
  readonly holder: string;
  /** Whether whoever watches still may. */
  readonly mayGoOn: () => Promise<boolean>;
}

export class Onlookers {
  /** With what ends the watching. */
  readonly #seats = new Map<Seat, () => void>();
  readonly #watching: Watching;
  readonly #clock: Clock;
  #keepAlive: Timer | null = null;

  constructor(watching: Watching, clock: Clock) {
    this.#watching = watching;
    this.#clock = clock;
  }

  open(seat: Seat, query: string, headers: Readonly<Record<string, string>>): void {
    const { response } = seat;
    if (isGone(response)) throw new ClientGone();
    this.#mustHaveRoom(seat.holder);
    const onlooker = new PieceWise(response);
    const watched = this.#watching.watch(new URLSearchParams(query), onlooker);
    if (!watched.ok) throw new HttpProblem("input-invalid", watched.error);
    this.#seats.set(seat, watched.value);
    response.once("close", () => this.#forget(seat));
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    });
    onlooker.begin();
    this.#keepAlive ??= this.#clock.after(STREAM_LIMITS.keepAliveMs, () => void this.#beat());
  }

  close(): void {
    this.#keepAlive?.cancel();
    this.#keepAlive = null;
    for (const { response } of this.#seats.keys()) response.destroy();
  }

  #forget(seat: Seat): void {
    const stop = this.#seats.get(seat);
    this.#seats.delete(seat);
    stop?.();
  }

  #dropGone(): void {
    for (const seat of [...this.#seats.keys()]) if (isGone(seat.response)) this.#forget(seat);
  }

  #mustHaveRoom(holder: string): void {
    this.#dropGone();
    const own = [...this.#seats.keys()].filter((seat) => seat.holder === holder).length;
    const { onlookers, perHolder } = ONLOOKER_LIMITS;
    const headers = retryAfter(RETRY_MS);
    if (own >= perHolder) throw new HttpProblem("rate-exceeded", `${own} inspectors watch by this key`, { headers });
    if (this.#seats.size < onlookers) return;
    throw new HttpProblem("streams-exceeded", `${onlookers} inspectors watch already`, { headers });
  }

  /** Somebody may watch no longer: whoever that is, it ends now. */
  async reconsider(): Promise<void> {
    for (const seat of [...this.#seats.keys()]) {
      if (await seat.mayGoOn().catch(() => false)) continue;
      this.#forget(seat);
      seat.response.end();
    }
  }

  async #beat(): Promise<void> {
    this.#dropGone();
    await this.reconsider();
    for (const { response } of this.#seats.keys()) response.write(": still here\n\n");
    if (this.#keepAlive === null) return;
    const again = this.#seats.size > 0;
    this.#keepAlive = again ? this.#clock.after(STREAM_LIMITS.keepAliveMs, () => void this.#beat()) : null;
  }
}

/**
 * What is said in one turn goes out as one piece: a write of its own for each frame would cost more than the frame. What is
 * said before the head is written waits for it.
 */
class PieceWise implements Onlooker {
  readonly #response: ServerResponse;
  #messages: string[] = [];
  #chars = 0;
  #onSents: (() => void)[] = [];
  #hasBegun = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get bufferedAmount(): number {
    return this.#response.writableLength + this.#chars;
  }

  send(text: string, onSent: () => void): void {
    if (this.#messages.length === 0 && this.#hasBegun) queueMicrotask(() => this.#flush());
    this.#messages.push(`data: ${text}\n\n`);
    this.#chars += text.length;
    this.#onSents.push(onSent);
  }

  goodbye(): Promise<void> {
    this.#flush();
    const response = this.#response;
    return new Promise((resolve) => response.once("close", resolve).end("event: goodbye\ndata: {}\n\n"));
  }

  begin(): void {
    this.#hasBegun = true;
    this.#flush();
  }

  #flush(): void {
    if (this.#messages.length === 0) return;
    const [piece, onSents] = [this.#messages.join(""), this.#onSents];
    this.#messages = [];
    this.#chars = 0;
    this.#onSents = [];
    // It may have been ended in the same turn: then nobody waits for it any more.
    if (this.#response.writableEnded) return;
    this.#response.write(piece, () => {
      for (const onSent of onSents) onSent();
    });
  }
}
