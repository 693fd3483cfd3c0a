/** What is refused before anybody asks who it is, or what for. */
import type { IncomingMessage } from "node:http";
import { isAllowedHost } from "../../actors/doors/allowed-host.js";
import { API_LIMITS } from "../limits.js";
import { HttpProblem } from "./problem.js";

export interface Named {
  /** Names of this machine, or of the proxy in front of it. */
  readonly hosts: readonly string[];
  /** Whether our certificate has a name. */
  isCovered(name: string): boolean;
  /** Web pages that may ask. */
  readonly origins: readonly string[];
  /** How our own page is asked for; null: there is none. */
  readonly pageScheme: "http" | "https" | null;
}

export function mustBeForUs({ headers, url = "" }: Pick<IncomingMessage, "headers" | "url">, named: Named): void {
  const { host, origin } = headers;
  if (host === undefined) throw new HttpProblem("request-malformed", "the request names no host");
  if (!isAllowedHost(host, named.hosts) && !named.isCovered(host.replace(/:\d+$/, ""))) {
    throw new HttpProblem("host-unknown", `this is not known by the name ${JSON.stringify(host)}`, {
      hint: "a proxy in front of it is named with --api-behind-proxy",
    });
  }
  // A browser says where a page comes from, and no page of others may use somebody's network.
  const own = named.pageScheme === null ? null : `${named.pageScheme}://${host}`;
  if (origin !== undefined && origin !== own && !named.origins.includes(origin)) {
    throw new HttpProblem("origin-forbidden", `web pages of ${JSON.stringify(origin)} may not ask`);
  }
  mustBeShort(url);
}

/** Also of addresses that stand in a message, which has room for far more. */
export function mustBeShort(address: string): void {
  if (address.length > API_LIMITS.urlChars) throw new HttpProblem("address-too-long", "the address is too long");
}

interface Address {
  readonly path: string;
  /** Behind the question mark. */
  readonly query: string;
}

/** Strict: what a proxy and we could understand in two ways is refused. */
export function addressOf(url: string): Address {
  if (!url.startsWith("/")) throw new HttpProblem("request-malformed", "the address does not begin with a slash");
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  if (!/^[\x21-\x7e]+$/.test(url) || /[#\\]/.test(url)) {
    throw new HttpProblem("request-malformed", "the address has characters that must be percent-encoded");
  }
  for (const part of path.split("/")) mustDecode(part);
  return { path, query: at < 0 ? "" : url.slice(at + 1) };
}

function mustDecode(part: string): void {
  let text: string;
  try {
    text = decodeURIComponent(part);
  } catch {
    throw new HttpProblem("request-malformed", "the path has a % that is not followed by UTF-8 in hexadecimal digits");
  }
  if (text === "." || text === "..") throw new HttpProblem("request-malformed", "the path has steps up or to itself");
}
