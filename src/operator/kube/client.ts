/**
 * Requests to an API server over node:https: JSON in and out, one merge patch, watches line by line. It tries nothing
 * twice but an expired credential: what a lost answer means only the one who asked can know.
 */
import * as http from "node:http";
import * as https from "node:https";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { OPERATOR_LIMITS } from "../limits.js";
import type { ClusterConfig } from "./config.js";
import type { Identity } from "./credentials.js";
import { ApiFailure, answerOf } from "./failure.js";

type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface ApiRequest {
  readonly method: Method;
  /** `/apis/batch/v1/...` */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  /** For error lines: verb and resource. */
  readonly operation: string;
  /** For error lines. */
  readonly namespace?: string;
}

export interface ClientObserver {
  /** `status` 0: no answer. */
  answered(operation: string, status: number): void;
  /** The API server's clock, to the second. */
  serverTime(at: number): void;
}

export const SILENT_OBSERVER: ClientObserver = { answered: () => undefined, serverTime: () => undefined };

export interface ClientTimes {
  readonly requestMs: number;
  /** A watch without a word, not even a bookmark, is dead. */
  readonly silenceMs: number;
}

export const CLIENT_TIMES: ClientTimes = { requestMs: 15_000, silenceMs: 150_000 };
const KEEP_ALIVE_MS = 30_000;

export class KubeClient {
  readonly config: ClusterConfig;
  readonly times: ClientTimes;
  readonly #observer: ClientObserver;
  readonly #requests: http.Agent;
  readonly #watches: http.Agent;
  readonly #isSecure: boolean;
  #isClosed = false;

  constructor(config: ClusterConfig, observer: ClientObserver = SILENT_OBSERVER, times: ClientTimes = CLIENT_TIMES) {
    this.config = config;
    this.times = times;
    this.#observer = observer;
    this.#isSecure = config.server.protocol === "https:";
    const { Agent } = this.#isSecure ? https : http;
    const options = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS };
    this.#requests = new Agent({ ...options, maxSockets: OPERATOR_LIMITS.inFlight });
    this.#watches = new Agent(options);
  }

  /** What is under way is cut off, and nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    this.#requests.destroy();
    this.#watches.destroy();
  }

  /** The answer's body. Rejects with an ApiFailure for everything but a 2xx. */
  async send<T>(request: ApiRequest): Promise<T> {
    const response = await this.#open(request, this.#requests, this.times.requestMs);
    const text = await this.#textOf(response, request);
    return JSON.parse(text) as T;
  }

  /** Lines of a watch, until it ends. What `onLine` throws ends it. */
  async stream(request: ApiRequest, signal: AbortSignal, onLine: (line: string) => void): Promise<void> {
    const response = await this.#open(request, this.#watches, this.times.silenceMs, signal);
    await new Promise<void>((done, fail) => {
      const lines = new LineSplitter(onLine);
      response.on("data", (chunk: Buffer) => {
        try {
          lines.push(chunk);
        } catch (error) {
          response.destroy();
          fail(error);
        }
      });
      response.on("end", done);
      response.on("error", (error) => fail(this.#lost(request, error)));
      response.on("close", () => (response.complete ? done() : fail(this.#lost(request, new Error("cut off")))));
    });
  }

  async #open(
    request: ApiRequest,
    agent: http.Agent,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const first = await this.#attempt(request, agent, timeoutMs, false, signal);
    if (first.statusCode !== 401) return this.#checked(first, request);
    first.resume();
    return this.#checked(await this.#attempt(request, agent, timeoutMs, true, signal), request);
  }

  async #checked(response: http.IncomingMessage, request: ApiRequest): Promise<http.IncomingMessage> {
    const status = response.statusCode ?? 0;
    this.#observer.answered(request.operation, status);
    const date = Date.parse(response.headers.date ?? "");
    if (!Number.isNaN(date)) this.#observer.serverTime(date);
    if (status >= 200 && status < 300) return response;
    const text = await this.#textOf(response, request);
    throw new ApiFailure(
      answerOf(status, jsonOrNull(text), response.headers["retry-after"]),
      request.operation,
      request.namespace,
    );
  }

  async #attempt(
    request: ApiRequest,
    agent: http.Agent,
    timeoutMs: number,
    isRefused: boolean,
    signal?: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const identity = await this.config.credentials.current(isRefused);
    if (this.#isClosed) throw this.#lost(request, new Error("the client is closed"));
    const body = request.body === undefined ? null : Buffer.from(JSON.stringify(request.body));
    const options = {
      ...this.#options(request, identity, body),
      agent,
      timeout: timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    };
    return new Promise((done, fail) => {
      const sent = (this.#isSecure ? https : http).request(options, done);
      sent.on("timeout", () => sent.destroy(new Error(`no word for ${timeoutMs} ms`)));
      sent.on("error", (error) => fail(this.#lost(request, error)));
      sent.end(body ?? undefined);
    });
  }

  #options(request: ApiRequest, identity: Identity, body: Buffer | null): https.RequestOptions {
    const { server, tls } = this.config;
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(request.query ?? {})) query.set(key, String(value));
    const { authorization, cert, key } = identity;
    const type = request.method === "PATCH" ? "application/merge-patch+json" : "application/json";
    return {
      method: request.method,
      host: server.hostname.replace(/^\[|\]$/g, ""),
      port: server.port === "" ? (this.#isSecure ? 443 : 80) : Number(server.port),
      path: `${server.pathname.replace(/\/$/, "")}${request.path}${query.size === 0 ? "" : `?${query}`}`,
      headers: {
        Accept: "application/json",
        "User-Agent": `kron-operator/${ENGINE_VERSION}`,
        ...(body === null ? {} : { "Content-Type": type, "Content-Length": body.length }),
        ...(authorization === null ? {} : { Authorization: authorization }),
      },
      ...(this.#isSecure ? { ...tls, ...(cert === null ? {} : { cert }), ...(key === null ? {} : { key }) } : {}),
    };
  }

  async #textOf(response: http.IncomingMessage, request: ApiRequest): Promise<string> {
    const isRefusal = (response.statusCode ?? 0) >= 300;
    const mostBytes = isRefusal ? OPERATOR_LIMITS.errorBodyBytes : OPERATOR_LIMITS.bodyBytes;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response) {
        bytes += (chunk as Buffer).length;
        if (bytes > mostBytes && isRefusal) break;
        if (bytes > mostBytes) throw new Error(`an answer of more than ${mostBytes} bytes`);
        chunks.push(chunk as Buffer);
      }
    } catch (error) {
      throw this.#lost(request, error);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #lost({ operation }: ApiRequest, cause: unknown): ApiFailure {
    this.#observer.answered(operation, 0);
    const message = cause instanceof Error ? cause.message : String(cause);
    return new ApiFailure({ status: 0, reason: "", message, retryAfterMs: null }, operation);
  }
}

const NEWLINE = 0x0a;

/** Of a stream of bytes the lines, however they are cut. */
class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(from, end)]).toString("utf8");
      this.#rest = [];
      this.#restBytes = 0;
      from = end + 1;
      if (line !== "") this.#onLine(line);
    }
    if (from >= chunk.length) return;
    this.#rest.push(chunk.subarray(from));
    this.#restBytes += chunk.length - from;
    if (this.#restBytes > OPERATOR_LIMITS.objectBytes) throw new Error("an object of a watch is too large");
  }
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim() === "" ? null : { message: text.trim().slice(0, 500) };
  }
}
