/** The server itself: its bounds, and what it says to whoever does not speak HTTP. */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import { listenOn, type OpenDoor, unavailable } from "../../actors/doors/listen.js";
import { API_LIMITS } from "../limits.js";
import type { ApiAddress } from "../options.js";
import { rawAnswer } from "./answer.js";
import { HttpProblem, problemAnswer } from "./problem.js";

const SOCKET_MODE = 0o600;
/** What a socket is made with, so that nobody else can ever open it. */
const SOCKET_UMASK = 0o177;

export interface TlsTexts {
  readonly cert: string;
  readonly key: string;
}

type Serve = (request: http.IncomingMessage, response: http.ServerResponse) => void;

export function createServer(tls: TlsTexts | null, serve: Serve): http.Server {
  const limits = API_LIMITS;
  const options = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkedEveryMs,
    // Said by the gate, in the words of all others.
    requireHostHeader: false,
  };
  const server = tls === null ? http.createServer(options, serve) : https.createServer({ ...options, ...tls }, serve);
  server.maxHeadersCount = limits.headers;
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  server.maxConnections = limits.connections;
  server.on("clientError", (error: NodeJS.ErrnoException, socket: net.Socket) => explain(error, socket));
  return server as http.Server;
}

/** What never became a request is answered all the same, where somebody may still read it. */
function explain(error: NodeJS.ErrnoException, socket: net.Socket): void {
  const isAnswering = "_httpMessage" in socket && socket._httpMessage != null;
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const answer = problemAnswer(problemOfWire(error.code), `urn:uuid:${randomUUID()}`);
  socket.end(rawAnswer(answer, http.STATUS_CODES[answer.status] ?? ""));
}

function problemOfWire(code: string | undefined): HttpProblem {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new HttpProblem("headers-too-large", `the headers are larger than ${API_LIMITS.headerBytes} bytes`);
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new HttpProblem("request-timeout", "the request did not come to an end");
  return new HttpProblem("request-malformed", "this is no HTTP request");
}

/** Where it answers, as the ready line says it. */
interface Listening {
  readonly address: string;
  /** Nobody can connect any more; what is under way is waited for, and then every connection ends. */
  close(whenIdle: () => Promise<void>): Promise<void>;
}

/** Rejects with a KronError when the address cannot be had. */
export async function listen(server: http.Server, address: ApiAddress): Promise<Listening> {
  if (address.kind === "socket") return listenAt(server, address.path);
  const door: OpenDoor = await listenOn(server, address, " for the API");
  const host = net.isIP(door.host) === 6 ? `[${door.host}]` : door.host;
  return { address: `${host}:${door.port}`, close: (whenIdle) => close(server, whenIdle) };
}

async function listenAt(server: http.Server, path: string): Promise<Listening> {
  await removeLeftover(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(unavailable(`cannot listen on ${path} for the API`, cause)));
    // The name is made inside the call, and nobody else has a turn before the mask is as it was.
    const before = process.umask(SOCKET_UMASK);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
  server.removeAllListeners("error").on("error", () => undefined);
  fs.chmodSync(path, SOCKET_MODE);
  return { address: `unix:${path}`, close: (whenIdle) => close(server, whenIdle) };
}

/** The name of a socket goes with it. */
async function close(server: http.Server, whenIdle: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await whenIdle();
  server.closeAllConnections();
  await closed;
}

/** A socket that nobody answers was left behind by a daemon that was killed; anything else there is somebody's. */
async function removeLeftover(path: string): Promise<void> {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw unavailable(`${path} is there already, and is no socket`);
  if (await answers(path)) throw unavailable(`somebody else listens on ${path}`);
  fs.rmSync(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
