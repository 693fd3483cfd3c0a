/** The database that several nodes share, for commands that work on it beside them. */
import { KronError } from "../core/base/errors/kron-error.js";
import { foundOr, type StorePlace } from "../persist/backends.js";
import type { ClusterAdmin } from "../persist/cluster.js";
import type { ParsedArgs } from "./args.js";
import { stateFailure } from "./daemon.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { storePlaceOf } from "./store-option.js";

export interface SharedPlace {
  readonly place: StorePlace;
  readonly admin: ClusterAdmin;
}

/** What is refused there ends the command, as a store that cannot be used does. */
export async function withShared<T>(args: ParsedArgs, io: CliIo, use: (shared: SharedPlace) => Promise<T>): Promise<T> {
  const place = foundOr(storePlaceOf(args, io));
  const admin = place.backend.cluster;
  if (admin === null) {
    const hint = "name it: --store postgres://krond@db.example/kron, or the --state of a node";
    throw usageError(`nodes share a database, and the state in ${place.at} is in none`, hint);
  }
  try {
    return await use({ place, admin });
  } catch (error) {
    if (!(error instanceof KronError)) throw error;
    if (error.code === "node-unknown") throw usageError(error.message, error.hint);
    if (error.code !== "state-missing") throw stateFailure(error);
    throw usageError(error.message, "the first node makes it: krond start --store postgres://... --node NAME");
  }
}
