/**
 * What a chat endpoint answered, looked at without trust. Servers that call themselves compatible differ in everything but
 * the outline: only the list of calls counts, whatever `finish_reason` says, and nothing in a text is ever a call.
 */
import { fieldsIn, isFields, numberOf, textOf } from "../../core/base/fields.js";
import { CHAT_LIMITS } from "../limits.js";

export interface RawCall {
  /** Never empty: servers that give none get one of ours. */
  readonly id: string;
  readonly name: string;
  /** A text that should be JSON, an object, or nothing at all. */
  readonly arguments: unknown;
}

export interface ChatMessage {
  /** Without what the model thought aloud. */
  readonly content: string;
  readonly calls: readonly RawCall[];
  /** null: the server did not say, or nothing that can be believed. */
  readonly usedTokens: number | null;
}

type ReadReply =
  | { readonly ok: true; readonly message: ChatMessage }
  | { readonly ok: false; readonly message: string };

const CALL_IDS = /^[\w.:-]{1,128}$/;
const ERROR_CHARS = 200;

/** `round`: for the ids of calls that have none. */
export function readReply(text: string, round: number): ReadReply {
  const fields = fieldsIn(text);
  if (fields === null) return { ok: false, message: `the answer is ${kindOf(text)}` };
  if (fields["error"] !== undefined && fields["error"] !== null) {
    return { ok: false, message: `the server answered with an error: ${errorText(fields["error"])}` };
  }
  const { choices } = fields;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isFields(choice) ? choice["message"] : undefined;
  if (!isFields(message)) return { ok: false, message: "the answer holds no message" };
  const written: unknown = message["tool_calls"];
  const calls = Array.isArray(written) ? written.filter(isFields) : [];
  const seen = new Set<string>();
  return {
    ok: true,
    message: {
      content: withoutThoughts(textOf(message["content"]) ?? ""),
      calls: calls.map((call, at) => rawCall(call, `call_${round}_${at}`, seen)),
      usedTokens: tokensIn(fields["usage"]),
    },
  };
}

function rawCall(call: Readonly<Record<string, unknown>>, ownId: string, seen: Set<string>): RawCall {
  const named = isFields(call["function"]) ? call["function"] : {};
  const given = textOf(call["id"]);
  const id = given !== null && CALL_IDS.test(given) && !seen.has(given) ? given : ownId;
  seen.add(id);
  return { id, name: textOf(named["name"]) ?? "", arguments: named["arguments"] };
}

function tokensIn(usage: unknown): number | null {
  const total = isFields(usage) ? numberOf(usage["total_tokens"]) : null;
  const isBelievable = total !== null && Number.isInteger(total) && total > 0 && total <= CHAT_LIMITS.believableTokens;
  return isBelievable ? total : null;
}

function withoutThoughts(content: string): string {
  const open = /<think(?:ing)?>/i;
  const closed = content.replace(/<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/gi, "");
  const start = closed.search(open);
  return (start < 0 ? closed : closed.slice(0, start)).trim();
}

/** A call that was written down instead of being made. It is never made for whoever wrote it. */
export function looksLikeCall(content: string): boolean {
  if (/<tool_call>|<function[=_ ]|\[TOOL_CALLS\]/i.test(content)) return true;
  const [, fenced] = /```(?:json|tool_code)?\s*([\s\S]*?)```/i.exec(content) ?? [];
  const body = (fenced ?? content).trim();
  return body.startsWith("{") && /"(?:name|tool|function|arguments|parameters)"\s*:/.test(body);
}

function kindOf(text: string): string {
  const start = text.trimStart().slice(0, 20).toLowerCase();
  if (start === "") return "empty";
  if (start.startsWith("<")) return "a page, not JSON";
  return /^(?:data|event|id|retry)?:/.test(start) ? "a stream, which was not asked for" : "no JSON object";
}

export function errorText(error: unknown): string {
  const text = isFields(error) ? (textOf(error["message"]) ?? JSON.stringify(error)) : String(error);
  return text.slice(0, ERROR_CHARS);
}
