/** What operations need of the world. Whoever only reads needs no daemon. */
import type { HealthBook } from "../actors/endpoints/health-book.js";
import type { QuotaBook } from "../actors/endpoints/quota-book.js";
import type { Messenger, Undelivered } from "../actors/messenger/messenger.js";
import type { DaemonStatus, Supervisor } from "../actors/supervisor/port.js";
import type { SupervisorEvent } from "../actors/supervisor/write/events.js";
import type { UnderWay } from "../actors/under-way.js";
import type { Workers } from "../actors/workers/work.js";
import type { AddressPolicy } from "../core/base/address.js";
import type { Result } from "../core/base/result.js";
import type { Settings } from "../core/config/settings.js";
import type { EpochMs } from "../core/time/instant.js";
import type { DaemonPresence } from "../core/why/facts.js";
import type { UnservedJob } from "../persist/cluster.js";
import type { LockTerm } from "../persist/lock.js";
import type { ObjectWrite, StateReader } from "../persist/store.js";
import type { AuditTrail } from "./audit/trail.js";
import type { Forecasts } from "./forecast/forecasts.js";
import type { RecentEnds } from "./now/recent.js";
import type { RunEnds } from "./now/run-ends.js";
import type { LoginCodes } from "./page/login-codes.js";
import type { Planners } from "./planner/planners.js";
import type { LogAnswer, OutputAsked } from "./shapes/ahead.js";
import type { Chronicle } from "./system/chronicle.js";
import type { PlanAnswer } from "./system/plan-answer.js";

export interface Reading {
  readonly reader: StateReader;
  /** Jobs that somebody looks for. */
  readonly jobs: Pick<Supervisor, "find">;
  now(): EpochMs;
  ledger(): Settings["ledger"];
  presence(): DaemonPresence;
  /** null: there is one daemon alone, or none. */
  readonly among: Pick<AmongNodes, "unserved"> | null;
  /** Of all jobs, in no order that means anything. */
  identities(): Iterable<string> | AsyncIterable<string>;
}

/** A node as it says of itself, and as the store knows it. */
export interface NodeStatus {
  readonly node: string;
  readonly version: string;
  readonly isDraining: boolean;
  readonly isAnswering: boolean;
  readonly pools: readonly string[];
  readonly shards: number;
  readonly startedAt: EpochMs;
  /** null, as what follows: it does not answer. */
  readonly jobs: number | null;
  readonly active: number | null;
  readonly nextDueAt: EpochMs | null;
}

export interface EndedElsewhere {
  readonly events: readonly SupervisorEvent[];
  /** Nodes that did not answer. */
  readonly absent: readonly string[];
}

/** Of a daemon that shares its store with others. */
export interface AmongNodes {
  /** Its name. */
  readonly node: string;
  /** By which each node knows the places in lists that another one has given out. */
  readonly cursorKey: Buffer;
  /** All nodes together; of the others what they have said lately, as long as somebody follows. */
  status(): DaemonStatus;
  /** Each by itself, this one too, by name. */
  statuses(): Promise<readonly NodeStatus[]>;
  /** A job that no node looks after now; null: one does, or nobody wants it. */
  unserved(identity: string): Promise<UnservedJob | null>;
  /** What has ended lately on the others. */
  ended(): Promise<EndedElsewhere>;
  /** What runs of a job have printed on the others, as far as they answer. */
  outputs(asked: OutputAsked): Promise<readonly LogAnswer[]>;
  /** What people are to be told of a job and were not yet, of the others, as far as they answer: whoever looks after it tells them. */
  undelivered(identity: string): Promise<readonly Undelivered[]>;
  /** From now on the others are listened to, until it is called off. */
  follow(): () => void;
}

export interface Acting extends Reading {
  /** null: it is alone on its store. */
  readonly among: AmongNodes | null;
  readonly supervisor: Supervisor;
  readonly health: HealthBook;
  readonly quotas: QuotaBook;
  readonly audit: Pick<AuditTrail, "note">;
  /** Where runs lie that workers carry out, on whichever node. */
  readonly workers: Workers;
  readonly forecasts: Forecasts;
  readonly recent: RecentEnds;
  readonly runEnds: RunEnds;
  readonly chronicle: Chronicle;
  readonly term: Pick<LockTerm, "place" | "isReleased">;
  /** Who may open the daemon's page. */
  readonly logins: LoginCodes;
  readonly planners: Planners;
  /** Brings people what they are to be told of jobs. */
  readonly messenger: Pick<Messenger, "undeliveredOf">;
  /** Endpoints of each tenant that are being written as their jobs and limits were when that began. */
  readonly putting: Pick<UnderWay, "during" | "over">;
  readonly stateDirectory: string;
  /** Where requests may go. */
  addresses(): AddressPolicy;
  /** Of what a host keeps beside its jobs: durable when it resolves, all of it or nothing. */
  write(objects: readonly ObjectWrite[]): Promise<void>;
  /** Makes a secret what may lie in the store: only the daemon that sends it can open it. */
  seal(text: string): Result<string, string>;
  /** What reads something and writes it changed takes its turn: one after another under each name. */
  inTurn<T>(name: string, act: () => Promise<T>): Promise<T>;
  reload(): Promise<PlanAnswer>;
  plan(onThisHost: boolean): Promise<PlanAnswer>;
  stop(graceful: boolean): void;
}
