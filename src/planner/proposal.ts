/**
 * Proposals, read strictly and judged. Reading asks whether it is a proposal at all; judging, whether it may be made of this
 * endpoint now: by what holds for a person (`readHint`), by the bounds of the endpoint, by those of planners, and by what
 * people have said, which no planner touches.
 */
import { z } from "zod";
import { oneLine } from "../core/endpoint/ended-run.js";
import { readHint } from "../core/governor/hint.js";
import { problemsOfIssues } from "../core/job/issues.js";
import { formatDuration } from "../core/time/duration.js";
import { formatInstant, MINUTE_MS, parseInstant } from "../core/time/instant.js";
import { PLANNER_LIMITS } from "./limits.js";
import { CLEAR_KINDS, type EndpointSituation, type Proposal, type ProposalType, type Situation } from "./model.js";

const reason = z
  .string()
  .trim()
  .min(1, "say why")
  .max(PLANNER_LIMITS.reasonChars)
  .transform((text) => oneLine(text, PLANNER_LIMITS.reasonChars));
const ttlMinutes = z.int().min(1).max(PLANNER_LIMITS.ttlMinutes);

/** RFC 3339 to an instant. */
export const instantText = z.string().transform((text, context) => {
  const at = parseInstant(text);
  if (at.ok) return at.value;
  context.addIssue({ code: "custom", message: `${at.error.message}: write 2026-03-01T12:00:00Z` });
  return z.NEVER;
});

/** Of each type the fields besides the type, and nothing else. */
const SHAPES = {
  interval: z.strictObject({ intervalMs: z.int(), ttlMinutes, reason }),
  oneshot: z.strictObject({ nextRunAt: instantText, ttlMinutes, reason }),
  pause_until: z.strictObject({ until: instantText, reason }),
  clear: z.strictObject({ kind: z.enum(CLEAR_KINDS), reason }),
} as const satisfies Readonly<Record<ProposalType, z.ZodType>>;

type Read = { readonly ok: true; readonly proposal: Proposal } | { readonly ok: false; readonly message: string };

/** Fields as they came; the message names each that is wrong. */
export function readProposal(type: ProposalType, fields: unknown): Read {
  const schema: z.ZodType = SHAPES[type];
  const read = schema.safeParse(fields);
  if (read.success) return { ok: true, proposal: { type, ...(read.data as object) } as Proposal };
  const problems = problemsOfIssues(read.error.issues, fields, schema);
  return { ok: false, message: oneLine(problems.map(placed).join("; "), 2 * PLANNER_LIMITS.reasonChars) };
}

function placed({ path, message }: { readonly path: readonly (string | number)[]; readonly message: string }): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

/** As a session keeps it: RFC 3339, like everything that leaves the program. */
export function proposalFields(proposal: Proposal): Readonly<Record<string, unknown>> {
  switch (proposal.type) {
    case "oneshot":
      return { ...proposal, nextRunAt: formatInstant(proposal.nextRunAt) };
    case "pause_until":
      return { ...proposal, until: formatInstant(proposal.until) };
    default:
      return { ...proposal };
  }
}

type RefusalCode = "invalid" | "out_of_bounds" | "held_by_person" | "nothing_to_clear" | "repeated";

type Verdict =
  | { readonly ok: true; readonly proposal: Proposal; readonly clamped: "min" | "max" | null }
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string };

/** `accepted`: what was accepted in this session before. */
export function judge(proposal: Proposal, situation: Situation, accepted: readonly Proposal[]): Verdict {
  if (accepted.some(({ type }) => type === proposal.type)) {
    return refused("repeated", `there is a proposal of type ${proposal.type} already: one of each in a session`);
  }
  const held = heldByPerson(proposal, situation);
  if (held !== null) return refused("held_by_person", held);
  switch (proposal.type) {
    case "interval":
      return judgeInterval(proposal, situation);
    case "oneshot":
      return judgeOneshot(proposal, situation);
    case "pause_until":
      return judgePause(proposal, situation);
    case "clear":
      return judgeClear(proposal, situation);
  }
}

function refused(code: RefusalCode, message: string): Verdict {
  return { ok: false, code, message };
}

/** A hint in force stands in for the schedule, whichever kind the other is: one of a person leaves no room beside it. */
function heldByPerson(proposal: Proposal, { endpoint }: Situation): string | null {
  const { interval, oneshot } = endpoint.hints;
  if (proposal.type === "clear") {
    const isTheirs = standing(endpoint, proposal.kind)?.by === "person";
    return isTheirs ? `the ${proposal.kind} in force is a person's` : null;
  }
  if (endpoint.pausedUntil?.by === "person") return "a person has paused the endpoint";
  const isHinted = interval?.by === "person" || oneshot?.by === "person";
  return isHinted ? "a person's hint is in force" : null;
}

function standing({ hints, pausedUntil }: EndpointSituation, kind: (typeof CLEAR_KINDS)[number]) {
  return kind === "pause" ? pausedUntil : hints[kind];
}

type Of<T extends ProposalType> = Extract<Proposal, { type: T }>;

function judgeInterval(proposal: Of<"interval">, { endpoint, now }: Situation): Verdict {
  const ttlMs = proposal.ttlMinutes * MINUTE_MS;
  const read = readHint({ intervalMs: proposal.intervalMs, ttlMs, reason: proposal.reason }, now);
  if (!read.ok) return refused("out_of_bounds", read.error.map(placed).join("; "));
  const { minIntervalMs: minMs, maxIntervalMs: maxMs } = endpoint;
  // As the governor clamps (S41): the lower bound wins.
  const belowMs = maxMs === null ? proposal.intervalMs : Math.min(proposal.intervalMs, maxMs);
  const intervalMs = minMs === null ? belowMs : Math.max(belowMs, minMs);
  const clamped = intervalMs > belowMs ? "min" : intervalMs < proposal.intervalMs ? "max" : null;
  return { ok: true, proposal: { ...proposal, intervalMs }, clamped };
}

function judgeOneshot(proposal: Of<"oneshot">, { now }: Situation): Verdict {
  const { nextRunAt, ttlMinutes } = proposal;
  if (nextRunAt < now) return refused("out_of_bounds", `nextRunAt: ${formatInstant(nextRunAt)} has passed`);
  const read = readHint({ nextRunAt, ttlMs: ttlMinutes * MINUTE_MS, reason: proposal.reason }, now);
  if (!read.ok) return refused("out_of_bounds", read.error.map(placed).join("; "));
  return { ok: true, proposal, clamped: null };
}

/** Refused, not shortened: whoever wants a pause forever is not given a day of it. Nor is it had day by day. */
function judgePause(proposal: Of<"pause_until">, { endpoint, now }: Situation): Verdict {
  const { until } = proposal;
  if (endpoint.pausedUntil !== null)
    return refused("out_of_bounds", "a pause in force is not prolonged: let it end first");
  if (until <= now) return refused("out_of_bounds", `until: ${formatInstant(until)} has passed`);
  if (until > now + PLANNER_LIMITS.pauseMs) {
    return refused("out_of_bounds", `until: a planner pauses for at most ${formatDuration(PLANNER_LIMITS.pauseMs)}`);
  }
  return { ok: true, proposal, clamped: null };
}

function judgeClear(proposal: Of<"clear">, { endpoint }: Situation): Verdict {
  if (standing(endpoint, proposal.kind) === null) return refused("nothing_to_clear", `no ${proposal.kind} is in force`);
  return { ok: true, proposal, clamped: null };
}
