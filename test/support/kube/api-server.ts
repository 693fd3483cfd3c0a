/**
 * An API server double that speaks HTTP on loopback: list in pages, streaming lists, watches with bookmarks and 410,
 * conflicts, preconditions, dry runs, refusals of rights and credentials, and faults by a function of the request.
 */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../../../src/actors/clock.js";
import { judgeCreation, judgeStatus } from "./admission.js";
import { Controllers, deletePod } from "./controllers.js";
import { discoveryPage, tableOf, withCrdDefaults } from "./discovery.js";
import {
  type Change,
  type Fields,
  fieldsOf,
  RESOURCES,
  Refusal,
  type Resource,
  Store,
  type StoredObject,
} from "./store.js";

export interface Call {
  readonly verb: "get" | "list" | "watch" | "create" | "patch" | "delete";
  readonly resource: Resource;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly isStatus: boolean;
  readonly isBinding: boolean;
  /** Who asks, by the credentials. */
  readonly authorization: string;
  readonly query: URLSearchParams;
}

/** What goes wrong with a call. A reset before the call leaves no trace; one after it leaves the caller in doubt. */
export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly reason: string; readonly retryAfter?: number }
  | { readonly kind: "reset"; readonly when: "before" | "after" }
  | { readonly kind: "delay"; readonly ms: number };

export interface ApiServerOptions {
  readonly clock?: Clock;
  /** null: everybody. */
  readonly token?: string;
  readonly canStreamLists?: boolean;
  readonly bookmarkMs?: number;
}

export class ApiServer {
  readonly store: Store;
  readonly calls: string[] = [];
  readonly #options: Required<Pick<ApiServerOptions, "canStreamLists" | "bookmarkMs">> & ApiServerOptions;
  readonly #server: http.Server;
  readonly #now: () => number;
  readonly #watches = new Set<() => void>();
  /** Whoever connects is cut off. */
  isDown = false;
  faultOf: (call: Call) => Fault | null = () => null;
  mayDo: (call: Call) => boolean = () => true;
  /** How long a watch event is on its way. */
  watchLagMs: () => number = () => 0;
  /** What admission has against the creation of an object; null: nothing. */
  objectionTo: (call: Call, object: Fields) => string | null = () => null;
  /** An admission webhook that changes what is created. */
  mutate: (object: Fields) => Fields = (object) => object;

  constructor(options: ApiServerOptions = {}) {
    this.#options = { canStreamLists: true, bookmarkMs: 1_000, ...options };
    const clock = options.clock ?? systemClock;
    this.#now = () => clock.now();
    this.store = new Store(this.#now);
    new Controllers(this.store, clock);
    this.#server = http.createServer((request, response) => void this.#serve(request, response));
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As text, for a file. */
  get kubeconfig(): string {
    const user = this.#options.token === undefined ? {} : { token: this.#options.token };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "double",
      contexts: [{ name: "double", context: { cluster: "double", user: "double", namespace: "default" } }],
      clusters: [{ name: "double", cluster: { server: this.url } }],
      users: [{ name: "double", user }],
    });
  }

  /** All connections break, and no watch can go on from where it was. */
  restart(): void {
    this.store.compact();
    this.#server.closeAllConnections();
  }

  /** Every watch ends, in peace. */
  endWatches(): void {
    for (const end of [...this.#watches]) end();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    if (this.isDown) {
      request.socket.destroy();
      return;
    }
    try {
      const body = await bodyOf(request);
      const page = discoveryPage(new URL(request.url ?? "/", "http://double").pathname);
      if (page !== null) {
        sendJson(response, 200, page);
        return;
      }
      const call = callOf(request);
      this.calls.push(`${call.verb} ${call.resource.name}${call.isStatus ? "/status" : ""}`);
      this.#admit(request, call);
      const fault = this.faultOf(call);
      if (fault?.kind === "delay") await new Promise((done) => setTimeout(done, fault.ms));
      if (fault?.kind === "status") throw faultRefusal(fault);
      if (fault?.kind === "reset" && fault.when === "before") {
        request.socket.destroy();
        return;
      }
      if (call.verb === "watch") {
        this.#watch(call, response);
        return;
      }
      const answer = this.#answer(call, body, request.headers["content-type"] ?? "");
      const isTable = (request.headers.accept ?? "").includes("as=Table") && READING.has(call.verb);
      if (fault?.kind === "reset") request.socket.destroy();
      else sendJson(response, call.verb === "create" ? 201 : 200, isTable ? this.#table(call, answer) : answer);
    } catch (error) {
      sendRefusal(response, error);
    }
  }

  #admit(request: http.IncomingMessage, call: Call): void {
    const { token } = this.#options;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      throw new Refusal(401, "Unauthorized", "Unauthorized");
    }
    if (this.mayDo(call)) return;
    const { resource, verb, namespace, isStatus } = call;
    const what = `${verb} resource "${resource.name}${isStatus ? "/status" : ""}"`;
    const where = namespace === null ? "at the cluster scope" : `in the namespace "${namespace}"`;
    throw new Refusal(403, "Forbidden", `${resource.name} is forbidden: User "double" cannot ${what} ${where}`);
  }

