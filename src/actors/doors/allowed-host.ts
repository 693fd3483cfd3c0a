/** Under which names a door may be asked for: a page in a browser could point a name of its own at this address. */
import { isIP } from "node:net";

/** Addresses in digits cannot be pointed elsewhere by anybody; names can. */
export function isAllowedHost(header: string | undefined, allowed: readonly string[]): boolean {
  const match = /^(?:\[(?<six>[0-9a-f:.]{2,45})\]|(?<name>[^:[\]]{1,253}))(?::\d{1,5})?$/i.exec(header ?? "");
  const { six, name } = match?.groups ?? {};
  if (six !== undefined) return isIP(six) === 6;
  const host = name?.toLowerCase().replace(/\.$/, "");
  if (host === undefined) return false;
  return isIP(host) === 4 || host === "localhost" || allowed.some((each) => each.toLowerCase() === host);
}
