/** What the machines put on record, as the status says it and as it is told. */
import { decide } from "../../core/decision/decide.js";
import type { CompiledRule } from "../../core/decision/model.js";
import type { Policy } from "../../core/job/definition.js";
import { deadlineMsOf } from "../../core/period/lateness.js";
import type { StateDocument } from "../../core/state/document.js";
import { type Ending, isSuccess } from "../../core/state/ending.js";
import type { LedgerFact } from "../../core/state/facts.js";
import { formatInstant, formatSecond } from "../../core/time/instant.js";
import { idOf } from "../../machines/draft.js";
import { jobNameOf } from "../identity.js";
import type { HistoryItem, KronJobStatus } from "../kube/types.js";
import { OPERATOR_LIMITS } from "../limits.js";
import { type Claimed, withDocument } from "../status.js";
import type { RunResult } from "./news.js";
import type { Sketch } from "./sketch.js";

type Fact<K extends LedgerFact["kind"]> = Extract<LedgerFact, { readonly kind: K }>;

interface Rule {
  readonly compiled: CompiledRule;
  readonly policy: Policy;
}

/** The status as it is going to be, and the news of it. `read`: the document as the status has it. */
export function record(sketch: Sketch, rule: Rule, read: StateDocument): void {
  // A look at rest, which most are, changes nothing: writing it down anew would be a quarter of what it costs.
  if (sketch.document !== read) {
    sketch.status = withDocument(sketch.status, sketch.document, (name) => claimOf(sketch, name));
  }
  for (const fact of sketch.facts) recordFact(sketch, rule, fact);
}

function claimOf(sketch: Sketch, name: string): Claimed | null {
  const uid = sketch.job(name)?.uid;
  const attempt = sketch.activation.attempts.find((one) => idOf(one) === name);
  return uid === undefined || attempt === undefined ? null : { uid, startByAt: attempt.execution.context.startByAt };
}

function recordFact(sketch: Sketch, rule: Rule, fact: LedgerFact): void {
  switch (fact.kind) {
    case "outcome":
      recordOutcome(sketch, rule, fact);
      return;
    case "run_started": {
      const { attemptId, source, periodId } = fact.run;
      if (source !== null) sketch.news.push({ kind: "slot_claimed", source, periodId, job: attemptId ?? "" });
      return;
    }
    case "run_ended":
      recordEnd(sketch, fact);
      return;
    case "periods_not_evaluated":
      recordGap(sketch, fact);
      return;
    case "paused":
      sketch.news.push({ kind: "paused", untilAt: fact.untilAt, reason: fact.reason });
      return;
    case "resumed":
      sketch.news.push({ kind: "pause_over" });
  }
}

function recordOutcome(sketch: Sketch, { compiled, policy }: Rule, fact: Fact<"outcome">): void {
  const { periodId, outcome, reason, chosenAt, nominalAt, at } = fact;
  const decision = decide(compiled, nominalAt);
  const { seedHash } = decision;
  const job = outcome === "executed" ? jobNameOf(sketch.kronJob, null, periodId) : null;
  const deadlineMs = deadlineMsOf(policy.deadlineMs, decision);
  sketch.news.push({ kind: "outcome", periodId, outcome, reason, chosenAt, deadlineMs, seedHash, job });
  sketch.status = { ...sketch.status, lastSeedHash: seedHash };
  if (outcome === "executed") return;
  sketch.status = withHistory(sketch.status, {
    periodID: periodId,
    outcome,
    ...(reason === null ? {} : { reason }),
    ...(chosenAt === null ? {} : { chosenTime: formatInstant(chosenAt) }),
    completedAt: formatSecond(at),
  });
}

function recordEnd(sketch: Sketch, { run: { attemptId }, ending, at }: Fact<"run_ended">): void {
  const run = sketch.run(attemptId ?? "");
  if (run === undefined) throw new Error(`invariant broken: ${attemptId} ended, and was never on record`);
  const { name: job, uid, periodID, chosenTime, startedAt, source } = run;
  const { reason } = ending;
  const result = resultOf(ending);
  const seen = sketch.job(job) ?? null;
  const tombstone = sketch.observed.tombstones.get(uid);
  const said = seen?.uid === uid ? seen.ending : tombstone === "unreleased" ? null : tombstone;
  const completedAt = ending.kind === "job" && said ? said.at : formatSecond(at);
  sketch.news.push({ kind: "ended", job, periodId: periodID, result, reason });
  const next = withHistory(sketch.status, {
    periodID,
    outcome: "executed",
    ...(reason === null ? {} : { reason }),
    chosenTime,
    startedAt,
    completedAt,
    result,
    job,
    ...(source === undefined ? {} : { source }),
  });
  sketch.status = result === "Succeeded" ? { ...next, lastSuccessfulTime: completedAt } : next;
}

function resultOf(ending: Ending): RunResult {
  if (ending.kind === "not-run") return "NotStarted";
  if (ending.kind === "unseen") return "Unknown";
  return isSuccess(ending) ? "Succeeded" : "Failed";
}

function recordGap(sketch: Sketch, fact: Fact<"periods_not_evaluated">): void {
  const { count, isCountExact, firstAt, lastAt, reason = null, at } = fact;
  const [firstId, lastId] = [formatInstant(firstAt), formatInstant(lastAt)];
  sketch.status = {
    ...sketch.status,
    notEvaluated: {
      count,
      ...(isCountExact ? {} : { atLeast: true }),
      firstPeriodID: firstId,
      lastPeriodID: lastId,
      notedAt: formatSecond(at),
      ...(reason === null ? {} : { reason }),
    },
  };
  sketch.news.push({ kind: "not_evaluated", count, isCountExact, firstId, lastId, reason });
}

/** Oldest first; the oldest are dropped. For people: no rule reads it. */
function withHistory(status: KronJobStatus, item: HistoryItem): KronJobStatus {
  return { ...status, history: [...(status.history ?? []), item].slice(-OPERATOR_LIMITS.history) } as KronJobStatus;
}
