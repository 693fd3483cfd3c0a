/** How the API was asked for, and whether it may be opened so. */
import { isIP } from "node:net";
import type { Rate } from "../operations/keys/record.js";

export type ApiAddress =
  | { readonly kind: "port"; readonly host: string; readonly port: number }
  | { readonly kind: "socket"; readonly path: string };

export interface ApiOptions {
  readonly address: ApiAddress;
  /** Files with a certificate and its key; null: without TLS. */
  readonly tls: { readonly certificate: string; readonly key: string } | null;
  /** Names of a proxy in front of it, which does TLS. */
  readonly proxyNames: readonly string[];
  /** Of keys that have no rate of their own. */
  readonly rate?: Rate;
  /** With the page for people, and their sessions. */
  readonly hasPage?: boolean;
}

/** Why it is not opened; null: it is. Keys must not cross a network that others listen to. */
export function refusalOf({ address, tls, proxyNames, hasPage }: ApiOptions): string | null {
  if (address.kind === "socket") {
    if (hasPage === true && proxyNames.length === 0) return "a browser cannot open a page at a socket";
    return tls === null ? null : "a socket of this machine needs no TLS";
  }
  if (isLoopback(address.host) || tls !== null || proxyNames.length > 0) return null;
  return `${address.host} can be reached from other machines, which would send their keys in the clear`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
