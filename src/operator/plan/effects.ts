/**
 * What is to be done about one KronJob, as data, and what came of it. Each effect is one request to the API server, so
 * that a crash between two of them is a crash between two requests: there is nothing else it could be between.
 */

import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { Decision } from "../../core/decision/model.js";
import type { LostTime } from "../../core/period/cause.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { JobView, Tombstone } from "../job-view.js";
import type { KronJob, KronJobStatus } from "../kube/types.js";
import type { News } from "./news.js";

/** One opportunity to run: a period, or a slot that somebody asked for (S40). */
export interface Occasion {
  readonly source: string | null;
  readonly periodId: string;
  readonly nominalAt: EpochMs;
  readonly chosenAt: EpochMs;
  /** null where nothing was decided: a slot is what was asked for. */
  readonly decision: Decision | null;
}

export type DeleteReason = "late" | "replaced" | "unclaimed" | "outdated" | "history" | "bypassed";

interface Deletion {
  readonly type: "deleteJob";
  readonly name: string;
  readonly uid: string;
  /** null: in whatever state it is. */
  readonly resourceVersion: string | null;
  /** Foreground: it is gone when its pods are. */
  readonly propagation: "Background" | "Foreground";
  readonly reason: DeleteReason;
}

export type Effect =
  /** Read a Job of which only the name is known. */
  | { readonly type: "lookUp"; readonly name: string }
  /** Have the template judged by the API server, once a generation, without making anything. */
  | { readonly type: "checkTemplate" }
  /** READY: make the Job suspended. */
  | { readonly type: "createGate"; readonly name: string; readonly occasion: Occasion }
  /** The claim, or any other outcome: only if nobody wrote in between. The news is told if it was written. */
  | { readonly type: "writeStatus"; readonly status: KronJobStatus; readonly news: readonly News[] }
  /** GO: release this one Job. */
  | {
      readonly type: "go";
      readonly name: string;
      readonly uid: string;
      /** S20: not after this second. */
      readonly startByAt: EpochMs;
      readonly news: News;
    }
  | Deletion
  | Tell;

/** In the background; `isAsSeen`: only in the very state in which it was seen. */
export function deletion({ name, uid, resourceVersion }: JobView, reason: DeleteReason, isAsSeen = true): Deletion {
  const version = isAsSeen ? resourceVersion : null;
  return { type: "deleteJob", name, uid, resourceVersion: version, propagation: "Background", reason };
}

export type EffectResult =
  | { readonly kind: "kronJob"; readonly kronJob: KronJob }
  | { readonly kind: "job"; readonly job: JobView; readonly isSuspended: boolean }
  /** Deleted, accepted, fine. */
  | { readonly kind: "done" }
  /** Not there (any more). */
  | { readonly kind: "gone" }
  /** Of a create: a Job of this name is there. */
  | { readonly kind: "exists" }
  /** Somebody else wrote in between: everything begins again from a direct read. */
  | { readonly kind: "conflict" }
  /** The request was understood and will not be granted: S24, not created. */
  | { readonly kind: "refused"; readonly code: ErrorCode; readonly message: string }
  /** The second that bounds a GO went by before it was sent. */
  | { readonly kind: "late" };

/** Told without a request. */
interface Tell {
  readonly type: "tell";
  readonly news: readonly News[];
}

/** What is known when a KronJob is looked at. */
export interface Observed {
  /** Read directly: the cache only ever says when to look. */
  readonly kronJob: KronJob;
  /** By name, those that are ours; null: read directly, and not there. What is missing here is not known. */
  readonly jobs: ReadonlyMap<string, JobView | null>;
  /** Names in `jobs` that were read directly, after the KronJob: what they say about an absence is true. */
  readonly direct: ReadonlySet<string>;
  /** What became of Jobs that are gone, by uid: the last that a watch said of them. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** When nobody could look, and why; oldest first. */
  readonly lost: readonly LostTime[];
  /** What the API server says of the template of this generation; null: not asked. */
  readonly template: TemplateVerdict | null;
}

export type TemplateVerdict =
  | { readonly kind: "fine" }
  | { readonly kind: "refused"; readonly code: ErrorCode; readonly message: string }
  /** Something in the cluster releases Jobs that were created suspended: nothing can be scheduled safely. */
  | { readonly kind: "bypassed" };
