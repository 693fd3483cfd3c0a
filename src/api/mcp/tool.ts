/** Operations as tools: what a model is told of each, made from the operation alone. */
import type { Operation } from "../../operations/operation.js";
import { DONE } from "../../operations/rehearsal.js";
import { type Json, jsonSchema, opened } from "../form/json-schema.js";
import { isWriting, type Route } from "../http/routes.js";

export interface Tool {
  readonly route: Route;
  readonly listed: Listed;
}

/** As the protocol has it. */
interface Listed {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: Annotations;
}

interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

type ObjectSchema = Json & { readonly type: "object" };

/** By name. */
export function toolsOf(routes: readonly Route[]): ReadonlyMap<string, Tool> {
  const wanted = routes.filter(({ operation }) => isTool(operation));
  const tools = new Map(wanted.map((route) => [toolName(route.operation), { route, listed: listedOf(route) }]));
  if (tools.size < wanted.length) throw new Error("invariant broken: two tools of one name");
  return tools;
}

/** What is shown once is nothing for a conversation, which is kept. */
function isTool({ http, isForWorkers }: Operation): boolean {
  return http.isShownOnce !== true && isForWorkers !== true;
}

/** Many models can call nothing that has a dot in its name. */
function toolName({ name }: Operation): string {
  return name.replaceAll(".", "_");
}

function listedOf(route: Route): Listed {
  const { operation, taken, told } = route;
  const answer = jsonSchema(told.schema, "output");
  return {
    name: toolName(operation),
    title: operation.name,
    description: descriptionOf(operation),
    inputSchema: objectSchema(jsonSchema(taken, "input"), operation),
    ...(answer["type"] === "null" || told.schema === DONE
      ? {}
      : { outputSchema: objectSchema(opened(answer), operation) }),
    annotations: annotationsOf(route),
  };
}

function descriptionOf({ summary, of, http }: Operation): string {
  const whose =
    of === "tenant" ? "Of the tenant's jobs and endpoints." : "Of the jobs that are configured on the host.";
  const page =
    http.isPaged === true ? " A page at a time: the answer's `next` is the `cursor` of the page behind it." : "";
  return `${summary[0]?.toUpperCase()}${summary.slice(1)}. ${whose}${page}`;
}

function annotationsOf(route: Route): Annotations {
  const { operation, method } = route;
  // What has much to say is asked for with POST, although it changes nothing.
  const isReadOnly = operation.access === "read" || !isWriting(route);
  return {
    readOnlyHint: isReadOnly,
    // What only adds something is asked for with POST.
    destructiveHint: !isReadOnly && (method !== "POST" || operation.isDestructive === true),
    idempotentHint: isReadOnly || method === "PUT" || method === "DELETE",
    openWorldHint: operation.reachesOut === true,
  };
}

function objectSchema(schema: Json, { name }: Operation): ObjectSchema {
  const { type } = schema;
  if (type === "object") return { ...schema, type };
  throw new Error(`invariant broken: ${name} takes or answers no object`);
}
