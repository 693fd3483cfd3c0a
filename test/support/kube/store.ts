/**
 * The objects of the API server double: versions, conflicts, preconditions, watches that can be too old. Every rule here
 * was seen at a real API server first; test/operator/contract.test.ts asks both the same questions.
 */
import { randomUUID } from "node:crypto";

export type Fields = Record<string, unknown>;

export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Fields & {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly [field: string]: unknown;
}

export type ResourceName = "kronjobs" | "jobs" | "pods" | "events" | "leases";

export interface Resource {
  readonly name: ResourceName;
  readonly kind: string;
  readonly apiVersion: string;
  /** Spec and status are written apart. */
  readonly hasStatus: boolean;
}

export const RESOURCES: readonly Resource[] = [
  { name: "kronjobs", kind: "KronJob", apiVersion: "kron.io/v1alpha1", hasStatus: true },
  { name: "jobs", kind: "Job", apiVersion: "batch/v1", hasStatus: true },
  { name: "pods", kind: "Pod", apiVersion: "v1", hasStatus: true },
  { name: "events", kind: "Event", apiVersion: "v1", hasStatus: false },
  { name: "leases", kind: "Lease", apiVersion: "coordination.k8s.io/v1", hasStatus: false },
];

export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export interface Change {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: ResourceName;
  readonly object: StoredObject;
}

const KEPT_CHANGES = 5_000;

export class Store {
  readonly #objects = new Map<ResourceName, Map<string, StoredObject>>(RESOURCES.map(({ name }) => [name, new Map()]));
  readonly #now: () => number;
  #changes: Change[] = [];
  #version = 1;
  /** Changes up to here cannot be told any more. */
  #compactedTo = 0;
  readonly listeners = new Set<(change: Change) => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get version(): number {
    return this.#version;
  }

  timestamp(): string {
    return `${new Date(this.#now()).toISOString().slice(0, 19)}Z`;
  }

  /** As after a restart: a watch from an older version is told 410. */
  compact(): void {
    this.#changes = [];
    this.#version += 1;
    this.#compactedTo = this.#version;
  }

  changesAfter(resource: ResourceName, version: number): readonly Change[] {
    if (version < this.#compactedTo) {
      throw new Refusal(410, "Expired", `too old resource version: ${version} (${this.#compactedTo})`);
    }
    return this.#changes.filter((change) => change.resource === resource && change.version > version);
  }

  list(resource: ResourceName, namespace: string | null): readonly StoredObject[] {
    const found = [...this.#of(resource)].filter(([key]) => namespace === null || key.startsWith(`${namespace}/`));
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  find(resource: ResourceName, namespace: string, name: string): StoredObject | null {
    return this.#of(resource).get(keyOf(namespace, name)) ?? null;
  }

  get(resource: ResourceName, namespace: string, name: string): StoredObject {
    const found = this.find(resource, namespace, name);
    if (found === null) throw new Refusal(404, "NotFound", `${resource} "${name}" not found`);
    return found;
  }

  create(resource: Resource, namespace: string, body: Fields, isDryRun: boolean): StoredObject {
    const metadata = fieldsOf(body["metadata"]);
    const given = metadata["name"];
    const generated = metadata["generateName"];
    const name = typeof given === "string" ? given : `${String(generated ?? "x")}${randomUUID().slice(0, 8)}`;
    if (this.#of(resource.name).has(keyOf(namespace, name)))
      throw new Refusal(409, "AlreadyExists", `${resource.name} "${name}" already exists`);
    const object = {
      ...body,
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      metadata: {
        ...metadata,
        name,
        namespace,
        uid: randomUUID(),
        resourceVersion: "0",
        generation: 1,
        creationTimestamp: this.timestamp(),
      },
    } as StoredObject;
    const { status: _, ...bare } = object;
    const made = (resource.hasStatus ? bare : object) as StoredObject;
    return isDryRun ? made : this.#put(resource.name, made, "ADDED");
  }

  /** JSON Merge Patch on the object or on its status alone. */
  patch(resource: Resource, namespace: string, name: string, patch: Fields, isStatus: boolean): StoredObject {
    const was = this.get(resource.name, namespace, name);
    const given = fieldsOf(patch["metadata"]);
    const version = given["resourceVersion"];
    if (version !== undefined && version !== was.metadata.resourceVersion) throw conflict(resource, name);
    const isForeign = given["uid"] !== undefined && given["uid"] !== was.metadata.uid;
    if (isForeign && resource.name === "jobs") {
      throw new Refusal(422, "Invalid", `Job.batch "${name}" is invalid: metadata.uid: field is immutable`);
    }
    const merged = mergedWith(was, { ...patch, metadata: { ...given, uid: was.metadata.uid } }) as StoredObject;
    const next = parts(resource, was, merged, isStatus);
    if (JSON.stringify(next) === JSON.stringify(was)) return was;
    const isSpecChanged = JSON.stringify(next["spec"]) !== JSON.stringify(was["spec"]);
    const generation = Number(was.metadata["generation"] ?? 1) + (isSpecChanged ? 1 : 0);
    return this.replace(resource.name, { ...next, metadata: { ...next.metadata, generation } });
  }

  replace(resource: ResourceName, object: StoredObject): StoredObject {
    return this.#put(resource, object, "MODIFIED");
  }

  remove(resource: ResourceName, { metadata: { namespace, name } }: StoredObject): void {
    const object = this.find(resource, namespace, name);
    if (object === null) return;
    this.#of(resource).delete(keyOf(namespace, name));
    this.#tell("DELETED", resource, object);
  }

  #of(resource: ResourceName): Map<string, StoredObject> {
    const objects = this.#objects.get(resource);
    if (objects === undefined) throw new Error(`there are no ${resource} here`);
    return objects;
  }

  #put(resource: ResourceName, object: StoredObject, type: "ADDED" | "MODIFIED"): StoredObject {
    const { namespace, name } = object.metadata;
    const stored = this.#tell(type, resource, object);
    this.#of(resource).set(keyOf(namespace, name), stored);
    return stored;
  }

  #tell(type: Change["type"], resource: ResourceName, object: StoredObject): StoredObject {
    this.#version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    const change: Change = { version: this.#version, type, resource, object: stored };
    this.#changes.push(change);
    if (this.#changes.length > 2 * KEPT_CHANGES) {
      this.#compactedTo = this.#changes[KEPT_CHANGES]?.version ?? this.#version;
      this.#changes = this.#changes.slice(KEPT_CHANGES + 1);
    }
    for (const listener of this.listeners) listener(change);
    return stored;
  }
}

export function conflict({ name: resource }: Resource, name: string): Refusal {
  const message = `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified`;
  return new Refusal(409, "Conflict", message);
}

/** What a write to one part must not change in the other. */
function parts(resource: Resource, was: StoredObject, merged: StoredObject, isStatus: boolean): StoredObject {
  if (!resource.hasStatus) return merged;
  const next: Fields = isStatus
    ? { ...was, status: merged["status"] }
    : { ...merged, ...(was["status"] === undefined ? {} : { status: was["status"] }) };
  if (next["status"] === undefined) delete next["status"];
  if (!isStatus && was["status"] === undefined) delete next["status"];
  return {
    ...next,
    metadata: { ...(isStatus ? was : merged).metadata, resourceVersion: was.metadata.resourceVersion },
  } as StoredObject;
}

export function mergedWith(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Fields = { ...fieldsOf(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergedWith(result[key], value);
  }
  return result;
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
