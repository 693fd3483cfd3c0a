/** A request to an address that stands in its URL can be judged before it is sent; a name only when it is looked up. */
import {
  type AddressPolicy,
  isAllowed,
  isLocalName,
  kindOfAddress,
  literalAddressOf,
  parseAddress,
} from "../base/address.js";
import type { Problem } from "../base/problem.js";
import type { HttpTarget } from "./definition.js";

const LOOPBACK = "127.0.0.1";

/** null: nothing is against it so far. */
export function literalAddressProblem({ url }: HttpTarget, policy: AddressPolicy): Problem | null {
  const { hostname } = new URL(url);
  const address = literalAddressOf(new URL(url)) ?? (isLocalName(hostname) ? parseAddress(LOOPBACK) : null);
  if (address === null || isAllowed(address, policy)) return null;
  const path = ["http", "url"];
  const isPrivate = kindOfAddress(address) === "private";
  const code = "address-forbidden";
  if (!isPrivate) return { code, message: "requests may not go to this address", path };
  const hint = "krond start --allow-private, or http: { allow: [ADDRESS] } beside the jobs, lets requests go there";
  return { code, message: "requests may not go to a private address", path, hint };
}
