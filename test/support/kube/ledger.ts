/**
 * What a campaign may be accused of, from three witnesses: every version of every status, the pods that began, and the
 * clock. Pure, so that the judge itself can be judged.
 */
import type { HistoryItem, KronJob } from "../../../src/operator/kube/types.js";
import type { Begun } from "./kubelet.js";

export interface Evidence {
  /** In the order in which they were written. */
  readonly versions: readonly KronJob[];
  readonly begun: readonly Begun[];
  /** Jobs that users deleted: that these never ran is no fault of ours. */
  readonly deletedUids: ReadonlySet<string>;
  readonly endedAt: number;
  /** When the API server of a real cluster was restarted. Absent: whoever makes and collects pods is never behind. */
  readonly restartsAt?: readonly number[];
  /** Until when an outcome has to stand, at the latest. Absent: the longest that it can take. */
  readonly settledMs?: number;
}

export interface Findings {
  readonly twice: readonly string[];
  readonly unclaimed: readonly string[];
  readonly changed: readonly string[];
  /** Periods up to the end, without an outcome and without a word. */
  readonly silent: readonly string[];
  /** Executed by the record, and no pod began, and nothing says why. */
  readonly neverRan: readonly string[];
  readonly early: readonly string[];
  readonly late: readonly string[];
  readonly overlaps: readonly string[];
}

const MINUTE_MS = 60_000;
const GRACE_MS = MINUTE_MS;
/** What a replaced pod may take to go, beyond the grace of the start (S25). */
const CLEARING_MS = 90_000;
/**
 * After an API server has died its garbage collector may take a Job away without waiting for pods that it has not heard of,
 * and the controller of Jobs may give a second pod to a Job that is complete: for so long, where much had to be caught up on.
 */
const BEHIND_MS = 2 * MINUTE_MS;
/** Until an outcome has to stand: the window, the longest deadline, the grace, a clearing, and a look that was late. */
const SETTLED_MS = 5 * MINUTE_MS;

interface Claim {
  readonly name: string;
  readonly uid: string;
  readonly job: string;
  readonly periodID: string;
  readonly chosenAt: number;
  readonly claimedAt: number;
  readonly startByAt: number;
  readonly isManual: boolean;
}

export function findingsOf(evidence: Evidence): Findings {
  const { begun, versions } = evidence;
  const latest = new Map(versions.map((version) => [version.metadata.name, version]));
  const claims = claimsOf(versions);
  const outcomes = outcomesOf(versions);
  // A watch that begins anew leaves versions out: what has ended by the record was claimed, too.
  const ended = new Set(versions.flatMap(({ status }) => (status?.history ?? []).map(({ job }) => job ?? "")));
  const runs = firstPods(begun).map(textOf);
  return {
    twice: runs.filter((run, index) => runs.indexOf(run) !== index),
    unclaimed: begun.filter((pod) => !claims.has(pod.jobUid) && !ended.has(pod.job)).map(({ jobUid }) => jobUid),
    changed: [...outcomes].filter(([, all]) => all.size > 1).map(([period]) => period),
    silent: [...latest.values()].flatMap((kronJob) => silentPeriods(kronJob, evidence, outcomes)),
    neverRan: neverRan(evidence, claims),
    early: begun.filter(({ jobUid, at }) => at < (claims.get(jobUid)?.chosenAt ?? 0)).map(textOf),
    late: [...claims.values()].filter((claim) => isLate(claim, latest.get(claim.name), claims)).map(({ job }) => job),
    overlaps: [...latest.values()].flatMap((kronJob) => overlapsOf(kronJob, evidence)),
  };
}

function textOf({ kronJob, periodId }: Begun): string {
  return `${kronJob} ${periodId}`;
}

function claimsOf(versions: readonly KronJob[]): ReadonlyMap<string, Claim> {
  const claims = new Map<string, Claim>();
  for (const { metadata, status } of versions) {
    for (const { uid, name: job, periodID, chosenTime, startedAt, startBy, source } of status?.active ?? []) {
      const [chosenAt, claimedAt, startByAt] = [Date.parse(chosenTime), Date.parse(startedAt), Date.parse(startBy)];
      const isManual = source !== undefined;
      claims.set(uid, { name: metadata.name, uid, job, periodID, chosenAt, claimedAt, startByAt, isManual });
    }
  }
  return claims;
}

