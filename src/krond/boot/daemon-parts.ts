/** What a daemon is started with, and what it is made of. */

import type { Clock } from "../../actors/clock.js";
import type { Messenger } from "../../actors/messenger/messenger.js";
import type { Phase } from "../../actors/phase.js";
import type { DecisionPool } from "../../actors/pool/types.js";
import type { HostCheck } from "../../actors/preflight/host-check.js";
import type { Runner } from "../../actors/runner/port.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import type { AddressPolicy } from "../../core/base/address.js";
import type { Settings } from "../../core/config/settings.js";
import type { DoorOpener } from "../../operations/door.js";
import type { RecentEnds } from "../../operations/now/recent.js";
import type { StorePlace } from "../../persist/backends.js";
import type { ConfigCheck, ConfigSource } from "../../persist/config-files.js";
import type { LockTerm } from "../../persist/lock.js";
import type { StateStore } from "../../persist/store.js";
import type { Inspection, InspectOptions } from "../inspect/seam.js";
import type { DaemonLog } from "../log/log.js";
import type { ListenAddress, Monitoring } from "../monitor/monitoring.js";
import type { Sweep } from "../state/housekeeping.js";
import type { Among } from "./among-nodes.js";
import type { ConfigurationLoader } from "./configuration.js";
import type { EndpointBooks } from "./endpoint-books.js";
import type { EventFeed } from "./event-feed.js";
import type { DaemonPlanners, PlannerOptions } from "./planners.js";
import type { Shared } from "./shared.js";

export interface DaemonOptions {
  readonly sources: readonly ConfigSource[];
  /** Who may have written the configuration; null trusts everybody. */
  readonly trust: (() => ConfigCheck) | null;
  readonly stateDirectory: string;
  readonly store: StorePlace;
  readonly log: DaemonLog & { readonly lostLines?: number };
  /** Where metrics and health are asked for; null: nowhere. */
  readonly metrics: ListenAddress | null;
  /** Jobs with metrics of their own, as patterns of identities. */
  readonly metricsJobs?: readonly string[];
  /** Below it each run gets a control group of its own; null: runs have none. */
  readonly cgroupRoot?: string | null;
  /** Where requests may go, besides what the files say. */
  readonly permit?: Partial<AddressPolicy>;
  /** Who plans for endpoints; absent: nobody, where they do not say it. */
  readonly planner?: PlannerOptions;
  /** Where inspectors attach; null: nowhere. */
  readonly inspect?: InspectOptions | null;
  /** Ways in that are not the daemon's own. */
  readonly doors?: readonly DoorOpener[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For whoever has something to tell it before there is a daemon, such as that it is to stop. */
  readonly phase?: Phase;
}

/** What is there as soon as the store is ours. */
export interface Opened {
  readonly term: LockTerm;
  readonly store: StateStore;
  readonly monitoring: Monitoring;
  /** Where metrics and health are asked for. */
  readonly address: string | null;
  /** null: it has the store for itself. */
  readonly shared: Shared | null;
}

export interface DaemonParts extends Opened {
  /** By which jobs run; a line of the log says the machine's own time where it is not about one. */
  readonly clock: Clock;
  /** What there is of the ledger to look after; `jobs`: of this daemon. */
  sweeps(jobs: () => number): readonly Sweep[];
  readonly runner: Runner;
  readonly supervisor: Supervisor;
  readonly phase: Phase;
  readonly inspection: Inspection | null;
  readonly loader: ConfigurationLoader;
  readonly pool: DecisionPool;
  readonly messenger: Messenger;
  readonly books: EndpointBooks;
  readonly planners: DaemonPlanners;
  /** Whatever the supervisor tells. */
  readonly events: EventFeed;
  readonly recent: RecentEnds;
  /** null: it has the store for itself. */
  readonly among: Among | null;
  /** Finds out what this host could not start; of mail, with these settings. */
  readonly newHostCheck: (settings: Settings) => HostCheck;
}
