/** Which route an address means. */
import findMyWay from "find-my-way";
import type { HttpMethod } from "../../operations/http.js";
import { API_LIMITS } from "../limits.js";
import { HttpProblem } from "./problem.js";
import { BASE_PATH, type Route } from "./routes.js";

/** What is served beside operations. */
export type Extra = "openapi" | "events" | "inspect" | "mcp";
export type Place = Pick<Route, "method" | "path">;

export interface Found {
  readonly route: Route | Extra;
  readonly parameters: Readonly<Record<string, string>>;
}

const METHODS: readonly HttpMethod[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export class Router {
  readonly #routes = findMyWay({ maxParamLength: API_LIMITS.urlChars });

  constructor(routes: readonly Route[], extras: Readonly<Partial<Record<Extra, Place>>>) {
    for (const route of routes) this.#add(route.method, route.path, route);
    for (const [extra, { method, path }] of Object.entries(extras)) this.#add(method, path, extra as Extra);
  }

  /** HEAD is GET without what it would say. */
  find(method: string, path: string): Found {
    const found = this.#find(method === "HEAD" ? "GET" : method, path);
    if (found !== null) return found;
    const allowed = this.allowed(path);
    if (allowed.length === 0) {
      const hint = `what there is, ${BASE_PATH}/openapi.json says`;
      throw new HttpProblem("route-unknown", `there is nothing at ${path}`, { hint });
    }
    const headers = { Allow: allowed.join(", ") };
    throw new HttpProblem("method-not-allowed", `${path} takes ${headers.Allow}`, { headers });
  }

  /** Nothing: there is no such address. */
  allowed(path: string): readonly string[] {
    const own = METHODS.filter((method) => this.#find(method, path) !== null);
    if (own.length === 0) return [];
    return [...(own.includes("GET") ? ["GET", "HEAD"] : []), ...own.filter((method) => method !== "GET"), "OPTIONS"];
  }

  #find(method: string, path: string): Found | null {
    if (!METHODS.some((known) => known === method)) return null;
    const found = this.#routes.find(method as HttpMethod, path);
    if (found === null) return null;
    return { route: found.store as Found["route"], parameters: found.params as Found["parameters"] };
  }

  #add(method: HttpMethod, path: string, route: Found["route"]): void {
    this.#routes.on(method, path, () => undefined, route);
  }
}
