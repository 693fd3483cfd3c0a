import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { afterEach } from "vitest";

/** A request as it came over the wire, whole: what a handler would have been called with. */
export interface Hit {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How many came over the same connection before. */
  readonly before: number;
}

/** What the server does with a request. */
export type Manners = (socket: Socket, hit: Hit) => void;

export interface WildServer {
  readonly port: number;
  readonly url: string;
  readonly hits: Hit[];
  /** Connections so far. */
  connections: number;
  readonly open: Set<Socket>;
  /** Resolves when so many requests have come. */
  hitsReached(count: number): Promise<void>;
  close(): Promise<void>;
}

export function answer(socket: Socket, status: number, body: string, headers: Record<string, string> = {}): void {
  const lines = Object.entries({ "content-length": String(Buffer.byteLength(body)), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`HTTP/1.1 ${status} Whatever\r\n${head}\r\n${body}`);
}

export const WELL: Manners = (socket) => answer(socket, 200, "well");

/** Servers that speak HTTP as badly as they are told to. */
export function wildServers(): (manners: Manners, tls?: TlsOptions) => Promise<WildServer> {
  const servers: WildServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  return async (manners, tls) => {
    const server = await listen(manners, tls);
    servers.push(server);
    return server;
  };
}

async function listen(manners: Manners, tls: TlsOptions | undefined): Promise<WildServer> {
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const open = new Set<Socket>();
  const onSocket = (socket: Socket): void => {
    wild.connections += 1;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined);
    let before = 0;
    let held = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      for (let next = take(held, before); next !== null; next = take(held, before)) {
        held = next.rest;
        before += 1;
        wild.hits.push(next.hit);
        for (const { count, resolve } of waiting) if (wild.hits.length >= count) resolve();
        manners(socket, next.hit);
      }
    });
  };
  const server: Server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const wild: WildServer = {
    port,
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/`,
    hits: [],
    connections: 0,
    open,
    hitsReached: (count) => {
      if (wild.hits.length >= count) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ count, resolve }));
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return wild;
}

function take(held: Buffer, before: number): { readonly hit: Hit; readonly rest: Buffer<ArrayBuffer> } | null {
  const end = held.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = held.subarray(0, end).toString("latin1").split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const bytes = Number(headers["content-length"] ?? 0);
  const bodyAt = end + 4;
  if (held.length < bodyAt + bytes) return null;
  const body = held.subarray(bodyAt, bodyAt + bytes).toString("utf8");
  return { hit: { method, path, headers, body, before }, rest: Buffer.from(held.subarray(bodyAt + bytes)) };
}
