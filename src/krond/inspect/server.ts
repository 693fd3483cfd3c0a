/**
 * The door for inspector clients: a WebSocket server that takes no orders. It answers on loopback unless told otherwise,
 * to nobody who came through a name it was not told, and to no web page but those of origins the operator has named: a
 * browser would carry any page's words here.
 */
import * as http from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { isAllowedHost } from "../../actors/doors/allowed-host.js";
import { listenOn, type OpenDoor } from "../../actors/doors/listen.js";
import { type InspectFilter, parseFilter } from "./filter.js";

export const INSPECT_SERVER_LIMITS = {
  clients: 8,
  connections: 32,
  headerBytes: 16 * 1024,
  headersMs: 5_000,
  urlChars: 8 * 1024,
  /** Clients have nothing to say. */
  messageBytes: 1_024,
  messages: 100,
} as const;

const HTTP_TEXT: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  414: "URI Too Long",
  421: "Misdirected Request",
  426: "Upgrade Required",
  503: "Service Unavailable",
};
const POLICY_VIOLATION = 1008;

export interface InspectServerOptions {
  readonly host: string;
  /** 0: one that is free. */
  readonly port: number;
  /** Web pages of these origins may attach. */
  readonly origins: readonly string[];
  clientCount(): number;
  accept(socket: WebSocket, filter: InspectFilter): void;
}

/** Rejects with a KronError when the address cannot be had. */
export function startInspectServer(options: InspectServerOptions): Promise<OpenDoor> {
  const { host, port } = options;
  const limits = INSPECT_SERVER_LIMITS;
  const server = http.createServer(
    { maxHeaderSize: limits.headerBytes, headersTimeout: limits.headersMs, requestTimeout: limits.headersMs },
    (request, response) => explain(request, response, options),
  );
  server.maxConnections = limits.connections;
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.messageBytes,
  });
  server.on("upgrade", (request, socket, head) => upgrade(request, socket, head, sockets, options));
  return listenOn(server, { host, port }, " for inspectors");
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

type Judged = { readonly filter: InspectFilter } | { readonly refusal: Refusal };

function judge({ url = "", headers }: http.IncomingMessage, options: InspectServerOptions): Judged {
  if (!isAllowedHost(headers.host, [options.host])) return refused(421, "not known by this name");
  if (url.length > INSPECT_SERVER_LIMITS.urlChars) return refused(414, "the address is too long");
  const { origin } = headers;
  if (origin !== undefined && !options.origins.includes(origin)) {
    return refused(403, "this web page may not attach: name its origin with --inspect-origin");
  }
  const [path = "", query = ""] = url.split("?", 2);
  if (path !== "/") return refused(404, "the stream is at /");
  const filter = parseFilter(new URLSearchParams(query));
  return filter.ok ? { filter: filter.value } : refused(400, filter.error);
}

function refused(status: number, message: string): Judged {
  return { refusal: { status, message } };
}

function upgrade(
  request: http.IncomingMessage,
  socket: Duplex,
  head: Buffer,
  sockets: WebSocketServer,
  options: InspectServerOptions,
): void {
  socket.on("error", () => undefined);
  const judged = judge(request, options);
  if ("refusal" in judged) {
    refuse(socket, judged.refusal);
  } else if (options.clientCount() >= INSPECT_SERVER_LIMITS.clients) {
    refuse(socket, { status: 503, message: `there are ${INSPECT_SERVER_LIMITS.clients} clients already` });
  } else {
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      ignoreWords(accepted);
      options.accept(accepted, judged.filter);
    });
  }
}

/** What clients say is not looked at; who does not stop talking is shown out. */
function ignoreWords(socket: WebSocket): void {
  let messages = 0;
  socket.on("error", () => undefined);
  socket.on("message", () => {
    messages += 1;
    if (messages > INSPECT_SERVER_LIMITS.messages) socket.close(POLICY_VIOLATION, "this stream takes no messages");
  });
}

function refuse(socket: Duplex, { status, message }: Refusal): void {
  const body = `${message}\n`;
  const head = [
    `HTTP/1.1 ${status} ${HTTP_TEXT[status]}`,
    "Connection: close",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Content-Type-Options: nosniff",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** For whoever asks without a WebSocket: the same refusals, or what to attach with. */
function explain(request: http.IncomingMessage, response: http.ServerResponse, options: InspectServerOptions): void {
  request.resume();
  const judged = judge(request, options);
  const usage = {
    status: 426,
    message: "attach with a WebSocket, such as createWebSocketReceiver of @statelyai/inspect",
  };
  const { status, message } = "refusal" in judged ? judged.refusal : usage;
  const upgradeHeader = status === 426 ? { Upgrade: "websocket" } : {};
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Connection: status === 426 ? "Upgrade, close" : "close",
    ...upgradeHeader,
  });
  response.end(`${message}\n`);
}
