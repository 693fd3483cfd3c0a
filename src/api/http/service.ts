/** Every request, from its first line to its answer: gate, route, key, rate, and then the operation. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { Clock } from "../../actors/clock.js";
import type { DoorPorts } from "../../operations/door.js";
import type { Acting } from "../../operations/ports.js";
import { API_LIMITS } from "../limits.js";
import { type Answer, goneSignalOf, JSON_TYPES, type Sent, send } from "./answer.js";
import { type Authority, type Holder, mustReach, type Origin } from "./authority.js";
import { ClientGone, readBody } from "./body.js";
import type { BodyRoom } from "./body-room.js";
import { answerCall } from "./calls.js";
import type { CursorSeal } from "./cursor.js";
import { addressOf, mustBeForUs, type Named } from "./gate.js";
import type { Idempotency } from "./idempotency.js";
import type { Onlookers } from "./onlookers.js";
import { HttpProblem, internalProblem, problemAnswer, problemOf } from "./problem.js";
import type { Found, Router } from "./router.js";
import { MCP_PATH, type Route } from "./routes.js";
import { type EventStreams, readTopics, STREAM_TYPE } from "./sse.js";

/** What is served to people, below any address but those of the API. */
export interface PageDoor {
  /** null: it goes on as a stream. */
  answer(request: PageRequest): Promise<Sent | null>;
}

export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  /** Where it comes from. */
  readonly address: string;
  /** Who asks, if they may. */
  admitted(): Promise<Admitted>;
}

interface Admitted {
  readonly holder: Holder;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether they still may. */
  readonly mayGoOn: () => Promise<boolean>;
}

interface ServicePorts {
  readonly acting: Acting;
  readonly clock: Clock;
  readonly named: Named;
  /** Whoever can connect is who runs the daemon. */
  readonly isLocal: boolean;
  /** The last address of a chain is the word of our own proxy. */
  readonly isBehindProxy: boolean;
  readonly router: Router;
  readonly authority: Authority;
  readonly idempotency: Idempotency;
  readonly cursors: CursorSeal;
  readonly bodies: BodyRoom;
  readonly streams: EventStreams;
  mcp(): Promise<Conversation>;
  readonly onlookers: Onlookers;
  /** The API as it describes itself. */
  readonly document: string;
  readonly report: DoorPorts["report"];
  /** null: there is no page for people. */
  readonly page: PageDoor | null;
}

/** The same operations by another protocol, for a holder that was let in. */
export interface Conversation {
  answer(spoken: Spoken): Promise<Answer>;
}

export interface Spoken {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly holder: Holder;
  /** This one occurrence, as the log knows it too. */
  readonly instance: string;
  /** Within the bounds of bodies. */
  read(request: IncomingMessage): Promise<Buffer>;
  /** What a holder is told of an error; of one that is ours the log has a line then. */
  problemOf(error: unknown): HttpProblem;
}

/** What is known of a request by and by. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly instance: string;
  headers: Readonly<Record<string, string>>;
  isHost: boolean;
  operation: string;
}

/** A client that still sends what nobody wants gets so long to read why. */
const LINGER_MS = 1_000;

