/**
 * Runs that are on another node than the supervisor of their job (C14): what is said of them between the two. The node that
 * has begun a run watches it to its end; the supervisor that looks after the job now puts that end on record.
 */
import type { Ending, Holder } from "../../../core/state/ending.js";
import { type EpochMs, HOUR_MS } from "../../../core/time/instant.js";
import type { ExecutionContext } from "../../../machines/execution-logic.js";
import type { RunOutput } from "../../runner/output.js";
import type { Termination } from "../../runner/port.js";

/** A run of this node whose job somebody else looks after: what it takes to watch it. */
export interface AwayRun {
  readonly identity: string;
  readonly attemptId: string;
  readonly holder: Holder;
  /** As when it is adopted. */
  readonly output: RunOutput | null;
  /** Its command is known to have begun; otherwise an end that nobody saw may mean that it never did (S23). */
  readonly hasBegun: boolean;
}

/** How it ended, as its node tells it. */
export interface AwayEnd {
  readonly attemptId: string;
  readonly ending: Ending;
  readonly hasBegun: boolean;
}

/**
 * - `taken`: it is on record, now or long since: nobody need be told again.
 * - `unknown`: whoever was asked cannot say so; it is to be told again.
 */
export type EndAnswer = "taken" | "unknown";

/** A run on another node, as the supervisor of its job knows it. */
export interface ElsewhereRun {
  readonly node: string;
  readonly identity: string;
  readonly attemptId: string;
}

/** By whom a run on another node is ended: that node. */
export interface ElsewherePort {
  /** null: it could not be asked, or what it did is not known. It never rejects. */
  terminate(node: string, identity: string, attemptId: string, graceMs: number): Promise<Termination | null>;
}

/** What becomes known of a node (C15). */
export type NodeNews =
  /** Its session has ended, and there is no other one. */
  | { readonly kind: "gone"; readonly sinceAt: EpochMs }
  /** Somebody who knows says that nothing of it goes on. */
  | { readonly kind: "forgotten" }
  /** It is there, in this boot of its machine. */
  | { readonly kind: "back"; readonly bootId: string };

/** C15: how long a node may be gone before a run without a timeout counts as lost: its process may well go on. */
const LOST_AFTER_MS = HOUR_MS;

type Limits = Pick<ExecutionContext, "timeoutMs" | "killGraceMs">;

function lostAfterMs({ timeoutMs, killGraceMs }: Limits): number {
  return timeoutMs === null ? LOST_AFTER_MS : timeoutMs + killGraceMs;
}

/** Whether nothing is to be waited for any more. */
export function isLost(holder: Holder, limits: Limits, news: NodeNews, now: EpochMs): boolean {
  switch (news.kind) {
    case "forgotten":
      return true;
    case "gone":
      // What is no process has ended with the daemon that held it.
      return holder.kind !== "process" || now >= news.sinceAt + lostAfterMs(limits);
    case "back":
      // S27: no process outlives its boot. Of a request that node itself knows more.
      return holder.kind === "process" && holder.bootId !== null && holder.bootId !== news.bootId;
  }
}

/**
 * The node on which it runs, if that is not this one: from here it can neither be seen nor ended. A daemon that is alone is no
 * node: whatever was begun on its machine it watches itself, also what a node has begun there before.
 */
export function otherNodeOf(
  holder: Holder | null | undefined,
  { node: ourNode, bootId }: { readonly node?: string; readonly bootId: string },
): string | null {
  if (holder == null) return null;
  const { node = null } = holder;
  const isOfHere = holder.kind !== "process" || holder.bootId === bootId;
  return node === ourNode || (ourNode === undefined && isOfHere) ? null : node;
}
