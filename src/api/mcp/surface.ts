/** Everything that is there, made once: who asks sees a part of it. */
import type { Operation } from "../../operations/operation.js";
import { routeOf } from "../http/routes.js";
import { Addresses, type Resource, resourcesOf } from "./resource.js";
import { type Tool, toolsOf } from "./tool.js";

export interface Surface {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly resources: readonly Resource[];
  readonly addresses: Addresses;
}

export function surfaceOf(operations: readonly Operation[]): Surface {
  const routes = operations.map(routeOf);
  return { tools: toolsOf(routes), resources: resourcesOf(routes), addresses: new Addresses(routes) };
}
