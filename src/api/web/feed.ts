/**
 * What the page is told while it is open: once a second how the daemon is, and which jobs have changed, in bunches. However
 * much happens, a page is told little: of many it is told that they are many, and asks for what it shows. The page of a tenant
 * is told of its own endpoints, and of the daemon nothing but the time.
 */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../actors/clock.js";
import type { DaemonStatus } from "../../actors/supervisor/port.js";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { formatInstant } from "../../core/time/instant.js";
import { isGone } from "../http/answer.js";
import { Attention, nobodyElse } from "../http/attention.js";
import { ClientGone } from "../http/body.js";
import { HttpProblem, retryAfter } from "../http/problem.js";
import { STREAM_LIMITS } from "../http/sse.js";
import { type Audience, Bunches } from "./bunches.js";
import { Pulse, type PulseRead } from "./pulse.js";

const TICK_MS = 1_000;
const BUNCH_MS = 250;
/** Ticks until it is asked again whether a page still may. */
const TICKS_A_CHECK = 15;

export interface FeedPorts {
  readonly clock: Clock;
  status(): DaemonStatus;
  /** Somebody looks on, until it is called off. */
  readonly follow?: () => () => void;
  /** Tells how long each durable commit took, until it is called off. */
  watchCommits(listener: (durationMs: number) => void): () => void;
}

interface Follower {
  readonly response: ServerResponse;
  /** Who follows, for the bound on how many one may have. */
  readonly holder: string;
  /** What is shown: a tenant's own; null: everything. */
  readonly tenant: Audience;
  mayGoOn(): Promise<boolean>;
}

export class Feed {
  readonly #ports: FeedPorts;
  readonly #followers = new Set<Follower>();
  readonly #bunches = new Bunches();
  readonly #pulse: Pulse;
  readonly #attention: Attention;
  /** As it was felt at the last tick: whoever comes in between is told the same, and takes nothing from the others. */
  #felt: PulseRead | null = null;
  /** Of those who follow. */
  #audiences: ReadonlySet<Audience> = new Set();
  #ticks = 0;
  #ticker: Timer | null = null;
  #bunch: Timer | null = null;

  constructor(ports: FeedPorts) {
    this.#ports = ports;
    this.#pulse = new Pulse(ports.watchCommits);
    this.#attention = new Attention(ports.follow ?? nobodyElse);
  }

  /** What the supervisor tells. Without anybody who looks, starts are counted and nothing else is noted. */
  tell(event: SupervisorEvent): void {
    const { identity } = event;
    if (identity === undefined) return;
    this.#pulse.tell(event);
    if (this.#followers.size === 0) return;
    if (!this.#bunches.note(identity, this.#audiences)) return;
    this.#bunch ??= this.#ports.clock.after(BUNCH_MS, () => this.#sendBunch());
  }

  open(follower: Follower, headers: Readonly<Record<string, string>>): void {
    const { response } = follower;
    if (isGone(response)) throw new ClientGone();
    this.#mustHaveRoom(follower.holder);
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    });
    this.#followers.add(follower);
    this.#look();
    response.once("close", () => this.#forget(follower));
    this.#write(follower, "tick", follower.tenant === null ? this.#tick() : this.#time());
    this.#ticker ??= this.#ports.clock.after(TICK_MS, () => this.#beat());
  }

  /** Somebody may follow no longer: whoever that is, it ends now. */
  reconsider(): void {
    for (const follower of this.#followers) {
      void follower.mayGoOn().then(
        (mayGoOn) => void (mayGoOn || this.#end(follower)),
        () => this.#end(follower),
      );
    }
  }

  #end(follower: Follower): void {
    this.#forget(follower);
    follower.response.end();
  }

  #dropGone(): void {
    for (const follower of this.#followers) if (isGone(follower.response)) this.#forget(follower);
  }

  #forget(follower: Follower): void {
    this.#followers.delete(follower);
    this.#look();
  }

  /** Whom there is something to tell. What of the daemon's pulse costs something is felt for the host alone. */
  #look(): void {
    this.#audiences = new Set([...this.#followers].map(({ tenant }) => tenant));
    this.#attention.is(this.#followers.size > 0);
    if (this.#audiences.has(null)) this.#pulse.start();
    else {
      this.#pulse.stop();
      this.#felt = null;
    }
  }

  close(): void {
    this.#pulse.stop();
    this.#ticker?.cancel();
    this.#bunch?.cancel();
    for (const { response } of this.#followers) response.destroy();
    this.#followers.clear();
    this.#attention.is(false);
  }

  #mustHaveRoom(holder: string): void {
    this.#dropGone();
    const own = [...this.#followers].filter((follower) => follower.holder === holder).length;
    const headers = retryAfter(TICK_MS);
    if (own >= STREAM_LIMITS.perHolder) {
      throw new HttpProblem("rate-exceeded", `this session follows ${own} streams already`, { headers });
    }
    if (this.#followers.size < STREAM_LIMITS.streams) return;
    throw new HttpProblem("streams-exceeded", `${STREAM_LIMITS.streams} pages are open already`, { headers });
  }

  /** What a tenant is told of the daemon. */
  #time(): object {
    return { at: formatInstant(this.#ports.clock.now()), daemon: null };
  }

  #tick(): object {
    const { jobs, active, armed, nextDueAt } = this.#ports.status();
    const next = nextDueAt === null ? null : formatInstant(nextDueAt);
    this.#felt ??= this.#pulse.read(this.#ports.clock.now());
    return { ...this.#time(), daemon: { jobs, active, armed, nextDueAt: next, pulse: this.#felt } };
  }

  #beat(): void {
    this.#ticker = null;
    this.#dropGone();
    if (this.#followers.size === 0) return;
    this.#ticks += 1;
    this.#felt = null;
    const [tick, time] = [this.#audiences.has(null) ? this.#tick() : null, this.#time()];
    for (const follower of this.#followers) {
      this.#write(follower, "tick", follower.tenant === null ? (tick ?? time) : time);
    }
    if (this.#ticks % TICKS_A_CHECK === 0) this.reconsider();
    this.#ticker = this.#ports.clock.after(TICK_MS, () => this.#beat());
  }

  #sendBunch(): void {
    this.#bunch = null;
    const bunches = this.#bunches.take();
    for (const follower of this.#followers) {
      const identities = bunches.get(follower.tenant);
      if (identities !== undefined) this.#write(follower, "changed", { identities });
    }
  }

  #write(follower: Follower, event: string, data: object): void {
    const { response } = follower;
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    // What waits is memory of ours.
    if (!isGone(response) && response.writableLength <= STREAM_LIMITS.waitingBytes) return;
    this.#forget(follower);
    response.destroy();
  }
}
