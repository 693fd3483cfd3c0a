/** What people are served beside the API: the page, its sessions, and what it follows. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../actors/clock.js";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import type { Acting } from "../../operations/ports.js";
import type { Sent } from "../http/answer.js";
import { mustReach } from "../http/authority.js";
import { HttpProblem } from "../http/problem.js";
import type { PageDoor, PageRequest } from "../http/service.js";
import { Feed, type FeedPorts } from "./feed.js";
import { SessionDoor, type SessionPorts } from "./session-door.js";
import { StaticFiles } from "./static.js";

const SESSION_PATH = "/web/session";
const SESSIONS_PATH = "/web/sessions";
const FEED_PATH = "/web/feed";

export interface PageWiring {
  readonly acting: Acting;
  readonly authority: SessionPorts["authority"];
  readonly clock: Clock;
  /** Whether browsers ask by TLS. */
  readonly isSecure: boolean;
  readonly watchCommits: FeedPorts["watchCommits"];
  /** One is over: what it follows besides the page's own feed has to end. */
  readonly onSessionEnd: SessionPorts["onSessionEnd"];
}

/** Throws a KronError where there is no page to serve. */
export function openPage({ acting, ...wiring }: PageWiring): Page {
  const { among, logins, supervisor } = acting;
  const follow = among === null ? {} : { follow: () => among.follow() };
  return new Page({ ...wiring, ...follow, logins, status: () => among?.status() ?? supervisor.status() });
}

export class Page implements PageDoor {
  readonly #files = new StaticFiles();
  readonly #sessions: SessionDoor;
  readonly #feed: Feed;

  constructor(ports: SessionPorts & FeedPorts) {
    const feed = new Feed(ports);
    const onSessionEnd = (): void => {
      feed.reconsider();
      ports.onSessionEnd();
    };
    this.#sessions = new SessionDoor({ ...ports, onSessionEnd });
    this.#feed = feed;
  }

  sessionOf(request: IncomingMessage): ReturnType<SessionDoor["sessionOf"]> {
    return this.#sessions.sessionOf(request);
  }

  tell(event: SupervisorEvent): void {
    this.#feed.tell(event);
  }

  close(): void {
    this.#feed.close();
  }

  async answer(asked: PageRequest): Promise<Sent | null> {
    const { request, response, path, address, admitted } = asked;
    const { method = "" } = request;
    if (path === SESSIONS_PATH || path.startsWith(`${SESSIONS_PATH}/`)) return this.#others(asked);
    if (path === SESSION_PATH) return this.#session(method, request, address);
    mustBeOneOf(method, ["GET", "HEAD"], path);
    if (path !== FEED_PATH) return this.#file(request, path);
    mustBeOneOf(method, ["GET"], path);
    const { holder, headers, mayGoOn } = await admitted();
    this.#feed.open({ response, holder: holder.name, tenant: holder.tenant, mayGoOn }, headers);
    return null;
  }

  /** Who is logged in, and the end of one of them: for whoever may do everything with the host. */
  async #others({ request, path, admitted }: PageRequest): Promise<Sent> {
    const id = path.slice(SESSIONS_PATH.length + 1);
    mustBeOneOf(request.method ?? "", id === "" ? ["GET"] : ["DELETE"], path);
    const { holder } = await admitted();
    if (holder.tenant !== null) {
      throw new HttpProblem("key-of-another-kind", "sessions are the host's, and this one is a tenant's");
    }
    mustReach(holder, "admin");
    return id === "" ? this.#sessions.listed(request) : this.#sessions.end(id);
  }

  #session(method: string, request: IncomingMessage, address: string): Promise<Sent> | Sent {
    mustBeOneOf(method, ["GET", "POST", "DELETE"], SESSION_PATH);
    if (method === "POST") return this.#sessions.logIn(request, address);
    return method === "DELETE" ? this.#sessions.logOut(request) : this.#sessions.known(request);
  }

  #file({ headers }: IncomingMessage, path: string): Sent {
    const found = this.#files.answer(path, `${headers["accept-encoding"] ?? ""}`);
    if (found !== null) return found;
    throw new HttpProblem("route-unknown", `there is nothing at ${path}`);
  }
}

function mustBeOneOf(method: string, allowed: readonly string[], path: string): void {
  if (allowed.includes(method)) return;
  const headers = { Allow: allowed.join(", ") };
  throw new HttpProblem("method-not-allowed", `${path} takes ${headers.Allow}`, { headers });
}
