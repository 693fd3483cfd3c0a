/**
 * What became of one look at an endpoint, for the record: what it was made from, what was called and answered, what is
 * proposed, and when the endpoint may be looked at again. Of it proposals are carried out; everything else is for people.
 */

import { z } from "zod";
import { jsonIn } from "../core/base/fields.js";
import { sha256Hex } from "../core/decision/seed.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";
import { PLANNER_LIMITS } from "./limits.js";
import type { Proposal, ProposalType, Situation } from "./model.js";
import { instantText, proposalFields, readProposal } from "./proposal.js";
import { situationText } from "./situation.js";

export const SESSION_KINDS = ["rules", "chat"] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

export const CALL_RESULTS = ["answered", "accepted", "clamped", "refused", "dropped"] as const;
export type CallResult = (typeof CALL_RESULTS)[number];

/** One call of a tool; of the rules, one rule that applied. */
export interface SessionCall {
  readonly name: string;
  /** As they came, shortened. */
  readonly arguments: string;
  readonly result: CallResult;
  /** What it was answered. */
  readonly message: string;
}

export interface SessionTokens {
  readonly used: number;
  /** Counted by size, because the server did not say. */
  readonly isEstimated: boolean;
}

/**
 * `proposed`, `nothing`: it came to its end. Everything else says what kept a chat from it: then the rules were asked instead
 * (`kind` is theirs, and the outcome still says why), but for `cancelled`.
 */
export const OUTCOMES = [
  "proposed",
  "nothing",
  "quota",
  "unavailable",
  "deadline",
  "tools_unsupported",
  "response_invalid",
  "loop",
  "cancelled",
] as const;
export type OutcomeCode = (typeof OUTCOMES)[number];

export interface Outcome {
  readonly code: OutcomeCode;
  readonly message: string;
}

export interface Session {
  /** Its id. */
  readonly endpoint: string;
  readonly startedAt: EpochMs;
  /** SHA-256 of the situation as it was told. */
  readonly inputsHash: string;
  /** Who made the proposals. */
  readonly kind: SessionKind;
  readonly calls: readonly SessionCall[];
  readonly tokens: SessionTokens;
  readonly durationMs: number;
  readonly proposals: readonly Proposal[];
  readonly outcome: Outcome;
  /** Cool-down: goes by the endpoint's baseline, so that a hint that makes it run more often does not make it be looked at more often. */
  readonly nextAnalysisAt: EpochMs;
}

export const NO_TOKENS: SessionTokens = Object.freeze({ used: 0, isEstimated: false });

export function inputsHashOf(situation: Situation): string {
  return sha256Hex(situationText(situation));
}

export function nextAnalysisAt({ now, endpoint }: Situation): EpochMs {
  const { coolDownMs, longestCoolDownMs } = PLANNER_LIMITS;
  return now + Math.min(Math.max(coolDownMs, endpoint.baseline.intervalMs ?? 0), longestCoolDownMs);
}

/** What was promised by a clock that ran ahead by more than the longest cool-down is not waited for. */
export function mayAnalyse(last: Session | null, now: EpochMs): boolean {
  if (last === null) return true;
  return now >= last.nextAnalysisAt || last.nextAnalysisAt > now + PLANNER_LIMITS.longestCoolDownMs;
}

const VERSION = 1;
const count = z.int().min(0);

const SESSION = z.strictObject({
  v: z.literal(VERSION),
  endpoint: z.string().min(1).max(PLANNER_LIMITS.nameChars),
  startedAt: instantText,
  inputsHash: z.string().regex(/^[0-9a-f]{64}$/),
  kind: z.enum(SESSION_KINDS),
  calls: z.array(
    z.strictObject({ name: z.string(), arguments: z.string(), result: z.enum(CALL_RESULTS), message: z.string() }),
  ),
  tokens: z.strictObject({ used: count, isEstimated: z.boolean() }),
  durationMs: count,
  proposals: z.array(z.looseObject({ type: z.enum(["interval", "oneshot", "pause_until", "clear"]) })),
  outcome: z.strictObject({ code: z.enum(OUTCOMES), message: z.string() }),
  nextAnalysisAt: instantText,
});

/** As it is published: JSON, in one spelling with situations. */
export function sessionFields(session: Session): Readonly<Record<string, unknown>> {
  const { startedAt, nextAnalysisAt: nextAt, proposals, ...rest } = session;
  return {
    v: VERSION,
    ...rest,
    startedAt: formatInstant(startedAt),
    proposals: proposals.map(proposalFields),
    nextAnalysisAt: formatInstant(nextAt),
  };
}

export function encodeSession(session: Session): string {
  return JSON.stringify(sessionFields(session));
}

/** null: it is none, or none of this version. */
export function decodeSession(text: string): Session | null {
  if (text.length > PLANNER_LIMITS.sessionChars) return null;
  const read = SESSION.safeParse(jsonIn(text));
  if (!read.success) return null;
  const { v: _, proposals: written, ...rest } = read.data;
  const proposals = written.map(({ type, ...fields }) => proposalOf(type, fields));
  const sound = proposals.filter((proposal) => proposal !== null);
  return sound.length === proposals.length ? { ...rest, proposals: sound } : null;
}

function proposalOf(type: ProposalType, fields: unknown): Proposal | null {
  const read = readProposal(type, fields);
  return read.ok ? read.proposal : null;
}
