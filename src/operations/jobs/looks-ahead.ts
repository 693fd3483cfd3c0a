/** Of one job: what it is, what lies ahead of it, and how a second of it is chosen. */
import { z } from "zod";
import { compileRule } from "../../core/decision/compile.js";
import { briefClauses } from "../../core/decision/constraints.js";
import { explainDecision } from "../../core/decision/explain.js";
import { type CompiledRule, hasPeriods } from "../../core/decision/model.js";
import type { JobDefinition, Target } from "../../core/job/definition.js";
import { storedDefinition } from "../../core/job/stored.js";
import { currentPeriod } from "../../core/period/periods.js";
import { formatDuration } from "../../core/time/duration.js";
import { formatInstant, instantOrNull } from "../../core/time/instant.js";
import type { StateReader } from "../../persist/store.js";
import { OperationError, storeOperation } from "../operation.js";
import { documentOf } from "../records/why.js";
import { redactedText } from "../redaction.js";
import {
  DEFINITION_ANSWER,
  type DefinitionAnswer,
  EXPLAIN_ANSWER,
  type ExplainAnswer,
  UPCOMING_ANSWER,
  type UpcomingAnswer,
} from "../shapes/ahead.js";
import { identity, instant } from "../shapes/words.js";
import { decisionsAhead, type Upcoming, upcomingOf } from "./ahead.js";
import { noJob } from "./existing.js";

const MOST_AHEAD = 200;

export const DEFINITION = storeOperation({
  name: "definition",
  summary: "what a job is, without anything that could be a secret",
  http: { method: "GET", path: "/schedules/:identity/definition" },
  input: z.strictObject({ identity }),
  output: DEFINITION_ANSWER,
  run: async (asked, { reader }): Promise<DefinitionAnswer> => {
    const definition = await inForce(reader, asked.identity);
    const { schedule, timezone, window, distribution, constraints, policy, tags, description } = definition;
    const { deadlineMs } = policy;
    return {
      identity: asked.identity,
      description: description === "" ? null : redactedText(description),
      tags,
      schedule,
      timezone,
      window: { mode: window.mode, durationMs: window.durationMs },
      distribution: distribution.name,
      only: briefClauses(constraints.only),
      avoid: briefClauses(constraints.avoid),
      concurrency: policy.concurrency,
      deadline: typeof deadlineMs === "number" ? formatDuration(deadlineMs) : deadlineMs,
      isSuspended: policy.suspend,
      target: targetText(definition.target),
    };
  },
});

export const UPCOMING = storeOperation({
  name: "upcoming",
  summary: "what lies ahead of a job, with its windows",
  http: { method: "GET", path: "/schedules/:identity/upcoming" },
  input: z.strictObject({ identity, count: z.int().min(1).max(MOST_AHEAD).default(20) }),
  output: UPCOMING_ANSWER,
  run: async (asked, { reader, now }): Promise<UpcomingAnswer> => {
    const compiled = compileRule(await inForce(reader, asked.identity));
    const document = compiled.everyMs === null ? null : await documentOf(reader, asked.identity);
    const at = now();
    const rows: UpcomingAnswer["rows"][number][] = [];
    for (const each of upcomingOf(compiled, decisionsAhead(compiled, at), instantOrNull(document?.LastRunAt), at)) {
      rows.push(rowOf(each));
      if (rows.length >= asked.count) break;
    }
    return { identity: asked.identity, timezone: compiled.rule.timezone, rows };
  },
});

export const EXPLAIN = storeOperation({
  name: "explain",
  summary: "how the second of a period is chosen, draw by draw",
  http: { method: "GET", path: "/schedules/:identity/explain" },
  input: z.strictObject({
    identity,
    /** The period that is current then; now, if it is left out. */
    at: instant.optional(),
  }),
  output: EXPLAIN_ANSWER,
  run: async (asked, { reader, now }): Promise<ExplainAnswer> => {
    const compiled = compileRule(await inForce(reader, asked.identity));
    if (!hasPeriods(compiled)) throw noDecision(compiled);
    const nominalAt = currentPeriod(compiled, asked.at ?? now());
    if (nominalAt === null) throw new OperationError("refused", `${asked.identity} has no period at or before then`);
    return explained(compiled, nominalAt);
  },
});

function explained(compiled: CompiledRule, nominalAt: number): ExplainAnswer {
  const { decision, candidates, ...found } = explainDecision(compiled, nominalAt);
  const { rule, periodId, nominalWallTime, windowSeconds, hashInput, seedHash, state0 } = found;
  return {
    identity: rule.identity,
    timezone: rule.timezone,
    periodId,
    nominal: formatInstant(nominalAt),
    nominalWallTime,
    windowStart: formatInstant(found.windowStartAt),
    windowEnd: formatInstant(found.windowEndAt),
    windowSeconds,
    distribution: rule.distribution.name,
    hashInput,
    seedHash,
    state0,
    draws: candidates.map(({ attempt, u, x, secondInWindow, candidateAt, wallTime, rejectedBy }) => {
      const rejection = rejectedBy === null ? null : `${rejectedBy.set} ${rejectedBy.clauses}`;
      return { attempt, u, x, second: secondInWindow, at: formatInstant(candidateAt), wallTime, rejectedBy: rejection };
    }),
    chosen: decision.chosenAt === null ? null : formatInstant(decision.chosenAt),
  };
}

export function rowOf({ decision, at }: Upcoming): UpcomingAnswer["rows"][number] {
  if (decision === null) {
    const second = formatInstant(at);
    return { periodId: null, nominal: second, windowStart: null, windowEnd: null, chosen: second };
  }
  const { periodId, nominalAt, windowStartAt, windowEndAt, chosenAt } = decision;
  return {
    periodId,
    nominal: formatInstant(nominalAt),
    windowStart: formatInstant(windowStartAt),
    windowEnd: formatInstant(windowEndAt),
    chosen: chosenAt === null ? null : formatInstant(chosenAt),
  };
}

/** The definition by which a job goes. */
export async function inForce(reader: StateReader, of: string): Promise<JobDefinition> {
  const version = await reader.newestVersion(of);
  if (version === undefined || version.text === null) throw noJob(of);
  const definition = version.isIntact ? storedDefinition(version.text) : null;
  if (definition !== null) return definition;
  throw new OperationError("refused", `the definition of ${of} cannot be read`, "'krond state verify' says more");
}

function targetText(target: Target): string {
  if (target.kind === "http") return `${target.method} ${URL.canParse(target.url) ? new URL(target.url).origin : ""}`;
  return target.shell ? "/bin/sh" : redactedText(target.argv[0] ?? "");
}

function noDecision({ everyMs, rule }: CompiledRule): OperationError {
  const what = everyMs === null ? "once for each boot of the machine" : `every ${formatDuration(everyMs)}`;
  return new OperationError("refused", `${rule.identity} runs ${what}: there is no window, and nothing to decide`);
}
