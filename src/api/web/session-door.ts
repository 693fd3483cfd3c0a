/** Logging in and out on the page, and who a request of the page is from. */
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { Clock } from "../../actors/clock.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import type { LoginCodes } from "../../operations/page/login-codes.js";
import { type Answer, JSON_TYPES } from "../http/answer.js";
import type { Authority } from "../http/authority.js";
import { mustBeJson, parseBody, readBody } from "../http/body.js";
import { HttpProblem, retryAfter } from "../http/problem.js";
import { RateBook } from "../http/rate.js";
import { API_LIMITS } from "../limits.js";
import { type Halves, type Session, Sessions } from "./sessions.js";

const PAGE_HEADER = "x-kron-page";

const CREDENTIALS = z.union([
  z.strictObject({ code: z.string().max(API_LIMITS.credentialChars) }),
  z.strictObject({ key: z.string().max(API_LIMITS.credentialChars) }),
]);

export interface SessionPorts {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logins: LoginCodes;
  readonly isSecure: boolean;
  readonly authority: Pick<Authority, "holderOfKey" | "pace">;
  /** One is over: what it follows has to end. */
  readonly onSessionEnd: () => void;
}

export class SessionDoor {
  readonly #ports: SessionPorts;
  readonly #sessions: Sessions;
  readonly #wrong = new RateBook(API_LIMITS.remembered);

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#sessions = new Sessions(ports.clock);
  }

  /** null: the request brings no session. Throws where it brings one that is worth nothing, or not from our page. */
  sessionOf(request: IncomingMessage): Session | null {
    const cookie = cookieOf(request);
    if (cookie === null) return null;
    mustBeOurPage(request, this.#ports.isSecure);
    const session = this.#sessions.find({ cookie, page: pageHalf(request) });
    if (session !== null) return session;
    throw new HttpProblem("session-over", "nobody is logged in here, or not any more", { hint: "kron open" });
  }

  /** By a link of `kron open`, or by a key. Whatever is wrong is told in the same words. */
  async logIn(request: IncomingMessage, address: string): Promise<Answer> {
    mustBeOurPage(request, this.#ports.isSecure);
    const credentials = await credentialsIn(request).catch((error: unknown) => {
      throw error instanceof HttpProblem ? this.#afterWrong(error, address) : error;
    });
    const opened = await this.#openedBy(credentials);
    if (opened === null) throw this.#afterWrong(opensNothing(), address);
    const { session, halves } = this.#sessions.open(opened);
    const body = JSON.stringify({ page: halves.page, ...told(session) });
    const headers = { "Content-Type": JSON_TYPES.json, "Set-Cookie": this.#cookie(request, halves.cookie) };
    return { status: 201, headers, body };
  }

  known(request: IncomingMessage): Answer {
    const session = this.sessionOf(request);
    if (session === null) throw new HttpProblem("session-over", "nobody is logged in here");
    return { status: 200, headers: { "Content-Type": JSON_TYPES.json }, body: JSON.stringify(told(session)) };
  }

  logOut(request: IncomingMessage): Answer {
    mustBeOurPage(request, this.#ports.isSecure);
    const cookie = cookieOf(request);
    // Whoever was never here has nothing that ends, and makes nobody look at what everybody follows.
    const wasOpen = cookie !== null && this.#sessions.close({ cookie, page: pageHalf(request) });
    if (wasOpen) this.#ports.onSessionEnd();
    return { status: 204, headers: { "Set-Cookie": `${this.#cookie(request, "")}; Max-Age=0` }, body: null };
  }

  /** Everybody who is logged in; `isOwn`: whoever asks. */
  listed(request: IncomingMessage): Answer {
    const own = this.sessionOf(request);
    const rows = this.#sessions.list().map((row) => ({ ...row, isOwn: row.id === own?.id }));
    return { status: 200, headers: { "Content-Type": JSON_TYPES.json }, body: JSON.stringify({ rows }) };
  }

  end(id: string): Answer {
    if (!this.#sessions.end(id)) {
      throw new HttpProblem("not-found", "nobody is logged in by this session, or not any more");
    }
    this.#ports.onSessionEnd();
    return { status: 204, headers: {}, body: null };
  }

  async #openedBy(by: z.output<typeof CREDENTIALS>): Promise<Omit<Session, "id"> | null> {
    if ("code" in by) {
      const opens = this.#ports.logins.redeem(by.code);
      return opens === null ? null : { ...opens, tenant: null };
    }
    const holder = await this.#ports.authority.holderOfKey(by.key);
    if (holder === null) return null;
    // A login asks something of its key, as any request does.
    this.#ports.authority.pace(holder);
    return { scope: holder.scope, tenant: holder.tenant, keyId: holder.keyId };
  }

  /** A right one is never refused for wrong ones from the same address: others may be there too. */
  #afterWrong(problem: HttpProblem, address: string): HttpProblem {
    const taken = this.#wrong.take(address, API_LIMITS.wrongLogins, this.#ports.clock.monotonicMs());
    if (taken.isAllowed) return problem;
    // What it said of the connection is true all the same.
    const more = { headers: { ...problem.headers, ...retryAfter(taken.retryAfterMs) } };
    return new HttpProblem("wrong-keys-exceeded", "too many wrong logins from this address", more);
  }

  #cookie(request: IncomingMessage, value: string): string {
    const secure = this.#ports.isSecure ? "; Secure" : "";
    return `${cookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
  }
}

function opensNothing(): HttpProblem {
  return new HttpProblem("login-refused", "this opens nothing", { hint: "kron open" });
}

/** Nobody has said yet who they are: no more is read than a login has. */
async function credentialsIn(request: IncomingMessage): Promise<z.output<typeof CREDENTIALS>> {
  mustBeJson(request);
  const read = CREDENTIALS.safeParse(parseBody(await readBody(request, null, API_LIMITS.credentialBytes)));
  if (read.success) return read.data;
  throw new HttpProblem("input-invalid", "this takes a code or a key");
}

/** A browser says what a page is to us that asks; one that does not at least says where it comes from. */
function mustBeOurPage({ headers }: IncomingMessage, isSecure: boolean): void {
  const site = headers["sec-fetch-site"];
  const own = `${isSecure ? "https" : "http"}://${headers.host}`;
  if (site === undefined ? headers.origin === own : site === "same-origin") return;
  throw new HttpProblem("origin-forbidden", "only the page itself may use its session");
}

/** Two daemons of one host are sent each other's cookies, and tell them apart by the port. */
function cookieName({ socket }: IncomingMessage): string {
  return `kron-${socket.localPort ?? "page"}`;
}

function cookieOf(request: IncomingMessage): string | null {
  const name = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length) ?? null;
}

function pageHalf({ headers }: IncomingMessage): Halves["page"] {
  const half = headers[PAGE_HEADER];
  return typeof half === "string" ? half : "";
}

function told({ scope, tenant }: Session): object {
  return { scope, tenant, version: ENGINE_VERSION };
}
