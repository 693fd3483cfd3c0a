/** The routes, as the operations say them: what stands where in a request, and what is made of it. */
import type { HttpMethod } from "../../operations/http.js";
import type { Operation } from "../../operations/operation.js";
import type { Form } from "../form/asked.js";
import { takenBy } from "../form/taken.js";
import { toldBy } from "../form/told.js";

/** Everything else is below it. */
export const BASE_PATH = "/api/v1";
/** MCP has versions of its own. */
export const MCP_PATH = "/mcp";

export interface Route extends Form {
  readonly method: HttpMethod;
  readonly path: string;
  readonly inPath: readonly string[];
  readonly inQuery: ReadonlySet<string>;
  readonly inBody: ReadonlySet<string>;
}

/** By its header. */
const IF_MATCH = "ifMatch";
const BODY_METHODS: ReadonlySet<HttpMethod> = new Set<HttpMethod>(["POST", "PUT", "PATCH"]);

export function routeOf(operation: Operation): Route {
  const { method, path, query = [], takesIfMatch } = operation.http;
  const taken = takenBy(operation);
  const names = Object.keys(taken.shape);
  const inPath = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = ""]) => name);
  const placed = [...inPath, ...query, ...(takesIfMatch === true ? [IF_MATCH] : [])];
  const stray = placed.find((name, index) => !names.includes(name) || placed.indexOf(name) !== index);
  if (stray !== undefined)
    throw new Error(`invariant broken: ${operation.name}: ${stray} is no field, or stands twice`);
  const rest = names.filter((name) => !placed.includes(name));
  const hasBody = BODY_METHODS.has(method);
  return {
    operation,
    method,
    path: BASE_PATH + path,
    taken,
    told: toldBy(operation),
    inPath,
    inQuery: new Set(hasBody ? query : [...query, ...rest]),
    inBody: new Set(hasBody ? rest : []),
  };
}

export function isWriting({ method }: Route): boolean {
  return method !== "GET";
}
