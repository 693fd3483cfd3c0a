/**
 * What can be read, as resources: each question has the address that it has over HTTP, below `kron:/` instead of the version.
 * So `kron://schedules/prod%2Fnightly/why` is what `GET /api/v1/schedules/prod%2Fnightly/why` answers.
 */
import type { z } from "zod";
import type { Fields } from "../form/asked.js";
import { readPathParameter, readQuery } from "../form/parameters.js";
import { addressOf, mustBeShort } from "../http/gate.js";
import { HttpProblem } from "../http/problem.js";
import { Router } from "../http/router.js";
import { BASE_PATH, isWriting, type Route } from "../http/routes.js";

export const RESOURCE_TYPE = "application/json";
const SCHEME = "kron:/";

export interface Resource {
  readonly route: Route;
  readonly listed: { readonly name: string; readonly title: string; readonly description: string };
  /** With braces for what has to be filled in (RFC 6570). */
  readonly uri: string;
  readonly isTemplate: boolean;
}

export function resourcesOf(routes: readonly Route[]): readonly Resource[] {
  return routes.filter((route) => !isWriting(route)).map(resourceOf);
}

function resourceOf(route: Route): Resource {
  const { operation, path, inPath } = route;
  const { name, summary } = operation;
  const needed = neededInQuery(route);
  return {
    route,
    listed: { name, title: name, description: `${summary[0]?.toUpperCase()}${summary.slice(1)}.` },
    uri: `${SCHEME}${path.slice(BASE_PATH.length).replace(/:([A-Za-z]+)/g, "{$1}")}${needed}`,
    isTemplate: inPath.length > 0 || needed !== "",
  };
}

function neededInQuery({ taken, inQuery }: Route): string {
  const shape = taken.shape as z.ZodRawShape;
  const needed = [...inQuery].filter((name) => !(shape[name] as z.ZodType).safeParse(undefined).success);
  return needed.length === 0 ? "" : `{?${needed.join(",")}}`;
}

interface Read {
  readonly route: Route;
  readonly fields: Fields;
}

/** Which question an address means. */
export class Addresses {
  readonly #router: Router;

  constructor(routes: readonly Route[]) {
    this.#router = new Router(
      routes.filter((route) => !isWriting(route)),
      {},
    );
  }

  read(uri: string): Read {
    mustBeShort(uri);
    if (!uri.startsWith(`${SCHEME}/`)) throw new HttpProblem("route-unknown", `there is nothing at ${uri}`);
    const { path, query } = addressOf(BASE_PATH + uri.slice(SCHEME.length));
    const { route, parameters } = this.#router.find("GET", path);
    if (typeof route === "string") throw new HttpProblem("route-unknown", `there is nothing at ${uri}`);
    const fields: Record<string, unknown> = { ...readQuery(query, route.taken, route.inQuery) };
    for (const name of route.inPath) fields[name] = readPathParameter(name, parameters[name] ?? "", route.taken);
    return { route, fields };
  }
}
