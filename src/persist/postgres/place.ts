/** A database as the place of a store, and the directory of the node beside it, for what belongs to this machine alone. */
import type { PostgresAddress } from "./address.js";
import type { Credentials } from "./connection.js";

/** C4: shorter ones are lost under load, longer ones only make others wait. */
export const USUAL_LEASE_MS = 10_000;

/** One of several daemons that share a store. */
export interface Membership {
  readonly node: string;
  /** Those that it serves beside `any` and its own. */
  readonly pools: readonly string[];
}

export interface PostgresPlace extends Credentials {
  readonly address: PostgresAddress;
  readonly directory: string;
  readonly leaseMs: number;
  /** null: a daemon has the store for itself. */
  readonly member: Membership | null;
}

/** How a server answers. */
export interface ServerSample {
  readonly version: string;
  /** Whether what it confirms is on its disk. */
  readonly isSynced: boolean;
  /** What one question takes, each time in milliseconds. */
  readonly answersMs: readonly number[];
  /** The same of something that it is to keep. */
  readonly commitsMs: readonly number[];
}
