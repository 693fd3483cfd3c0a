/** Where requests may go besides public addresses, as whoever starts a daemon says it. */
import { type AddressPolicy, type AddressRange, parseRange } from "../core/base/address.js";
import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";

export function permitOf(args: ParsedArgs): AddressPolicy {
  return { allowPrivate: args.has("allow-private"), allow: allowedRanges(args) };
}

function allowedRanges(args: ParsedArgs): AddressRange[] {
  const texts = (args.text("allow") ?? "").split(",").filter((text) => text !== "");
  return texts.map((text) => {
    const range = parseRange(text);
    if (range === null) throw usageError(`--allow: "${text}" is no address`, "write 127.0.0.1 or 10.20.0.0/16");
    return range;
  });
}
