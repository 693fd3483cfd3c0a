/** The API as a door of the daemon: everything that is needed for a request, put together. */
import { X509Certificate } from "node:crypto";
import * as fs from "node:fs";
import { createSecureContext } from "node:tls";
import type { Clock, Timer } from "../actors/clock.js";
import { fileWords } from "../core/base/errors/file-words.js";
import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import type { DoorPorts, EventListener, NamedDoor } from "../operations/door.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/registry.js";
import { Authority } from "./http/authority.js";
import { BodyRoom } from "./http/body-room.js";
import { CursorSeal } from "./http/cursor.js";
import type { Named } from "./http/gate.js";
import { Idempotency } from "./http/idempotency.js";
import { KeyUses } from "./http/key-uses.js";
import { Onlookers } from "./http/onlookers.js";
import { openApiOf } from "./http/openapi.js";
import { type Extra, type Place, Router } from "./http/router.js";
import { BASE_PATH, MCP_PATH, routeOf } from "./http/routes.js";
import { createServer, listen, type TlsTexts } from "./http/server.js";
import { Service } from "./http/service.js";
import { EventStreams } from "./http/sse.js";
import { API_LIMITS } from "./limits.js";
import type { ApiOptions } from "./options.js";
import type { Page, PageWiring } from "./web/page.js";

/** What is served beside operations. */
const EXTRAS = {
  openapi: { method: "GET", path: `${BASE_PATH}/openapi.json` },
  events: { method: "GET", path: `${BASE_PATH}/events` },
  inspect: { method: "GET", path: `${BASE_PATH}/inspect` },
  mcp: { method: "POST", path: MCP_PATH },
} as const satisfies Readonly<Record<Extra, Place>>;

/** What is not asked for is not loaded. */
async function openPage(wiring: PageWiring): Promise<Page> {
  return (await import("./web/page.js")).openPage(wiring);
}

/** Rejects with a KronError when it cannot be opened. `operations`: all there are, but in tests. */
export async function openApi(
  options: ApiOptions,
  ports: DoorPorts,
  operations: readonly Operation[] = OPERATIONS as unknown as readonly Operation[],
): Promise<NamedDoor> {
  const { acting, clock, report, watchCommits } = ports;
  const routes = operations.map(routeOf);
  const tls = options.tls === null ? null : tlsTexts(options.tls);
  const uses = new KeyUses(clock, acting.write, (error) => report(error, { operation: "key-use" }));
  const idempotency = new Idempotency(acting);
  const { cursors, streams } = amongNodes(acting, clock);
  const onlookers = new Onlookers(ports.inspection, clock);
  const { rate = API_LIMITS.rate } = options;
  const isSecure = tls !== null || options.proxyNames.length > 0;
  const authority = new Authority({ ...acting, clock, uses, rate, wrongKeys: API_LIMITS.wrongKeys });
  const onSessionEnd = (): void => void Promise.all([streams.reconsider(), onlookers.reconsider()]);
  const wiring = { acting, authority, clock, isSecure, watchCommits, onSessionEnd };
  const page = options.hasPage === true ? await openPage(wiring) : null;
  if (page !== null) authority.knowSessions((request) => page.sessionOf(request));
  const service = new Service({
    acting,
    clock,
    report,
    named: { ...namesOf(options, tls), pageScheme: page === null ? null : schemeOf(isSecure) },
    isLocal: options.address.kind === "socket" && options.proxyNames.length === 0,
    isBehindProxy: options.proxyNames.length > 0,
    router: new Router(routes, EXTRAS),
    authority,
    idempotency,
    cursors,
    bodies: new BodyRoom(),
    streams,
    mcp: once(async () => new (await import("./mcp/http.js")).McpOverHttp(operations, acting, cursors)),
    onlookers,
    page,
    document: JSON.stringify(openApiOf(routes)),
  });
  const server = createServer(tls, (request, response) => service.serve(request, response));
  const listening = await listen(server, options.address);
  acting.logins.servedAt(page === null ? null : pageAddress(options, isSecure, listening.address));
  const unsubscribe = ports.subscribe(heardBy(streams, page));
  const sweeper = new Sweeper(clock, idempotency, (error) => report(error, { operation: "sweep" }));
  return {
    address: listening.address,
    close: async () => {
      unsubscribe();
      sweeper.stop();
      streams.close();
      onlookers.close();
      page?.close();
      await listening.close(() => service.idle());
      await uses.close().catch((error: unknown) => report(error, { operation: "key-use" }));
    },
  };
}

