/**
 * `/metrics`, `/healthz` and `/readyz` over HTTP, for machines that watch machines. It shows numbers and nothing else,
 * listens on loopback unless told otherwise, and answers nobody who came through a name it was not told: a page in a
 * browser could point a name of its own at this address.
 */
import * as http from "node:http";
import { isAllowedHost } from "../../actors/doors/allowed-host.js";
import { listenOn, type OpenDoor } from "../../actors/doors/listen.js";

const STATUS_SERVER_LIMITS = {
  headerBytes: 8 * 1024,
  headers: 64,
  headersMs: 5_000,
  requestMs: 10_000,
  idleMs: 5_000,
  connections: 64,
  requestsPerConnection: 1_000,
  urlChars: 1_024,
} as const;

const LOOPBACK = "127.0.0.1";
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";

export interface HealthReport {
  readonly isOk: boolean;
  /** Short words for people, such as `{ lock: "held" }`. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

export interface StatusServerOptions {
  /** `127.0.0.1` by default. */
  readonly host?: string;
  /** 0: one that is free. */
  readonly port: number;
  /** Names under which this may be asked for, besides `localhost` and addresses in digits. */
  readonly allowedHosts?: readonly string[];
  readonly metrics: () => string | Promise<string>;
  /** Whether the daemon works: if not, it is to be restarted. */
  readonly health: () => HealthReport;
  /** Whether it schedules: not while it starts, recovers or drains. */
  readonly readiness: () => HealthReport;
}

/** Rejects with a KronError when the address cannot be had. */
export function startStatusServer(options: StatusServerOptions): Promise<OpenDoor> {
  const { host = LOOPBACK, port } = options;
  const limits = STATUS_SERVER_LIMITS;
  const server = http.createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: limits.idleMs,
    },
    (request, response) => void answer(request, response, options),
  );
  server.maxHeadersCount = limits.headers;
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  server.maxConnections = limits.connections;
  return listenOn(server, { host, port }, "");
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function answer(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  options: StatusServerOptions,
): Promise<void> {
  request.resume();
  const { status, type, body, headers } = await answerTo(request, options);
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function answerTo(
  { method, url = "", headers }: http.IncomingMessage,
  options: StatusServerOptions,
): Promise<Answer> {
  if (!isAllowedHost(headers.host, options.allowedHosts ?? [])) return plain(421, "not known by this name");
  if (url.length > STATUS_SERVER_LIMITS.urlChars) return plain(414, "the address is too long");
  if (method !== "GET" && method !== "HEAD")
    return { ...plain(405, "GET or HEAD only"), headers: { Allow: "GET, HEAD" } };
  switch (url.split("?", 1)[0]) {
    case "/metrics":
      return guarded(async () => ({ status: 200, type: METRICS_TYPE, body: await options.metrics() }));
    case "/healthz":
      return guarded(() => reported(options.health()));
    case "/readyz":
      return guarded(() => reported(options.readiness()));
    default:
      return plain(404, "there is /metrics, /healthz and /readyz");
  }
}

/** What goes wrong in here is not told to strangers. */
async function guarded(make: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await make();
  } catch {
    return plain(500, "internal error");
  }
}

function reported({ isOk, details }: HealthReport): Answer {
  const body = `${JSON.stringify({ status: isOk ? "ok" : "unavailable", ...details })}\n`;
  return { status: isOk ? 200 : 503, type: JSON_TYPE, body };
}

function plain(status: number, message: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body: `${message}\n` };
}
