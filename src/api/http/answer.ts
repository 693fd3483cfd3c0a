/** An answer before it is sent. */
import type { ServerResponse } from "node:http";

export const JSON_TYPES = { json: "application/json; charset=utf-8", problem: "application/problem+json" } as const;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** null: there is none, as with 204. */
  readonly body: string | null;
}

/** One that nobody has to keep or to read again. */
export interface Sent extends Omit<Answer, "body"> {
  readonly body: string | Buffer | null;
}

/** What every answer says: it is for whoever has asked, and is what it says it is. */
const ALWAYS = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

export function send(response: ServerResponse, answer: Sent, isHead: boolean): void {
  if (response.headersSent || response.destroyed) return;
  const { status, headers, body } = answer;
  const length = body === null ? {} : { "Content-Length": `${Buffer.byteLength(body)}` };
  response.writeHead(status, { ...ALWAYS, ...length, ...headers });
  response.end(isHead || body === null ? undefined : body);
}

/**
 * Nothing that is written reaches anybody. Asked for, and not only waited for: of an answer that waits behind others on its
 * connection no end is ever told, nor again of one whose client left before anybody listened.
 */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed;
}

/** Aborted when the connection ends, or the answer has gone: nothing can be said to this client any more. */
export function goneSignalOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once("close", () => gone.abort());
  return gone.signal;
}

/** The same, as bytes: for a connection that never became a request. */
export function rawAnswer({ status, headers, body }: Answer, reason: string): string {
  const text = body ?? "";
  const fields = { ...ALWAYS, ...headers, Connection: "close", "Content-Length": `${Buffer.byteLength(text)}` };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${text}`;
}
