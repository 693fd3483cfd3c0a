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
import type { HttpTarget, JobDefinition } from "./definition.js";

const LOOPBACK = "127.0.0.1";

/** Of everything that a definition has sent, the job itself and whoever is told of it. */
export function literalAddressProblems(
  { target, notify }: Pick<JobDefinition, "target" | "notify">,
  policy: AddressPolicy,
): readonly Problem[] {
  const own = target.kind === "http" ? literalAddressProblem(target, policy, ["http"]) : null;
  const others = notify.map(({ target: whom }, index) => {
    return whom.kind === "webhook" ? literalAddressProblem(whom.http, policy, ["notify", index, "webhook"]) : null;
  });
  return [own, ...others].filter((problem) => problem !== null);
}

/** null: nothing is against it so far. */
function literalAddressProblem(
  { by, url }: HttpTarget,
  policy: AddressPolicy,
  place: readonly (string | number)[],
): Problem | null {
  // Workers are there for networks that are not ours: the daemon never connects.
  if (by === "worker") return null;
  const { hostname } = new URL(url);
  const address = literalAddressOf(new URL(url)) ?? (isLocalName(hostname) ? parseAddress(LOOPBACK) : null);
  if (address === null || isAllowed(address, policy)) return null;
  const path = [...place, "url"];
  const isPrivate = kindOfAddress(address) === "private";
  const code = "address-forbidden";
  if (!isPrivate) return { code, message: "requests may not go to this address", path };
  const hint = "krond start --allow-private, or http: { allow: [ADDRESS] } beside the jobs, lets requests go there";
  return { code, message: "requests may not go to a private address", path, hint };
}
