/** Who asks, and whether they may. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../actors/clock.js";
import { DEFAULT_TENANT } from "../../core/endpoint/endpoint-name.js";
import { type Rate, standingOf, storedKey } from "../../operations/keys/record.js";
import { isKeyOf, keyIdOf } from "../../operations/keys/secret.js";
import { type Operation, SCOPE_FOR } from "../../operations/operation.js";
import type { Acting } from "../../operations/ports.js";
import { SCOPES, type Scope } from "../../operations/scope.js";
import { tenantName } from "../../operations/tenant.js";
import { API_LIMITS } from "../limits.js";
import type { KeyUses } from "./key-uses.js";
import { HttpProblem, type ProblemCode, retryAfter } from "./problem.js";
import { RateBook } from "./rate.js";

/** Whoever asks, as far as it is known. */
export interface Holder {
  /** null: the host's. */
  readonly tenant: string | null;
  /** null: whoever may open the socket. */
  readonly keyId: string | null;
  readonly scope: Scope;
  readonly rate: Rate;
  /** Who is told from whom by it, where one may have only so much. */
  readonly name: string;
}

/** A session of the page, as far as a holder comes of it. */
type PageSession = Pick<Holder, "tenant" | "keyId" | "scope"> & { readonly id: string };

/** Where a request comes from. */
export interface Origin {
  readonly address: string;
  /** By a socket that only its owner can open: they need no key. */
  readonly isLocal: boolean;
}

/** Compared with where there is no such key: it takes as long. */
const NO_HASH = "0".repeat(64);

interface AuthorityPorts extends Pick<Acting, "reader" | "now"> {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly uses: KeyUses;
  /** Of keys without a rate of their own. */
  readonly rate: Rate;
  readonly wrongKeys: Rate;
}

/** null: the request brings none. Throws where it may not be used. */
type SessionOf = (request: IncomingMessage) => PageSession | null;

export class Authority {
  readonly #ports: AuthorityPorts;
  readonly #wrong = new RateBook(API_LIMITS.remembered);
  readonly #asked = new RateBook(API_LIMITS.remembered);
  #sessionOf: SessionOf = () => null;

  constructor(ports: AuthorityPorts) {
    this.#ports = ports;
  }

  /** Where there is a page, its sessions are as good as what has opened them. */
  knowSessions(sessionOf: SessionOf): void {
    this.#sessionOf = sessionOf;
  }

  async holderOf(request: IncomingMessage, { address, isLocal }: Origin): Promise<Holder> {
    const { authorization } = request.headers;
    if (authorization === undefined) {
      const session = this.#sessionOf(request);
      if (session !== null) return this.#inSession(session);
      if (isLocal) return { tenant: null, keyId: null, scope: "admin", rate: this.#ports.rate, name: "" };
      throw unauthorized("key-missing", "a key is needed", "Authorization: Bearer kron_…");
    }
    const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
    const holder = await this.#known(key);
    if (holder instanceof HttpProblem) throw this.#afterWrongKey(holder, address);
    return holder;
  }

  /** Gives what is to be said of the rate, in an answer of any kind. */
  pace({ keyId, rate }: Holder, requests = 1): Readonly<Record<string, string>> {
    if (keyId === null) return {};
    const taken = this.#asked.take(keyId, rate, this.#ports.clock.monotonicMs(), requests);
    const window = Math.max(1, Math.round(rate.burst / rate.perSecond));
    const headers = {
      "RateLimit-Policy": `"key";q=${rate.burst};w=${window}`,
      RateLimit: `"key";r=${taken.remaining};t=${Math.ceil(taken.fullInMs / 1_000)}`,
    };
    if (taken.isAllowed) return headers;
    const more = { headers: { ...headers, ...retryAfter(taken.retryAfterMs) } };
    throw new HttpProblem("rate-exceeded", `this key may ask ${rate.perSecond} times a second`, more);
  }

  /** A large body is as much work as many requests, and counts as so many beside the one that brings it. */
  paceBody(holder: Holder, bytes: number): void {
    // No more than a key that has rested has left: otherwise nobody could ever bring it.
    const most = Math.floor(holder.rate.burst) - 1;
    const requests = Math.min(Math.floor(bytes / API_LIMITS.bodyBytesPerRequest), most);
    if (requests > 0) this.pace(holder, requests);
  }

  /** null: it opens nothing. For whoever bounds how often that is tried. */
  async holderOfKey(key: string): Promise<Holder | null> {
    const holder = await this.#known(key);
    return holder instanceof HttpProblem ? null : holder;
  }

  /** As good as the key that has opened it, and no longer. */
  async #inSession({ id, tenant, keyId, scope }: PageSession): Promise<Holder> {
    const { reader, now, rate } = this.#ports;
    if (keyId === null) return { tenant, keyId, scope, rate, name: id };
    const record = await storedKey(reader, keyId);
    if (record === null || standingOf(record, now()) !== "active") {
      throw new HttpProblem("session-over", "the key of this session is not valid any more");
    }
    // However many sessions a key opens, it is one holder.
    return { tenant, keyId, scope, rate: record.rate ?? rate, name: keyId };
  }

