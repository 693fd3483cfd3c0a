/** A chat endpoint that answers as it is told, over real sockets: well, or in any of the ways that are known of such servers. */
import { answer, type Hit, type Manners, type WildServer } from "../support/wild-server.js";

export interface Call {
  /** Left out where the server gives none. */
  readonly id?: string;
  readonly name: string;
  readonly arguments?: unknown;
}

/** What the server does with one request. */
export type Answering = Manners;

interface Message {
  readonly content?: unknown;
  readonly calls?: readonly Call[];
  readonly finish?: string;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly usage?: unknown;
}

export function message({ content = null, calls, finish = "stop", more = {}, usage }: Message): string {
  const tool_calls = calls?.map(({ id, name, arguments: given }) => {
    return { ...(id === undefined ? {} : { id }), type: "function", function: { name, arguments: given } };
  });
  const said = { role: "assistant", content, ...(tool_calls === undefined ? {} : { tool_calls }), ...more };
  return JSON.stringify({
    choices: [{ index: 0, finish_reason: finish, message: said }],
    ...(usage === undefined ? {} : { usage }),
  });
}

export function says(some: Message): Answering {
  return (socket) => answer(socket, 200, message(some), { "content-type": "application/json" });
}

export function raw(status: number, body: string, headers: Record<string, string> = {}): Answering {
  return (socket) => answer(socket, status, body, headers);
}

/** A call as servers should write it. */
export function call(name: string, given: unknown, id = "c1"): Call {
  return { id, name, arguments: JSON.stringify(given) };
}

export const DONE: Answering = says({ content: "nothing more" });

/** One answer after the other; the last one again for whoever goes on asking. */
export function inTurn(...answers: readonly Answering[]): Manners {
  let at = 0;
  return (socket, hit) => {
    answers[Math.min(at, answers.length - 1)]?.(socket, hit);
    at += 1;
  };
}

export interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string; readonly [key: string]: unknown }[];
  readonly tools: readonly unknown[];
  readonly [key: string]: unknown;
}

export function askedOf(server: WildServer): readonly Asked[] {
  return server.hits.map(({ body }: Hit) => JSON.parse(body) as Asked);
}
