/** The body of a request: read up to its bound, and believed only if it is JSON that means what it says. */
import type { IncomingMessage } from "node:http";
import { API_LIMITS } from "../limits.js";
import type { BodyPlace } from "./body-room.js";
import { doubledName } from "./doubled-name.js";
import { HttpProblem, pointerOf, TWICE, wrongFields } from "./problem.js";

/** The client has gone in the middle of it: nobody waits for an answer. */
export class ClientGone extends Error {}

/** `place`: among all bodies that are being sent. */
export function readBody(
  request: IncomingMessage,
  place: BodyPlace | null,
  mostBytes: number = API_LIMITS.bodyBytes,
): Promise<Buffer> {
  // What has happened already is not told again.
  if (request.destroyed) return Promise.reject(new ClientGone());
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return Promise.reject(tooLarge(mostBytes));
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on("data", (piece: Buffer) => {
      bytes += piece.length;
      try {
        if (bytes > mostBytes) throw tooLarge(mostBytes);
        place?.add(piece.length);
        pieces.push(piece);
      } catch (error) {
        request.pause().removeAllListeners("data");
        reject(error);
      }
    });
    request.once("end", () => resolve(Buffer.concat(pieces)));
    const gone = (): void => reject(new ClientGone());
    request.once("error", gone);
    request.once("close", gone);
  });
}

/** The connection is of no use any more: what is still to come of the body would be taken for the next request. */
function tooLarge(mostBytes: number): HttpProblem {
  const detail = `the body is larger than ${mostBytes} bytes`;
  return new HttpProblem("body-too-large", detail, { headers: { Connection: "close" } });
}

export function isSent({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

export function mustBeJson({ headers }: IncomingMessage): void {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json") {
    throw new HttpProblem("content-type-unsupported", "a body is JSON", { hint: "Content-Type: application/json" });
  }
  const charset = parameters.map((text) => CHARSET.exec(text)?.[1]).find((name) => name !== undefined);
  if (charset !== undefined && !UTF8.has(charset.toLowerCase())) {
    const hint = "Content-Type: application/json; charset=utf-8";
    throw new HttpProblem("content-type-unsupported", `a body is UTF-8, and not ${JSON.stringify(charset)}`, { hint });
  }
  const coding = headers["content-encoding"];
  if (coding === undefined || coding.toLowerCase() === "identity") return;
  throw new HttpProblem("content-type-unsupported", `a body is sent as it is, and not as ${JSON.stringify(coding)}`);
}

/** As it is called, and as many write it. */
const UTF8: ReadonlySet<string> = new Set(["utf-8", "utf8"]);
const CHARSET = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i;

/** An object, or nothing at all. */
export function parseBody(bytes: Buffer): Readonly<Record<string, unknown>> {
  const text = textOf(bytes);
  const value = jsonOf(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new HttpProblem("input-invalid", "the body is not a JSON object");
  }
  mustBeSound(value);
  const doubled = doubledName(text);
  if (doubled !== null) throw wrongFields([{ pointer: pointerOf(doubled), ...TWICE }]);
  return value as Readonly<Record<string, unknown>>;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new HttpProblem("request-malformed", "the body is not UTF-8");
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpProblem("request-malformed", `the body is not JSON: ${(error as Error).message}`);
  }
}

/** Halves of surrogate pairs, which UTF-8 cannot express and JSON can. */
const HALF_CHARACTER = /\p{Cs}/u;

/** Where a value stands, as a chain: most are sound, and nobody writes down where they are. */
interface Spot {
  readonly above: Spot | null;
  readonly step: PropertyKey;
}

/**
 * What would read well and mean something else: names that objects have anyway, halves of characters, endless nesting; and
 * more elements than anything here is made of.
 */
export function mustBeSound(value: unknown): void {
  mustBeSoundAt(value, null, 0, { elements: 0 });
}

function mustBeSoundAt(value: unknown, at: Spot | null, depth: number, walk: { elements: number }): void {
  if (typeof value === "string" && HALF_CHARACTER.test(value)) throw refused(at, "half a character");
  if (typeof value !== "object" || value === null) return;
  if (depth >= API_LIMITS.bodyDepth) throw refused(at, `more than ${API_LIMITS.bodyDepth} levels`);
  const names = Array.isArray(value) ? null : Object.keys(value);
  const elements: readonly unknown[] = names ?? (value as readonly unknown[]);
  walk.elements += elements.length;
  if (walk.elements > API_LIMITS.bodyElements) throw refused(at, `more than ${API_LIMITS.bodyElements} elements`);
  for (let index = 0; index < elements.length; index += 1) {
    const step = names?.[index] ?? index;
    const here = { above: at, step };
    if (step === "__proto__") throw refused(here, "this name is not allowed");
    if (typeof step === "string" && HALF_CHARACTER.test(step)) throw refused(at, "half a character in a name");
    mustBeSoundAt((value as Readonly<Record<PropertyKey, unknown>>)[step], here, depth + 1, walk);
  }
}

function pathOf(spot: Spot | null): readonly PropertyKey[] {
  const path: PropertyKey[] = [];
  for (let at = spot; at !== null; at = at.above) path.unshift(at.step);
  return path;
}

function refused(spot: Spot | null, message: string): HttpProblem {
  return wrongFields([{ pointer: pointerOf(pathOf(spot)), code: "field-malformed", message }]);
}
