/**
 * Holds every answer against what the document says of its operation, where nothing may stand that is not written there. Each
 * client of the tests does so with all that it hears.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiOf } from "../../../src/api/http/openapi.js";
import { routeOf } from "../../../src/api/http/routes.js";
import type { Operation } from "../../../src/operations/operation.js";
import { OPERATIONS } from "../../../src/operations/registry.js";

export interface Documented {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: { readonly description?: string };
  }[];
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { readonly schema: object }> }>>;
}

export interface ApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const ID = "https://kron.test/document";

/** What is wrong with an answer; null: nothing, or no operation gave it. */
export type Judge = (method: string, path: string, status: number, body: unknown) => unknown;

export function judgeOf(document: ApiDocument): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (it: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: ID, components: closed(document.components) });
  const places = Object.entries(document.paths).map(([path, methods]) => ({
    // A step by itself goes before one that stands for any.
    rank: path.split("{").length,
    is: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
    methods,
  }));
  places.sort((one, other) => one.rank - other.rank);
  const compiled = new Map<string, ValidateFunction>();
  return (method, path, status, body) => {
    const [place = ""] = path.split("?");
    const found = places.find(({ is, methods }) => is.test(place) && methods[method.toLowerCase()] !== undefined);
    const answers = found?.methods[method.toLowerCase()]?.responses;
    if (answers === undefined || status >= 400) return null;
    const answer = answers[`${status}`];
    if (answer === undefined) return `${status} is not documented`;
    const schema = answer.content?.["application/json"]?.schema as { readonly $ref?: string } | undefined;
    if (schema === undefined) return body === null ? null : "an answer where none is documented";
    const name = JSON.stringify(schema);
    const whole = schema.$ref === undefined ? (closed(schema) as object) : { $ref: `${ID}${schema.$ref}` };
    const validate = compiled.get(name) ?? ajv.compile(whole);
    compiled.set(name, validate);
    return validate(body) ? null : validate.errors;
  };
}

/** What is not written there is not answered: for these tests an answer may not have more in it. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const own = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]));
  const isObject =
    own["type"] === "object" && own["properties"] !== undefined && own["additionalProperties"] === undefined;
  return isObject ? { ...own, additionalProperties: false } : own;
}

let ours: Judge | null = null;

/** By the document of this tree. */
export function mustBeAsDocumented(method: string, path: string, status: number, body: unknown): void {
  ours ??= judgeOf(openApiOf((OPERATIONS as unknown as readonly Operation[]).map(routeOf)) as unknown as ApiDocument);
  const wrong = ours(method, path, status, body);
  if (wrong !== null) throw new Error(`${method} ${path}: ${status} is not as documented: ${JSON.stringify(wrong)}`);
}