/** By KronJob and period, every outcome that was ever on record. */
export function outcomesOf(versions: readonly KronJob[]): ReadonlyMap<string, ReadonlySet<string>> {
  const outcomes = new Map<string, Set<string>>();
  const note = (name: string, periodId: string, outcome: string): void => {
    const key = `${name} ${periodId}`;
    outcomes.set(key, (outcomes.get(key) ?? new Set()).add(outcome));
  };
  for (const { metadata, status } of versions) {
    const { name } = metadata;
    if (status?.lastPeriodID !== undefined) note(name, status.lastPeriodID, status.lastOutcome ?? "");
    for (const { periodID, source } of status?.active ?? []) if (source === undefined) note(name, periodID, "executed");
    for (const { periodID, outcome, source } of status?.history ?? []) {
      if (source === undefined) note(name, periodID, outcome);
    }
  }
  return outcomes;
}

/**
 * From the first period after it was made up to the last that must have been settled by now. A period that a later one has
 * overtaken never will be.
 */
function silentPeriods(
  { metadata, spec, status }: KronJob,
  { versions, endedAt, settledMs = SETTLED_MS }: Evidence,
  outcomes: ReadonlyMap<string, unknown>,
): readonly string[] {
  if (spec.suspend === true) return [];
  const lastAt = Math.max(Date.parse(status?.lastPeriodID ?? "") || 0, endedAt - settledMs);
  const gaps = versions
    .filter((version) => version.metadata.name === metadata.name)
    .flatMap(({ status }) => (status?.notEvaluated === undefined ? [] : [status.notEvaluated]));
  const isTold = (id: string): boolean =>
    gaps.some(({ firstPeriodID, lastPeriodID }) => firstPeriodID <= id && id <= lastPeriodID);
  const silent: string[] = [];
  const madeAt = Date.parse(metadata.creationTimestamp ?? "");
  for (let at = Math.ceil(madeAt / MINUTE_MS + 1) * MINUTE_MS; at <= lastAt; at += MINUTE_MS) {
    const id = new Date(at).toISOString().replace(".000", "");
    if (!outcomes.has(`${metadata.name} ${id}`) && !isTold(id)) silent.push(`${metadata.name} ${id}`);
  }
  return silent;
}

function neverRan({ versions, begun, deletedUids, endedAt }: Evidence, claims: ReadonlyMap<string, Claim>) {
  const ran = new Set(begun.map(({ jobUid }) => jobUid));
  const ends = new Map<string, HistoryItem>();
  for (const { status } of versions) for (const item of status?.history ?? []) ends.set(item.job ?? "", item);
  return [...claims.values()]
    .filter(({ uid, job, startByAt }) => {
      if (ran.has(uid) || deletedUids.has(uid)) return false;
      const end = ends.get(job);
      if (end === undefined) return startByAt + SETTLED_MS < endedAt;
      return !(end.reason !== undefined && (end.result === "NotStarted" || end.reason === "replaced"));
    })
    .map(({ name, periodID }) => `${name} ${periodID}`);
}

/** S11: a period that had to wait for its elder counts from when that one was handled. */
function isLate(claim: Claim, kronJob: KronJob | undefined, claims: ReadonlyMap<string, Claim>): boolean {
  if (claim.isManual || kronJob === undefined) return false;
  const { policy } = kronJob.spec;
  const deadlineMs = Number((policy?.deadline ?? "0s").replace("s", "")) * 1000;
  const elders = [...claims.values()].filter(({ name, periodID }) => name === claim.name && periodID < claim.periodID);
  const fromAt = Math.max(claim.chosenAt, ...elders.map(({ claimedAt }) => claimedAt));
  const clearingMs = policy?.concurrency === "replace" ? CLEARING_MS : 0;
  return claim.claimedAt > fromAt + deadlineMs + GRACE_MS + clearingMs;
}

/**
 * S25: a pod that replaces another begins when that one has gone. An operator sees Jobs alone: it cannot wait for pods that
 * outlive theirs, because a user has deleted it in the background, or because nobody knew of them (BEHIND_MS).
 */
function overlapsOf({ metadata, spec }: KronJob, { begun, deletedUids, restartsAt = [] }: Evidence): readonly string[] {
  if (spec.policy?.concurrency !== "replace") return [];
  const own = firstPods(begun.filter(({ kronJob }) => kronJob === metadata.name)).sort((a, b) => a.at - b.at);
  return own
    .filter(({ at }, index) => {
      const before = own[index - 1];
      if (before === undefined || deletedUids.has(before.jobUid)) return false;
      const isBehind = restartsAt.some((restartAt) => restartAt <= at && at < restartAt + BEHIND_MS);
      return !isBehind && (before.endedAt === null || at < before.endedAt);
    })
    .map(textOf);
}

/** A Job may have several pods, even one that has ended: that is between it and its controller. */
function firstPods(begun: readonly Begun[]): Begun[] {
  const first = new Map<string, Begun>();
  for (const pod of begun) if (!first.has(pod.jobUid)) first.set(pod.jobUid, pod);
  return [...first.values()];
}
