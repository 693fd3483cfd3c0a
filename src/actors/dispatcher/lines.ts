/**
 * Connections, each for one request at a time, to exactly the addresses that were judged. One that is free is used again
 * only by a request to the same place, by the same rules and with the same certificates, and only within moments: servers
 * close what is idle, and a request that meets that end is lost.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import type { Client } from "undici";
import { messageOf } from "../../core/base/errors/message.js";
import { err, ok, type Result } from "../../core/base/result.js";
import type { Clock, Timer } from "../clock.js";
import { DISPATCHER_LIMITS } from "./limits.js";

export interface Place {
  readonly url: URL;
  /** In the order in which they are tried. */
  readonly addresses: readonly string[];
  readonly tlsKey: string;
  readonly context: SecureContext | null;
}

/** Nothing was sent. */
export class ConnectFailure extends Error {
  override readonly name = "ConnectFailure";

  constructor(
    readonly phase: "connect" | "tls",
    message: string,
  ) {
    super(message);
  }
}

interface Connected {
  readonly connectMs: number;
  readonly tlsMs: number | null;
}

/** A program of its own size: who sends no requests does not load it. */
type NewClient = typeof Client;

type Callback = (error: Error | null, socket: Socket | null) => void;

const HTTPS = "https:";

export class Line {
  /** Of the connection that the present request made; null: it found one. */
  connected: Connected | null = null;
  idleSinceMs = 0;
  readonly client: Client;
  #socket: Socket | null = null;
  #isGone = false;
  readonly #place: Place;
  readonly #clock: Clock;

  constructor(
    readonly key: string,
    place: Place,
    clock: Clock,
    newClient: NewClient,
  ) {
    this.#place = place;
    this.#clock = clock;
    this.client = new newClient(place.url.origin, {
      connect: (_, callback) => this.#connect(0, callback as Callback),
      pipelining: 1,
      allowH2: false,
      // One clock over all of a request, which is its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: DISPATCHER_LIMITS.idleMs,
      keepAliveMaxTimeout: DISPATCHER_LIMITS.idleMs,
      maxHeaderSize: DISPATCHER_LIMITS.headBytes,
    });
  }

  get isUsable(): boolean {
    return !this.#isGone && !this.client.destroyed && !this.client.closed;
  }

  /** What is under way on it fails. */
  destroy(): void {
    this.#isGone = true;
    this.#socket?.destroy();
    void this.client.destroy().catch(() => undefined);
  }

  /** One address after another: nothing was sent to the ones before. */
  #connect(index: number, callback: Callback): void {
    const { addresses, url } = this.#place;
    const host = addresses[index];
    if (host === undefined || this.#isGone) {
      callback(new ConnectFailure("connect", "the connection was given up"), null);
      return;
    }
    const isTls = url.protocol === HTTPS;
    const port = Number(url.port || (isTls ? 443 : 80));
    const fromMs = this.#clock.monotonicMs();
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    const onError = (error: Error): void => {
      socket.destroy();
      const hasMore = index + 1 < addresses.length && !this.#isGone;
      if (hasMore) this.#connect(index + 1, callback);
      else callback(new ConnectFailure("connect", error.message || codeOf(error)), null);
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      socket.off("error", onError);
      const connectMs = this.#clock.monotonicMs() - fromMs;
      if (isTls) this.#secure(socket, connectMs, callback);
      else {
        this.connected = { connectMs, tlsMs: null };
        callback(null, socket);
      }
    });
  }

  #secure(plain: Socket, connectMs: number, callback: Callback): void {
    const { url, context } = this.#place;
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const isName = /[a-z]/i.test(name) && !name.includes(":");
    const fromMs = this.#clock.monotonicMs();
    const socket = connectTls({
      socket: plain,
      // The name, not the address: certificates are made out to it.
      host: name,
      ...(isName ? { servername: name } : {}),
      ...(context === null ? {} : { secureContext: context }),
      ALPNProtocols: ["http/1.1"],
    });
    this.#socket = socket;
    const fail = (message: string): void => {
      socket.destroy();
      callback(new ConnectFailure("tls", message), null);
    };
    const onError = (error: Error): void => {
      socket.off("close", onClose);
      fail(errorText(error));
    };
    const onClose = (): void => fail("the connection was closed while it was being secured");
    socket.once("error", onError);
    socket.once("close", onClose);
    socket.once("secureConnect", () => {
      socket.off("error", onError);
      socket.off("close", onClose);
      this.connected = { connectMs, tlsMs: this.#clock.monotonicMs() - fromMs };
      callback(null, socket);
    });
  }
}

export class Lines {
  /** By key: free ones, those used last at the end. */
  readonly #free = new Map<string, Line[]>();
  #freeCount = 0;
  #timer: Timer | null = null;
  readonly #clock: Clock;
  readonly #newClient: NewClient;

  private constructor(clock: Clock, newClient: NewClient) {
    this.#clock = clock;
    this.#newClient = newClient;
  }

  /** The error says why what sends requests could not be loaded. */
  static async open(clock: Clock): Promise<Result<Lines, string>> {
    try {
      const { Client: newClient } = await import("undici");
      return ok(new Lines(clock, newClient));
    } catch (cause) {
      return err(messageOf(cause));
    }
  }

  take(place: Place): Line {
    const key = [place.url.origin, place.tlsKey, ...place.addresses].join(" ");
    const free = this.#free.get(key) ?? [];
    for (let line = free.pop(); line !== undefined; line = free.pop()) {
      this.#freeCount -= 1;
      line.connected = null;
      if (line.isUsable) return line;
    }
    this.#free.delete(key);
    return new Line(key, place, this.#clock, this.#newClient);
  }

  giveBack(line: Line): void {
    if (!line.isUsable || this.#freeCount >= DISPATCHER_LIMITS.idleConnections) {
      line.destroy();
      return;
    }
    line.idleSinceMs = this.#clock.monotonicMs();
    const free = this.#free.get(line.key);
    if (free === undefined) this.#free.set(line.key, [line]);
    else free.push(line);
    this.#freeCount += 1;
    this.#timer ??= this.#clock.after(DISPATCHER_LIMITS.idleMs, () => this.#sweep());
  }

  close(): void {
    this.#timer?.cancel();
    for (const lines of this.#free.values()) for (const line of lines) line.destroy();
    this.#free.clear();
    this.#freeCount = 0;
  }

  #sweep(): void {
    this.#timer = null;
    const sinceMs = this.#clock.monotonicMs() - DISPATCHER_LIMITS.idleMs;
    for (const [key, lines] of this.#free) {
      const kept = lines.filter((line) => line.idleSinceMs > sinceMs && line.isUsable);
      for (const line of lines) if (!kept.includes(line)) line.destroy();
      this.#freeCount -= lines.length - kept.length;
      if (kept.length === 0) this.#free.delete(key);
      else this.#free.set(key, kept);
    }
    if (this.#freeCount > 0) this.#timer = this.#clock.after(DISPATCHER_LIMITS.idleMs, () => this.#sweep());
  }
}

/** What OpenSSL says has an address of its memory in it, and a place in its source. */
export function errorText(error: Error): string {
  const { reason } = error as { readonly reason?: unknown };
  const code = codeOf(error);
  if (code.startsWith("ERR_SSL_") && typeof reason === "string") return `${reason} (${code})`;
  return error.message || code;
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : error.name;
}