function heardBy(streams: EventStreams, page: Page | null): EventListener {
  return {
    tell: (event) => {
      streams.tell(event);
      page?.tell(event);
    },
    // A page looks again at what it shows, all the time.
    missed: () => streams.missed(),
  };
}

/** Where other nodes share the store, one knows the cursors of all, and hears of all while somebody follows. */
function amongNodes({ among }: DoorPorts["acting"], clock: Clock) {
  if (among === null) return { cursors: new CursorSeal(), streams: new EventStreams(clock) };
  return { cursors: new CursorSeal(among.cursorKey), streams: new EventStreams(clock, () => among.follow()) };
}

/** What nobody asks for is not loaded. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

function schemeOf(isSecure: boolean): "http" | "https" {
  return isSecure ? "https" : "http";
}

/** Where a browser finds it: a door that answers every address is asked for by this machine's own name. */
function pageAddress({ proxyNames }: ApiOptions, isSecure: boolean, address: string): string {
  const [name] = proxyNames;
  const place = name ?? address.replace(/^(?:0\.0\.0\.0|\[::\])(?=:)/, "localhost");
  return `${schemeOf(isSecure)}://${place}`;
}

function namesOf({ proxyNames }: ApiOptions, tls: TlsTexts | null): Omit<Named, "pageScheme"> {
  const origins = proxyNames.map((name) => `https://${name}`);
  if (tls === null) return { hosts: proxyNames, origins, isCovered: () => false };
  // Nobody can point a name at us under TLS that our certificate does not have.
  const certificate = new X509Certificate(tls.cert);
  return { hosts: proxyNames, origins, isCovered: (name) => certificate.checkHost(name) !== undefined };
}

function tlsTexts({ certificate, key }: NonNullable<ApiOptions["tls"]>): TlsTexts {
  const texts = { cert: textOf(certificate), key: textOf(key) };
  if ((fs.statSync(key).mode & 0o004) !== 0) {
    throw tlsTrouble(`${key} can be read by everybody on this machine`, `chmod o-r ${key}`);
  }
  try {
    new X509Certificate(texts.cert);
  } catch (error) {
    throw tlsTrouble(`${certificate} holds no certificate: ${messageOf(error)}`, "a file in PEM form, the chain too");
  }
  try {
    createSecureContext(texts);
  } catch (error) {
    throw tlsTrouble(
      `${key} holds no key of that certificate: ${messageOf(error)}`,
      "a file in PEM form, not encrypted",
    );
  }
  return texts;
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    throw tlsTrouble(`${file} cannot be read: ${fileWords(error)}`, "krond reads it as the user it runs as");
  }
}

function tlsTrouble(message: string, hint: string): KronError {
  return new KronError("secret-unreadable", message, { component: "api", operation: "listen", hint });
}

/** Answers that nobody will ask for again go. */
class Sweeper {
  #timer: Timer | null = null;
  #isStopped = false;
  readonly #clock: Clock;
  readonly #idempotency: Idempotency;
  readonly #onFailure: (error: unknown) => void;

  constructor(clock: Clock, idempotency: Idempotency, onFailure: (error: unknown) => void) {
    this.#clock = clock;
    this.#idempotency = idempotency;
    this.#onFailure = onFailure;
    this.#later();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #later(): void {
    if (!this.#isStopped) this.#timer = this.#clock.after(API_LIMITS.sweptEveryMs, () => void this.#sweep());
  }

  async #sweep(): Promise<void> {
    try {
      while (await this.#idempotency.sweep()) if (this.#isStopped) return;
    } catch (error) {
      if (!this.#isStopped) this.#onFailure(error);
    }
    this.#later();
  }
}
