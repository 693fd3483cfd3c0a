/** How things are named: identities, Jobs, labels. All of it follows from a KronJob and a period, so that every leader agrees. */
import { sha256Hex } from "../core/decision/seed.js";
import type { KronJob } from "./kube/types.js";

export const GROUP = "kron.io";
export const VERSION = "v1alpha1";
export const API_VERSION = `${GROUP}/${VERSION}`;
export const KIND = "KronJob";
export const PLURAL = "kronjobs";

export const LABEL = {
  name: `${GROUP}/name`,
  periodId: `${GROUP}/period-id`,
  chosenTime: `${GROUP}/chosen-time`,
} as const;

export const ANNOTATION = {
  /** Only while a Job waits for its claim: what takes it away is GO. */
  gate: `${GROUP}/gate`,
  generation: `${GROUP}/generation`,
  source: `${GROUP}/source`,
  periodId: `${GROUP}/period-id`,
  nominalTime: `${GROUP}/nominal-time`,
  chosenTime: `${GROUP}/chosen-time`,
  decision: `${GROUP}/decision`,
  /** Written by people: run now, and pause. */
  run: `${GROUP}/run`,
  pauseUntil: `${GROUP}/pause-until`,
  pauseReason: `${GROUP}/pause-reason`,
  /** What tools that know CronJobs look for. */
  scheduled: "batch.kubernetes.io/cronjob-scheduled-timestamp",
} as const;

export const GATE_READY = "ready";
/** Its controller would admit a Job before our claim: held back until GO. */
export const KUEUE_LABEL = "kueue.x-k8s.io/queue-name";

/** In the place of a period, for the Job that is only asked about. */
export const TEMPLATE_CHECK = "template-check";

const HASH_CHARS = 10;

/** With the uid: a KronJob that is made anew is another one, and never meets the Jobs of its predecessor. */
export function identityOf({ metadata }: KronJob): string {
  return `${metadata.namespace}/${metadata.name}/${metadata.uid}`;
}

export function keyOf({
  metadata,
}: {
  readonly metadata: { readonly namespace: string; readonly name: string };
}): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** `source` is null for the KronJob's own periods (S40). The same name for the same occasion, whoever makes the Job. */
export function jobNameOf(kronJob: KronJob, source: string | null, periodId: string): string {
  const slot = source === null ? periodId : `${source}\n${periodId}`;
  return `${kronJob.metadata.name}-${sha256Hex(`${identityOf(kronJob)}\n${slot}`).slice(0, HASH_CHARS)}`;
}

/** A label cannot hold a colon. */
export function labelTime(instant: string): string {
  return instant.replaceAll(":", "-");
}
