/**
 * Messages as lines of text, in both directions, which is how a client talks to a program that it has started. What is no
 * message is answered as such, and the next line is as good as any. When the input ends, what was asked is answered still,
 * if that does not take long.
 */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Clock } from "../../actors/clock.js";
import { messageOf as messageOfError } from "../../core/base/errors/message.js";
import { mustBeSound } from "../http/body.js";
import { MCP_LIMITS } from "./limits.js";

interface LineStreams extends Pick<Clock, "after"> {
  input(): AsyncIterable<string>;
  /** Resolves when it is handed over. */
  write(text: string): Promise<void>;
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const BUSY = -32000;

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Resolves when it is closed, from either side. */
  readonly closed: Promise<void>;
  readonly #streams: LineStreams;
  /** Requests that have no answer yet. */
  readonly #underWay = new Set<string | number>();
  #wake: (() => void) | null = null;
  #isClosed = false;
  #tellClosed: () => void = () => undefined;

  constructor(streams: LineStreams) {
    this.#streams = streams;
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  async start(): Promise<void> {
    void this.#read()
      .catch((error: Error) => this.onerror?.(error))
      .then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return;
    await this.#streams.write(`${JSON.stringify(message)}\n`);
    if ("id" in message && !("method" in message) && message.id !== undefined) this.#settle(message.id);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake?.();
    this.onclose?.();
    this.#tellClosed();
  }

  async #read(): Promise<void> {
    const lines = new Lines(MCP_LIMITS.lineChars);
    for await (const piece of this.#streams.input()) {
      for (const line of lines.push(piece)) await this.#heard(line);
      if (this.#isClosed) return;
    }
    await this.#lastAnswers();
  }

  async #heard(line: string | null): Promise<void> {
    if (line === null)
      return this.#refuse(INVALID_REQUEST, `the message has more than ${MCP_LIMITS.lineChars} characters`);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return this.#refuse(PARSE_ERROR, "this is no JSON");
    }
    const trouble = troubleIn(value);
    if (trouble !== null) return this.#refuse(INVALID_REQUEST, trouble, idOf(value));
    const message = messageOf(value);
    if (message === null) return this.#refuse(INVALID_REQUEST, "this is no message of JSON-RPC 2.0", idOf(value));
    if (isJSONRPCRequest(message)) {
      // What is to be ended is heard of behind it, so nothing waits in between.
      if (this.#underWay.size >= MCP_LIMITS.underWay) return this.#refuse(BUSY, "too much is under way", message.id);
      this.#underWay.add(message.id);
    }
    if (isJSONRPCNotification(message)) this.#cancelled(message);
    this.onmessage?.(message);
  }

  /** Nobody waits for its answer any more, and there may be none. */
  #cancelled({ method, params }: JSONRPCNotification): void {
    if (method !== "notifications/cancelled" || params === undefined) return;
    const { requestId } = params;
    if (typeof requestId === "string" || typeof requestId === "number") this.#settle(requestId);
  }

  #refuse(code: number, message: string, id: string | number | null = null): Promise<void> {
    return this.#streams.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }

  #settle(id: string | number): void {
    this.#underWay.delete(id);
    this.#wake?.();
  }

  async #lastAnswers(): Promise<void> {
    let isLate = false;
    const timer = this.#streams.after(MCP_LIMITS.lastAnswersMs, () => {
      isLate = true;
      this.#wake?.();
    });
    while (this.#underWay.size > 0 && !isLate && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    timer.cancel();
  }
}

/** What would read well and mean something else; null: nothing. */
function troubleIn(value: unknown): string | null {
  try {
    mustBeSound(value);
    return null;
  } catch (error) {
    return messageOfError(error);
  }
}

function messageOf(value: unknown): JSONRPCMessage | null {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return null;
  }
}

function idOf(value: unknown): string | number | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Pieces in, whole lines out; null for one that is too long, of which nothing is kept. */
class Lines {
  #rest = "";
  #isTooLong = false;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  push(piece: string): (string | null)[] {
    const parts = piece.split("\n");
    const found: (string | null)[] = [];
    for (const [index, part] of parts.entries()) {
      this.#take(part);
      if (index === parts.length - 1) break;
      if (this.#isTooLong) found.push(null);
      else if (this.#rest.trim() !== "") found.push(this.#rest);
      this.#rest = "";
      this.#isTooLong = false;
    }
    return found;
  }

  #take(part: string): void {
    if (this.#isTooLong) return;
    this.#isTooLong = this.#rest.length + part.length > this.#most;
    this.#rest = this.#isTooLong ? "" : this.#rest + part;
  }
}
