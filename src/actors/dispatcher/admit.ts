/**
 * Where a request may go (security list: judged on bytes, resolved once, connected to what was judged). A name is only as
 * good as the worst of its addresses: one that is forbidden refuses all of them.
 */
import {
  type AddressPolicy,
  formatRange,
  isAllowed,
  kindOfAddress,
  literalAddressOf,
  parseAddress,
  unmapped,
} from "../../core/base/address.js";
import { err, ok, type Result } from "../../core/base/result.js";
import type { ArmFailure } from "../runner/port.js";
import type { Resolver } from "./resolver.js";

/** Addresses to connect to, in the order in which they are tried. */
type Admitted = Result<readonly string[], ArmFailure>;

export async function admit(url: URL, policy: AddressPolicy, resolver: Resolver): Promise<Admitted> {
  const literal = literalAddressOf(url);
  const found = literal === null ? await resolver.resolve(url.hostname) : ok([url.hostname.replace(/^\[|\]$/g, "")]);
  if (!found.ok) return err({ code: "dns-failed", message: found.error });
  const forbidden = found.value.find((address) => !isAdmitted(address, policy));
  if (forbidden === undefined) return ok([...found.value].sort((a, b) => versionOf(a) - versionOf(b)));
  return err({ code: "address-forbidden", message: forbiddenText(url.hostname, forbidden) });
}

/** What cannot be read as an address is none that anybody may connect to. */
function isAdmitted(address: string, policy: AddressPolicy): boolean {
  const bytes = parseAddress(address);
  return bytes !== null && isAllowed(bytes, policy);
}

/** A host that has no IPv6 has it in its names all the same. */
function versionOf(address: string): number {
  return address.includes(":") ? 6 : 4;
}

function forbiddenText(hostname: string, address: string): string {
  const bytes = parseAddress(address);
  const kind = bytes === null ? "unusable" : kindOfAddress(bytes);
  const text = bytes === null ? address : formatRange({ bytes: unmapped(bytes), bits: unmapped(bytes).length * 8 });
  const where = hostname === text ? text : `${hostname} is ${text}`;
  switch (kind) {
    case "private":
      return `${where}, a private address: krond start --allow-private, or http: { allow: [${text}] }, lets requests go there`;
    case "metadata":
      return `${where}, where clouds hand out credentials: only http: { allow: [${text}] } lets requests go there`;
    default:
      return `${where}, no address that a request can go to`;
  }
}