  async #known(key: string): Promise<Holder | HttpProblem> {
    const { reader, now, rate, uses } = this.#ports;
    const keyId = keyIdOf(key);
    const record = keyId === null ? null : await storedKey(reader, keyId);
    const isRight = isKeyOf(key, record?.hash ?? NO_HASH);
    if (record === null || !isRight) return unauthorized("key-invalid", "this is no key of ours");
    const standing = standingOf(record, now());
    if (standing === "revoked") return unauthorized("key-revoked", "this key was taken back");
    if (standing === "expired") return unauthorized("key-expired", "this key is not valid any more");
    uses.note(record.id, now());
    return { tenant: record.tenant, keyId: record.id, scope: record.scope, rate: record.rate ?? rate, name: record.id };
  }

  /** A right key is never refused for wrong ones from the same address: others may be there too. */
  #afterWrongKey(problem: HttpProblem, address: string): HttpProblem {
    const taken = this.#wrong.take(address, this.#ports.wrongKeys, this.#ports.clock.monotonicMs());
    if (taken.isAllowed) return problem;
    const more = { headers: retryAfter(taken.retryAfterMs) };
    return new HttpProblem("wrong-keys-exceeded", "too many wrong keys from this address", more);
  }
}

function unauthorized(code: ProblemCode, detail: string, hint?: string): HttpProblem {
  const error = code === "key-missing" ? "" : ', error="invalid_token"';
  const headers = { "WWW-Authenticate": `Bearer realm="kron"${error}` };
  return new HttpProblem(code, detail, { headers, ...(hint === undefined ? {} : { hint }) });
}

/** Whether a holder may ask for this, and for whom. Gives the tenant; null: the host. */
export function mayAsk(holder: Holder, operation: Operation, named: string | undefined): string | null {
  mustBeOf(holder, operation);
  mustReach(holder, SCOPE_FOR[operation.access]);
  if (operation.of === "host") return null;
  return holder.tenant ?? tenantNamed(named);
}

export function mustReach({ scope }: Holder, needed: Scope): void {
  if (SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)) return;
  const detail = `this takes a key of scope ${needed}, and this one has ${scope}`;
  const challenge = `Bearer realm="kron", error="insufficient_scope", scope="${needed}"`;
  throw new HttpProblem("scope-missing", detail, { headers: { "WWW-Authenticate": challenge } });
}

function mustBeOf({ tenant, keyId }: Holder, { of }: Operation): void {
  if (of === "host" && tenant !== null) {
    throw new HttpProblem("key-of-another-kind", "this is the host's, and the key is a tenant's");
  }
  // Only who runs the daemon speaks for tenants; a key speaks for one or none.
  if (of === "tenant" && tenant === null && keyId !== null) {
    throw new HttpProblem("key-of-another-kind", "this is a tenant's, and the key is the host's", {
      hint: "make one with 'kron keys create --tenant NAME'",
    });
  }
}

function tenantNamed(header: string | undefined): string {
  const name = header ?? DEFAULT_TENANT;
  if (tenantName.safeParse(name).success) return name;
  throw new HttpProblem("request-malformed", "Kron-Tenant names no tenant");
}
