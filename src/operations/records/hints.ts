/** The hints of a job that are in force, with who wanted them and why: read from its document, with or without a daemon. */
import type { Hint, HintKind } from "../../core/governor/hint.js";
import { type HintsState, newDocument } from "../../core/state/document.js";
import { isHintUsed } from "../../core/state/hint-transitions.js";
import { type EpochMs, formatInstant, parseInstant } from "../../core/time/instant.js";
import type { StateReader } from "../../persist/store.js";
import { isKnown } from "./ledger-view.js";
import { documentOf } from "./why.js";

interface HintAbout {
  readonly expires_at: string;
  readonly set_at: string;
  readonly reason: string;
  /** Who wanted it; null: whoever runs the daemon. */
  readonly by: string | null;
}

export interface HintsAnswer {
  readonly identity: string;
  readonly interval: ({ readonly interval_ms: number } & HintAbout) | null;
  readonly oneshot: ({ readonly next_run_at: string } & HintAbout) | null;
}

/** null for a job that the store does not know. */
export async function readHints(reader: StateReader, identity: string, now: EpochMs): Promise<HintsAnswer | null> {
  if (!(await isKnown(reader, identity))) return null;
  const { Hints = {} } = (await documentOf(reader, identity)) ?? newDocument(identity);
  return { identity, ...inForce(Hints, now) };
}

/** As it would be with one more. */
export function withHint(answer: HintsAnswer, hint: Hint, now: EpochMs): HintsAnswer {
  const said = {
    expires_at: formatInstant(hint.expiresAt),
    set_at: formatInstant(now),
    reason: hint.reason,
    by: hint.by ?? null,
  };
  return hint.kind === "interval"
    ? { ...answer, interval: { interval_ms: hint.intervalMs, ...said } }
    : { ...answer, oneshot: { next_run_at: formatInstant(hint.nextRunAt), ...said } };
}

export function withoutHints(answer: HintsAnswer, kind: HintKind | "all"): HintsAnswer {
  const isLeft = (one: HintKind): boolean => kind !== "all" && kind !== one;
  const { interval, oneshot } = answer;
  return { ...answer, interval: isLeft("interval") ? interval : null, oneshot: isLeft("oneshot") ? oneshot : null };
}

/** S40: its instant, or a later one, was hinted and run before. */
export async function isUsedUp(reader: StateReader, identity: string, hint: Hint): Promise<boolean> {
  const document = await documentOf(reader, identity);
  return document !== null && isHintUsed(document, hint);
}

function inForce({ Interval, Oneshot }: HintsState, now: EpochMs): Omit<HintsAnswer, "identity"> {
  return {
    interval:
      Interval === undefined || isOver(Interval.ExpiresAt, now)
        ? null
        : { interval_ms: Interval.IntervalMs, ...about(Interval) },
    oneshot:
      Oneshot === undefined || isOver(Oneshot.ExpiresAt, now)
        ? null
        : { next_run_at: Oneshot.NextRunAt, ...about(Oneshot) },
  };
}

function about({
  ExpiresAt,
  SetAt,
  Reason,
  By,
}: NonNullable<HintsState["Interval"] | HintsState["Oneshot"]>): HintAbout {
  return { expires_at: ExpiresAt, set_at: SetAt, reason: Reason, by: By ?? null };
}

/** S41: strictly; one that is over stays on record until the job is looked at. */
function isOver(expiresAt: string, now: EpochMs): boolean {
  const at = parseInstant(expiresAt);
  return !at.ok || at.value <= now;
}