  #answer(call: Call, body: Fields, type: string): unknown {
    const { verb, resource, namespace, name, isStatus, query } = call;
    if (verb === "list") return this.#list(call);
    if (namespace === null) throw new Refusal(405, "MethodNotAllowed", "a namespace is needed");
    if (call.isBinding) return this.#bind(namespace, name ?? "", body);
    if (verb === "create") {
      const object = this.#defaulted(resource, body);
      judgeCreation(resource, object, query.get("fieldValidation") === "Strict");
      const objection = this.objectionTo(call, object);
      if (objection !== null) throw forbidden(resource, object, objection);
      return this.store.create(resource, namespace, object, query.get("dryRun") === "All");
    }
    if (name === null) throw new Refusal(405, "MethodNotAllowed", "a name is needed");
    if (verb === "get") return this.store.get(resource.name, namespace, name);
    if (verb === "delete") return this.#delete(this.store.get(resource.name, namespace, name), resource, body);
    if (!type.startsWith("application/merge-patch+json")) {
      throw new Refusal(415, "UnsupportedMediaType", `the body of the request was in an unknown format: ${type}`);
    }
    const was = this.store.get(resource.name, namespace, name);
    if (isStatus && resource.name === "kronjobs") judgeStatus(was, body);
    return this.store.patch(resource, namespace, name, body, isStatus);
  }

  #defaulted({ name }: Resource, body: Fields): Fields {
    if (name === "jobs") return this.mutate(withJobDefaults(body));
    return name === "kronjobs" ? withCrdDefaults(body) : body;
  }

  /** From then on it has a kubelet: deleted, it goes when that one says so. */
  #bind(namespace: string, name: string, body: Fields): unknown {
    const pod = this.store.get("pods", namespace, name);
    const spec = fieldsOf(pod["spec"]);
    const refused = (why: string): Refusal => {
      const message = `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} ${why}`;
      return new Refusal(409, "Conflict", message);
    };
    if (pod.metadata["deletionTimestamp"] !== undefined)
      throw refused("is being deleted, cannot be assigned to a host");
    if (spec["nodeName"] !== undefined) throw refused(`is already assigned to node "${String(spec["nodeName"])}"`);
    this.store.replace("pods", { ...pod, spec: { ...spec, nodeName: fieldsOf(body["target"])["name"] } });
    return { kind: "Status", apiVersion: "v1", status: "Success" };
  }

  #delete(object: StoredObject, resource: Resource, body: Fields): unknown {
    const { uid, resourceVersion } = fieldsOf(body["preconditions"]);
    const { metadata } = object;
    const isOther = uid !== undefined && uid !== metadata.uid;
    if (isOther || (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)) {
      const detail = `UID in precondition: ${String(uid)}, UID in object meta: ${metadata.uid}`;
      throw new Refusal(409, "Conflict", `the ResourceVersion or UID does not match (${detail})`);
    }
    if (resource.name === "pods" && body["gracePeriodSeconds"] !== 0) deletePod(this.store, object);
    else if (resource.name === "jobs" && body["propagationPolicy"] === "Foreground") {
      if (metadata["deletionTimestamp"] === undefined) {
        const next = { ...metadata, deletionTimestamp: this.store.timestamp(), finalizers: ["foregroundDeletion"] };
        this.store.replace("jobs", { ...object, metadata: next });
      }
    } else this.store.remove(resource.name, object);
    return { kind: "Status", apiVersion: "v1", status: "Success" };
  }

  #table({ resource, verb }: Call, answer: unknown): unknown {
    const objects = verb === "list" ? (fieldsOf(answer)["items"] as readonly StoredObject[]) : [answer as StoredObject];
    return tableOf(resource, objects, String(this.store.version), this.#now());
  }

  #list({ resource, namespace, query }: Call): unknown {
    const all = this.store.list(resource.name, namespace).filter((object) => isSelected(object, query));
    const limit = Number(query.get("limit") ?? 0);
    const from = Number(query.get("continue") ?? 0);
    const items = limit > 0 ? all.slice(from, from + limit) : all;
    const end = from + items.length;
    const more = limit > 0 && end < all.length ? { continue: String(end) } : {};
    return {
      kind: `${resource.kind}List`,
      apiVersion: resource.apiVersion,
      metadata: { resourceVersion: String(this.store.version), ...more },
      items,
    };
  }

  #watch(call: Call, response: http.ServerResponse): void {
    const { resource, namespace, query } = call;
    const isInitial = query.get("sendInitialEvents") === "true";
    if (isInitial && !this.#options.canStreamLists) {
      throw new Refusal(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch");
    }
    const isWatched = ({ metadata }: StoredObject): boolean => namespace === null || metadata.namespace === namespace;
    const since = isInitial ? this.store.version : Number(query.get("resourceVersion") ?? this.store.version);
    const missed = isInitial ? [] : this.store.changesAfter(resource.name, since);
    response.writeHead(200, { "Content-Type": "application/json", Date: new Date().toUTCString() });
    const write = (type: string, object: unknown): void => void response.write(`${JSON.stringify({ type, object })}\n`);
    const deliver = (change: Change): void => {
      if (change.resource !== resource.name || !isWatched(change.object) || !isSelected(change.object, query)) return;
      const lagMs = this.watchLagMs();
      if (lagMs > 0) setTimeout(() => write(change.type, change.object), lagMs);
      else write(change.type, change.object);
    };
    const bookmark = (annotations: Fields): void => {
      const metadata = { resourceVersion: String(this.store.version), annotations };
      write("BOOKMARK", { apiVersion: resource.apiVersion, kind: resource.kind, metadata });
    };
    if (isInitial) {
      for (const object of this.store.list(resource.name, namespace))
        if (isSelected(object, query)) write("ADDED", object);
      bookmark({ "k8s.io/initial-events-end": "true" });
    }
    for (const change of missed) deliver(change);
    this.store.listeners.add(deliver);
    // A bookmark must not overtake an event that is still on its way.
    const timer = setInterval(() => this.watchLagMs() === 0 && bookmark({}), this.#options.bookmarkMs);
    const end = (): void => void response.end();
    this.#watches.add(end);
    response.on("close", () => {
      clearInterval(timer);
      this.store.listeners.delete(deliver);
      this.#watches.delete(end);
    });
  }
}

