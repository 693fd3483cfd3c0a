/**
 * Requests as they go over the wire: nothing between the test and the API mends, repeats or follows anything, but for a question
 * on a connection that the server was closing just then because nobody had used it.
 */
import * as http from "node:http";
import * as https from "node:https";
import { mustBeAsDocumented } from "./answers.js";

export interface Wish {
  readonly key?: string;
  /** An object is sent as JSON, bytes as they are. */
  readonly body?: unknown;
  readonly headers?: http.OutgoingHttpHeaders;
}

/** What a client is told of a field. */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** Of a JSON answer; null: there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, which the test says what it must be
  readonly body: any;
}

export interface ClientPlace {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  /** Where requests come from. */
  readonly localAddress?: string;
  /** With TLS, trusting this certificate. */
  readonly ca?: string;
}

export type Send = (method: string, path: string, wish?: Wish) => Promise<Reply>;

export interface ApiClient {
  readonly send: Send;
  /** An open request, whose answer comes piece by piece. */
  open(path: string, wish?: Wish): Promise<http.IncomingMessage>;
  close(): void;
}

export function apiClient({ ca, ...place }: ClientPlace): ApiClient {
  const module = ca === undefined ? http : https;
  const agent =
    ca === undefined
      ? new http.Agent({ keepAlive: true })
      : new https.Agent({ keepAlive: true, ca, servername: "localhost" });
  const begin = (method: string, path: string, wish: Wish): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { headers, bytes } = framed(wish);
      const request = module.request({ ...place, method, path, headers, agent }, resolve);
      request.once("error", (error: NodeJS.ErrnoException) => {
        const wasIdle = method === "GET" && request.reusedSocket && error.code === "ECONNRESET";
        if (wasIdle) begin(method, path, wish).then(resolve, reject);
        else reject(error);
      });
      request.end(bytes);
    });
  return {
    send: async (method, path, wish = {}) => {
      const reply = await answered(await begin(method, path, wish));
      mustBeAsDocumented(method, path, reply.status, reply.text === "" ? null : reply.body);
      return reply;
    },
    open: (path, wish = {}) => begin("GET", path, wish),
    close: () => agent.destroy(),
  };
}

function framed({ key, body, headers = {} }: Wish) {
  const bytes = body === undefined ? undefined : body instanceof Uint8Array ? body : JSON.stringify(body);
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const length = bytes === undefined ? {} : { "content-length": Buffer.byteLength(bytes) };
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return { headers: { ...type, ...length, ...authorization, ...headers }, bytes };
}

async function answered(response: http.IncomingMessage): Promise<Reply> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString("utf8");
  const { statusCode: status = 0, headers } = response;
  const isJson = /json/.test(headers["content-type"] ?? "") && text !== "";
  return { status, headers, text, body: isJson ? JSON.parse(text) : null };
}
