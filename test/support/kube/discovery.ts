/**
 * What kubectl asks an API server beside the objects: which kinds there are, how they are printed as tables, and what
 * their fields mean. All of it from the CRD that is deployed.
 */
import * as fs from "node:fs";
import { parse } from "yaml";
import { type Fields, fieldsOf, RESOURCES, type Resource, type StoredObject } from "./store.js";

const VERBS = ["create", "delete", "get", "list", "patch", "watch"];

interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
  readonly description?: string;
}

let read: Fields | null = null;

function crd(): Fields {
  read ??= fieldsOf(parse(fs.readFileSync("deploy/operator/crd.yaml", "utf8")));
  return read;
}

function versionOf(definition: Fields): Fields {
  return fieldsOf((fieldsOf(definition["spec"])["versions"] as readonly unknown[])[0]);
}

/** What is left out gets the defaults of the schema before it is stored. */
export function withCrdDefaults(object: Fields): Fields {
  return fieldsOf(defaulted(object, fieldsOf(fieldsOf(versionOf(crd())["schema"])["openAPIV3Schema"])));
}

function defaulted(value: unknown, schema: Fields): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const filled: Fields = { ...fieldsOf(value) };
  for (const [name, shape] of Object.entries(fieldsOf(schema["properties"]))) {
    const fallback = fieldsOf(shape)["default"];
    if (filled[name] === undefined && fallback !== undefined) filled[name] = structuredClone(fallback);
    if (filled[name] !== undefined) filled[name] = defaulted(filled[name], fieldsOf(shape));
  }
  return filled;
}

/** null: no such page. */
export function discoveryPage(path: string): unknown {
  const groups = [...new Set(RESOURCES.map(({ apiVersion }) => apiVersion))].filter((name) => name.includes("/"));
  if (path === "/version") return { major: "1", minor: "32", gitVersion: "v1.32.0", platform: "linux/amd64" };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupOf) };
  if (path === "/openapi/v3") return openApiIndex();
  if (path === "/openapi/v3/apis/kron.io/v1alpha1") return openApiPage();
  const groupVersion = path.replace(/^\/apis?\//, "");
  const resources = RESOURCES.filter(({ apiVersion }) => apiVersion === groupVersion);
  return resources.length === 0
    ? null
    : { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: resources.map(resourceOf) };
}

function groupOf(groupVersion: string): Fields {
  const [name = "", version = ""] = groupVersion.split("/");
  return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
}

function resourceOf({ name, kind }: Resource): Fields {
  const { shortNames, categories } = fieldsOf(fieldsOf(crd()["spec"])["names"]);
  const more = kind === "KronJob" ? { shortNames, categories } : {};
  return { name, singularName: kind.toLowerCase(), namespaced: true, kind, verbs: VERBS, ...more };
}

function openApiIndex(): Fields {
  return { paths: { "apis/kron.io/v1alpha1": { serverRelativeURL: "/openapi/v3/apis/kron.io/v1alpha1" } } };
}

function openApiPage(): Fields {
  const schema = fieldsOf(fieldsOf(versionOf(crd())["schema"])["openAPIV3Schema"]);
  const kinds = [{ group: "kron.io", version: "v1alpha1", kind: "KronJob" }];
  const path = "/apis/kron.io/v1alpha1/namespaces/{namespace}/kronjobs/{name}";
  return {
    openapi: "3.0.0",
    info: { title: "double", version: "v1" },
    paths: { [path]: { get: { "x-kubernetes-group-version-kind": kinds[0] } } },
    components: { schemas: { "io.kron.v1alpha1.KronJob": { ...schema, "x-kubernetes-group-version-kind": kinds } } },
  };
}

/** As `kubectl get` wants it: the server decides on columns and ages. */
export function tableOf(resource: Resource, objects: readonly StoredObject[], version: string, now: number): Fields {
  const columns =
    resource.kind === "KronJob" ? (versionOf(crd())["additionalPrinterColumns"] as readonly Column[]) : [];
  const definitions = columns.map(({ name, type, priority = 0, description = "" }) => {
    return { name, type: type === "date" ? "string" : type, format: "", priority, description };
  });
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: version },
    columnDefinitions: [{ name: "Name", type: "string", format: "name", priority: 0, description: "" }, ...definitions],
    rows: objects.map((object) => ({
      cells: [object.metadata.name, ...columns.map((column) => cellOf(column, object, now))],
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

function cellOf({ jsonPath, type }: Column, object: StoredObject, now: number): unknown {
  const value = valueAt(object, jsonPath);
  return type === "date" && typeof value === "string" ? ageOf(now - Date.parse(value)) : (value ?? null);
}

/** `.a.b`, and `.a[?(@.type=="X")].b`: as much of JSONPath as the CRD uses. */
function valueAt(object: unknown, jsonPath: string): unknown {
  let value = object;
  for (const [, name = "", wanted] of jsonPath.matchAll(/\.(\w+)(?:\[\?\(@\.type=="(\w+)"\)\])?/g)) {
    const inner = fieldsOf(value)[name];
    value =
      wanted === undefined
        ? inner
        : (Array.isArray(inner) ? inner : []).find((one) => fieldsOf(one)["type"] === wanted);
  }
  return value;
}

function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
