/** Who carries operations out for one caller, and how one of them is asked and answered: within bounds, and as text of others. */
import type { Operation } from "../../operations/operation.js";
import { type Fields, inputOf, readTaken, toldAnswer } from "../form/asked.js";
import type { CursorSeal } from "../http/cursor.js";
import { HttpProblem } from "../http/problem.js";
import type { Route } from "../http/routes.js";
import { isWriting } from "../http/routes.js";
import { MCP_LIMITS } from "./limits.js";
import { shown } from "./shown.js";

export interface Carrier {
  /** What the caller may not ask for is, for the caller, not there. */
  isAllowed(operation: Operation): boolean;
  /** Whose cursors an operation gives out. */
  ownerFor(operation: Operation): string;
  readonly cursors: CursorSeal;
  carryOut(operation: Operation, input: unknown, signal: AbortSignal): Promise<unknown>;
  /** What the caller is told of what went wrong. */
  problemOf(error: unknown): HttpProblem;
  /** By which a log knows what went wrong here; null: there is none. */
  readonly instance: string | null;
}

interface Carried {
  /** null: it is done, and there is nothing to tell. */
  readonly answer: Fields | null;
  /** The answer as JSON. */
  readonly text: string;
  /** How to go on, for a reader that has seen this much. */
  readonly hint: string | null;
}

/** Rejects with whatever `problemOf` has to judge. */
export async function carried(route: Route, fields: Fields, carrier: Carrier, signal: AbortSignal): Promise<Carried> {
  const { operation } = route;
  const owner = carrier.ownerFor(operation);
  let taken = readTaken(route, fields);
  for (;;) {
    const asked = { taken, owner, cursors: carrier.cursors };
    signal.throwIfAborted();
    const found = await carrier.carryOut(operation, inputOf(operation, asked), signal);
    if (found === null || found === undefined) return { answer: null, text: "", hint: null };
    const answer = shown(toldAnswer(route, found, asked)) as Fields;
    const text = JSON.stringify(answer);
    const bytes = Buffer.byteLength(text);
    if (bytes <= MCP_LIMITS.answerBytes) return { answer, text, hint: hintOf(answer, taken, fields) };
    const less = isWriting(route) ? null : lessOf(answer, taken, bytes);
    if (less === null) throw tooLarge(route, bytes);
    taken = { ...taken, ...less };
  }
}

/** What to ask for instead, if it is as large as what came: always less than was asked for. null: there is nothing less. */
function lessOf({ rows }: Fields, { limit, bytes: wished }: Fields, bytes: number): Fields | null {
  if (Array.isArray(rows) && typeof limit === "number") {
    const fewer = fitting(Math.min(rows.length, limit), limit, bytes);
    return fewer === null ? null : { limit: fewer };
  }
  const shorter = typeof wished === "number" ? fitting(wished, wished, bytes) : null;
  return shorter === null ? null : { bytes: shorter };
}

function fitting(came: number, wished: number, bytes: number): number | null {
  if (wished <= 1) return null;
  return Math.max(1, Math.min(Math.floor((came * MCP_LIMITS.answerBytes) / bytes), wished - 1));
}

function hintOf({ next, from, rows }: Fields, { limit, bytes }: Fields, wished: Fields): string | null {
  if (typeof bytes === "number" && typeof from === "number" && from > 0) {
    return `What is before it: ask again with a smaller "from". A piece is of ${bytes} bytes here.`;
  }
  if (typeof next !== "string" || !Array.isArray(rows)) return null;
  const isCut = typeof wished["limit"] === "number" && wished["limit"] !== limit;
  const cut = isCut ? `These are ${rows.length} rows: an answer has at most ${MCP_LIMITS.answerBytes} bytes. ` : "";
  return `${cut}There is more: ask again with "cursor" set to the value of "next".`;
}

function tooLarge(route: Route, bytes: number): HttpProblem {
  const most = MCP_LIMITS.answerBytes;
  const detail = `${isWriting(route) ? "it is done, but " : ""}the answer has ${bytes} bytes, and at most ${most} are given`;
  const narrowing = Object.keys(route.taken.shape).filter((name) => !route.inPath.includes(name));
  const hint = narrowing.length === 0 ? "ask over HTTP or the command line" : `ask for less: ${narrowing.join(", ")}`;
  return new HttpProblem("refused", detail, { hint });
}