export class Service {
  readonly #ports: ServicePorts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(ports: ServicePorts) {
    this.#ports = ports;
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const served = this.#serve(request, response).finally(() => this.#underWay.delete(served));
    this.#underWay.add(served);
  }

  /** Everything that was begun has been answered, or has taken too long. */
  async idle(): Promise<void> {
    const late = new Promise<void>((resolve) => this.#ports.clock.after(API_LIMITS.closeMs, resolve));
    await Promise.race([Promise.allSettled(this.#underWay), late]);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const instance = `urn:uuid:${randomUUID()}`;
    const exchange: Exchange = { request, response, instance, headers: {}, isHost: false, operation: "request" };
    // A client that went away needs no answer.
    response.on("error", () => response.destroy());
    try {
      const answer = await this.#answer(exchange);
      if (answer !== null) this.#send(exchange, answer);
    } catch (error) {
      if (error instanceof ClientGone) response.destroy();
      else this.#send(exchange, this.#refused(error, exchange));
    }
  }

  #send({ request, response, headers }: Exchange, answer: Sent): void {
    send(response, { ...answer, headers: { ...headers, ...answer.headers } }, request.method === "HEAD");
    if (answer.status !== 413) return;
    request.resume();
    this.#ports.clock.after(LINGER_MS, () => {
      if (!request.complete) request.socket.destroy();
    });
  }

  #refused(error: unknown, exchange: Exchange): Answer {
    return problemAnswer(this.#problem(error, exchange), exchange.instance);
  }

  #problem(error: unknown, { isHost, instance, operation }: Exchange): HttpProblem {
    const problem = problemOf(error) ?? internalProblem(error, isHost);
    if (problem.status === 500) this.#ports.report(error, { operation, instance });
    return problem;
  }

  /** null: it goes on as a stream. */
  async #answer(exchange: Exchange): Promise<Sent | null> {
    const { request } = exchange;
    const { named, page, router } = this.#ports;
    mustBeForUs(request, named);
    const { method = "", url = "" } = request;
    if (method === "OPTIONS") return this.#options(url);
    const { path, query } = addressOf(url);
    if (page !== null && !path.startsWith("/api/") && path !== MCP_PATH) return this.#paged(page, exchange, path);
    const found = router.find(method, path);
    if (found.route === "openapi") return this.#described(query);
    const holder = await this.#admitted(exchange);
    if (found.route === "mcp") return this.#spoken(exchange, holder, query);
    if (found.route === "events") return this.#follow(exchange, holder, query);
    if (found.route === "inspect") return this.#inspect(exchange, holder, query);
    return this.#called(exchange, found.route, found.parameters, holder, query);
  }

  #options(url: string): Answer {
    if (url === "*") return { status: 204, headers: {}, body: null };
    const { path } = addressOf(url);
    const allowed = this.#ports.router.allowed(path);
    if (allowed.length === 0) throw new HttpProblem("route-unknown", `there is nothing at ${path}`);
    return { status: 204, headers: { Allow: allowed.join(", ") }, body: null };
  }

  #described(query: string): Answer {
    if (query !== "") throw new HttpProblem("input-invalid", "this takes no parameters");
    return { status: 200, headers: { "Content-Type": JSON_TYPES.json }, body: this.#ports.document };
  }

  async #admitted(exchange: Exchange): Promise<Holder> {
    const holder = await this.#ports.authority.holderOf(exchange.request, this.#originOf(exchange.request));
    exchange.isHost = holder.tenant === null;
    exchange.headers = this.#ports.authority.pace(holder);
    return holder;
  }

  async #called(
    exchange: Exchange,
    route: Route,
    parameters: Found["parameters"],
    holder: Holder,
    query: string,
  ): Promise<Answer> {
    const { acting, idempotency, cursors } = this.#ports;
    exchange.operation = route.operation.name;
    const refuse = (error: unknown): Answer => this.#refused(error, exchange);
    const { request, response } = exchange;
    const call = { request, route, parameters, query, holder, gone: goneSignalOf(response) };
    const read = (from: IncomingMessage): Promise<Buffer> => this.#bodyOf(from, holder);
    return answerCall(call, { acting, read, idempotency, cursors, refuse });
  }

  async #spoken(exchange: Exchange, holder: Holder, query: string): Promise<Answer> {
    if (query !== "") throw new HttpProblem("input-invalid", "this takes no parameters");
    const { request, response, instance } = exchange;
    exchange.operation = "mcp";
    const problem = (error: unknown): HttpProblem => this.#problem(error, exchange);
    const read = (from: IncomingMessage): Promise<Buffer> => this.#bodyOf(from, holder);
    return (await this.#ports.mcp()).answer({ request, response, holder, instance, read, problemOf: problem });
  }

  async #bodyOf(request: IncomingMessage, holder: Holder): Promise<Buffer> {
    const { authority, bodies } = this.#ports;
    // However many keys a tenant has, they are one.
    const whose = holder.tenant === null ? `host ${holder.name}` : `tenant ${holder.tenant}`;
    const body = await bodies.within(whose, (place) => readBody(request, place));
    authority.paceBody(holder, body.length);
    return body;
  }

  #paged(page: PageDoor, exchange: Exchange, path: string): Promise<Sent | null> {
    const { request, response } = exchange;
    const admitted = async (): Promise<Admitted> => {
      const holder = await this.#admitted(exchange);
      return { holder, headers: exchange.headers, mayGoOn: this.#mayGoOn(request) };
    };
    return page.answer({ request, response, path, address: this.#originOf(request).address, admitted });
  }

  #mayGoOn(request: IncomingMessage): () => Promise<boolean> {
    const origin = this.#originOf(request);
    return () => this.#ports.authority.holderOf(request, origin).then(() => true);
  }

  #follow(exchange: Exchange, holder: Holder, query: string): Answer | null {
    const { streams } = this.#ports;
    const { request, response, headers } = exchange;
    const topics = readTopics(topicsIn(query));
    if (request.method === "HEAD") return { status: 200, headers: { "Content-Type": STREAM_TYPE }, body: null };
    const mayGoOn = this.#mayGoOn(request);
    const lastId = request.headers["last-event-id"];
    const seen = typeof lastId === "string" ? lastId : undefined;
    streams.open({ response, topics, tenant: holder.tenant, holder: holder.name, mayGoOn }, seen, headers);
    return null;
  }

  /** Definitions and documents are seen by it: whoever may only read is not shown them so. */
  #inspect(exchange: Exchange, holder: Holder, query: string): null {
    const { onlookers } = this.#ports;
    const { request, response, headers } = exchange;
    if (holder.tenant !== null) {
      throw new HttpProblem("key-of-another-kind", "the machines are the host's, and the key is a tenant's");
    }
    mustReach(holder, "write");
    if (request.method === "HEAD") throw new HttpProblem("method-not-allowed", "a stream is asked for with GET");
    onlookers.open({ response, holder: holder.name, mayGoOn: this.#mayGoOn(request) }, query, headers);
    return null;
  }

  /** What was forwarded by somebody else did not come from whoever may open the socket. */
  #originOf({ headers, socket }: IncomingMessage): Origin {
    const { isLocal, isBehindProxy } = this.#ports;
    const forwarded = [headers["x-forwarded-for"], headers.forwarded, headers.via, headers["x-real-ip"]];
    const chain = `${headers["x-forwarded-for"] ?? ""}`.split(",");
    const last = chain.at(-1)?.trim() ?? "";
    const address = isBehindProxy && isIP(last) !== 0 ? last : (socket.remoteAddress ?? "");
    return { address, isLocal: isLocal && forwarded.every((header) => header === undefined) };
  }
}

function topicsIn(query: string): string | null {
  const given = new URLSearchParams(query);
  const stray = [...given.keys()].find((name) => name !== "topics");
  if (stray !== undefined || given.getAll("topics").length > 1) {
    throw new HttpProblem("input-invalid", "there is one parameter here, topics");
  }
  return given.get("topics");
}
