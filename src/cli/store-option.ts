/** The store that `--store` asks for. Apart from the directory: whoever asks for that alone loads no backend. */
import { resolve } from "node:path";
import { formatDuration, parseDuration } from "../core/time/duration.js";
import { SECOND_MS } from "../core/time/instant.js";
import { type AddressOptions, type StorePlace, storePlace } from "../persist/backends.js";
import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { stateDirectoryOf } from "./state-options.js";
import { LEASE_OPTION } from "./store-words.js";

const [SHORTEST_LEASE_MS, LONGEST_LEASE_MS] = [5 * SECOND_MS, 60 * SECOND_MS];

export function storePlaceOf(args: ParsedArgs, io: CliIo): StorePlace {
  const place = storePlace(args.text("store"), stateDirectoryOf(args, io), addressOptions(args, io));
  if (place.ok) return place.value;
  const { hint, message, path } = place.error;
  throw usageError(`--${OPTIONS[path[0] ?? ""] ?? "store"}: ${message}`, hint);
}

/** How people write what goes with an address. */
const OPTIONS: Readonly<Record<string, string>> = {
  passwordFile: "store-password-file",
  leaseMs: LEASE_OPTION.name,
  node: "node",
  pools: "pools",
} satisfies Readonly<Record<keyof AddressOptions, string>>;

function addressOptions(args: ParsedArgs, io: CliIo): AddressOptions {
  const [file, lease] = [args.text("store-password-file"), args.text(LEASE_OPTION.name)];
  const [node, pools] = [args.text("node"), args.text("pools")];
  return {
    ...(node === undefined ? {} : { node }),
    ...(pools === undefined ? {} : { pools: pools.split(",").filter((pool) => pool !== "") }),
    ...(file === undefined ? {} : { passwordFile: resolve(io.cwd, file) }),
    ...(lease === undefined ? {} : { leaseMs: leaseOf(lease) }),
  };
}

function leaseOf(text: string): number {
  const lease = parseDuration(text);
  if (!lease.ok) throw usageError(`--store-lease: ${lease.error.message}`, lease.error.hint);
  if (lease.value >= SHORTEST_LEASE_MS && lease.value <= LONGEST_LEASE_MS) return lease.value;
  const bounds = `${formatDuration(SHORTEST_LEASE_MS)} to ${formatDuration(LONGEST_LEASE_MS)}`;
  throw usageError(`--store-lease: ${formatDuration(lease.value)} is not within ${bounds}`);
}
