/** How a store is asked for. Apart from what opens one: help and completion load no backend. */
import type { OptionSpec } from "./args.js";

/** For every command that may name a store. */
export const STORE_OPTIONS: readonly OptionSpec[] = [
  {
    name: "store",
    value: "lmdb|files|postgres://...",
    words: ["lmdb", "files"],
    help: "how state is kept, or in which database (default: lmdb)",
  },
  {
    name: "store-password-file",
    value: "FILE",
    help: "the database's password (default: $PGPASSWORD, or $PGPASSFILE or ~/.pgpass)",
  },
];

/** Of a daemon that shares its store with others. */
export const NODE_OPTIONS: readonly OptionSpec[] = [
  {
    name: "node",
    value: "NAME",
    help: "share the database with other daemons, by this name; jobs come by 'kron apply' (default: alone)",
  },
  { name: "pools", value: "POOL,...", help: "with --node: run the jobs of these pools too (default: of none)" },
];

export const LEASE_OPTION: OptionSpec = {
  name: "store-lease",
  value: "DURATION",
  help: "how long the database may be away before the daemon ends, 5s to 60s (default: 10s)",
};
