/**
 * The protocol over HTTP: one message a request, answered at once. Keys, hosts and origins were judged at the door; here is
 * what a key may ask for.
 */
import type { IncomingHttpHeaders } from "node:http";
import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";
import { answerAsked } from "../../operations/answer.js";
import type { Operation } from "../../operations/operation.js";
import type { Acting } from "../../operations/ports.js";
import { ownerOf } from "../form/asked.js";
import type { Answer } from "../http/answer.js";
import { goneSignalOf, JSON_TYPES } from "../http/answer.js";
import { type Holder, mayAsk } from "../http/authority.js";
import { mustBeJson, parseBody } from "../http/body.js";
import { mustBeInTime, textHeader } from "../http/calls.js";
import type { CursorSeal } from "../http/cursor.js";
import { HttpProblem } from "../http/problem.js";
import type { Conversation, Spoken } from "../http/service.js";
import type { Carrier } from "./carrier.js";
import { serverFor } from "./server.js";
import { type Surface, surfaceOf } from "./surface.js";

/** Answers that follow are for those who hold a connection open; here nothing is ever told unasked. */
const UNSERVED = "subscriptions/listen";
/** Of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const MALFORMED: ReadonlySet<string> = new Set(["request-malformed"]);

export class McpOverHttp implements Conversation {
  readonly #acting: Acting;
  readonly #cursors: CursorSeal;
  readonly #surface: Surface;
  readonly #handler: McpHttpHandler;

  constructor(operations: readonly Operation[], acting: Acting, cursors: CursorSeal) {
    this.#acting = acting;
    this.#cursors = cursors;
    this.#surface = surfaceOf(operations);
    this.#handler = createMcpHandler(({ authInfo }) =>
      serverFor(this.#surface, authInfo?.extra?.["carrier"] as Carrier),
    );
  }

  async answer(spoken: Spoken): Promise<Answer> {
    const { request, response, holder } = spoken;
    let message: Readonly<Record<string, unknown>>;
    try {
      mustBeJson(request);
      message = parseBody(await spoken.read(request));
    } catch (error) {
      return unreadable(error);
    }
    if (message["method"] === UNSERVED)
      return rpcError(200, METHOD_NOT_FOUND, "nothing is told unasked", message["id"]);
    const gone = goneSignalOf(response);
    const carrier = new HolderCarrier(spoken, { acting: this.#acting, cursors: this.#cursors, gone });
    const authInfo = { token: "", clientId: holder.keyId ?? "", scopes: [holder.scope], extra: { carrier } };
    const asked = webRequest(request.headers, gone);
    return answerOf(await this.#handler.fetch(asked, { parsedBody: message, authInfo }));
  }
}

interface Around {
  readonly acting: Acting;
  readonly cursors: CursorSeal;
  /** Aborted when nothing can be said to this client any more. */
  readonly gone: AbortSignal;
}

/** What is asked is what its key may ask, of the tenant that it speaks for. */
class HolderCarrier implements Carrier {
  readonly #holder: Holder;
  readonly #tenant: string | undefined;
  readonly #acting: Acting;
  readonly #gone: AbortSignal;
  readonly cursors: CursorSeal;
  readonly problemOf: Carrier["problemOf"];
  readonly instance: string;

  constructor({ holder, request, instance, problemOf }: Spoken, { acting, cursors, gone }: Around) {
    this.#holder = holder;
    this.#gone = gone;
    this.cursors = cursors;
    this.#tenant = textHeader(request, "kron-tenant");
    this.#acting = acting;
    this.problemOf = problemOf;
    this.instance = instance;
  }

  isAllowed(operation: Operation): boolean {
    try {
      mayAsk(this.#holder, operation, undefined);
      return true;
    } catch {
      return false;
    }
  }

  ownerFor(operation: Operation): string {
    return ownerOf(mayAsk(this.#holder, operation, this.#tenant));
  }

  carryOut(operation: Operation, input: unknown, signal: AbortSignal): Promise<unknown> {
    const { keyId, scope } = this.#holder;
    const tenant = mayAsk(this.#holder, operation, this.#tenant);
    mustBeInTime(operation, this.#acting);
    const gone = AbortSignal.any([signal, this.#gone]);
    return answerAsked({ operation, input }, this.#acting, { tenant: tenant ?? "", keyId, scope, gone });
  }
}

/** Its address means nothing: what it was sent to is known. */
function webRequest(headers: IncomingHttpHeaders, signal: AbortSignal): Request {
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    return name.startsWith("mcp-") || name === "accept" || name === "content-type" ? [[name, `${value}`] as const] : [];
  });
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: new Headers(kept.map(([a, b]) => [a, b])),
    signal,
  });
}

/** Whatever it comes as, it ends with its one answer. */
async function answerOf(response: Response): Promise<Answer> {
  const type = response.headers.get("content-type");
  const body = await response.text();
  const headers = type === null || body === "" ? {} : { "Content-Type": type };
  return { status: response.status, headers, body: body === "" ? null : body };
}

/** In the words of the protocol, where no message could be read. */
function unreadable(error: unknown): Answer {
  if (!(error instanceof HttpProblem)) throw error;
  const { status, code, message, headers } = error;
  const answer = rpcError(status, MALFORMED.has(code) ? PARSE_ERROR : INVALID_REQUEST, message, null);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function rpcError(status: number, code: number, message: string, id: unknown): Answer {
  const known = typeof id === "string" || typeof id === "number" ? id : null;
  const body = JSON.stringify({ jsonrpc: "2.0", id: known, error: { code, message } });
  return { status, headers: { "Content-Type": JSON_TYPES.json }, body };
}