/** Unlike a right that is missing, it names the object. */
function forbidden({ name, apiVersion }: Resource, object: Fields, objection: string): Refusal {
  const [group = ""] = apiVersion.includes("/") ? apiVersion.split("/") : [];
  const kind = group === "" ? name : `${name}.${group}`;
  return new Refusal(
    403,
    "Forbidden",
    `${kind} "${String(fieldsOf(object["metadata"])["name"])}" is forbidden: ${objection}`,
  );
}

/** `job.spec.suspend` is always there when it comes back. */
function withJobDefaults(body: Fields): Fields {
  return { ...body, spec: { suspend: false, ...fieldsOf(body["spec"]) } };
}

const PATH =
  /^\/(?:api|apis)(?:\/[a-z0-9.-]+)?\/v[a-z0-9]+(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<resource>[a-z]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>status|binding))?$/;

function callOf(request: http.IncomingMessage): Call {
  const url = new URL(request.url ?? "/", "http://double");
  const parts = PATH.exec(url.pathname)?.groups ?? {};
  const resource = RESOURCES.find(({ name }) => name === parts["resource"]);
  if (resource === undefined) throw new Refusal(404, "NotFound", "the server could not find the requested resource");
  const name = parts["name"] ?? null;
  const isWatch = url.searchParams.get("watch") === "1" || url.searchParams.get("watch") === "true";
  const verbs: Readonly<Record<string, Call["verb"]>> = { POST: "create", PATCH: "patch", DELETE: "delete" };
  const reading = isWatch ? "watch" : name === null ? "list" : "get";
  return {
    verb: verbs[request.method ?? ""] ?? reading,
    resource,
    namespace: parts["namespace"] ?? null,
    name,
    isStatus: parts["part"] === "status",
    isBinding: parts["part"] === "binding",
    authorization: request.headers.authorization ?? "",
    query: url.searchParams,
  };
}

const READING: ReadonlySet<string> = new Set(["get", "list"]);

/** `a.b=c,d=e`: what kubectl asks for the Events of one object with. */
function fitsFields(object: StoredObject, selector: string): boolean {
  return selector.split(",").every((term) => {
    const [path = "", wanted = ""] = term.split("=");
    const value = path.split(".").reduce<unknown>((inner, name) => fieldsOf(inner)[name], object);
    return wanted === "" || value === wanted;
  });
}

function isSelected(object: StoredObject, query: URLSearchParams): boolean {
  const { metadata } = object;
  const fields = query.get("fieldSelector");
  if (fields !== null && !fitsFields(object, fields)) return false;
  const selector = query.get("labelSelector");
  if (selector === null) return true;
  const labels = fieldsOf(metadata["labels"]);
  const [key = "", value] = selector.split("=");
  return value === undefined ? labels[key] !== undefined : labels[key] === value;
}

async function bodyOf(request: http.IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : fieldsOf(JSON.parse(text));
}

function faultRefusal({ status, reason, retryAfter }: Extract<Fault, { readonly kind: "status" }>): Refusal {
  const refusal = new Refusal(status, reason, `a fault: ${reason}`);
  return retryAfter === undefined ? refusal : Object.assign(refusal, { retryAfter });
}

function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function sendRefusal(response: http.ServerResponse, error: unknown): void {
  const refusal = error instanceof Refusal ? error : new Refusal(500, "InternalError", String(error));
  const { status: code, reason, message } = refusal;
  const retryAfter = "retryAfter" in refusal ? { "Retry-After": String(refusal.retryAfter) } : {};
  sendJson(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", reason, message, code }, retryAfter);
}
