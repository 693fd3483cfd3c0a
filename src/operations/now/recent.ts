/** What has ended lately, whatever the job: a daemon remembers a handful since its start. */
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { formatInstant } from "../../core/time/instant.js";
import type { Ended, OutcomeCounts } from "../shapes/now.js";
import { HourOfOutcomes } from "./hour.js";

const KEPT = 50;

const OUTCOMES: Partial<Record<SupervisorEvent["event"], keyof OutcomeCounts>> = {
  missed_deadline: "missed",
  skipped: "skipped",
  skipped_concurrency: "skipped",
  unschedulable: "unschedulable",
};

export class RecentEnds {
  readonly #ends: SupervisorEvent[] = [];
  readonly #hour = new HourOfOutcomes();

  /** What the supervisor tells. */
  tell(event: SupervisorEvent): void {
    const outcome = outcomeOf(event);
    if (outcome === null) return;
    this.#hour.note(event.at, outcome);
    this.#ends.push(event);
    if (this.#ends.length > KEPT) this.#ends.shift();
  }

  /** Of the last hour, as far as this daemon was there. */
  outcomes(now: number): OutcomeCounts {
    return this.#hour.read(now);
  }

  /** Oldest first. */
  get events(): readonly SupervisorEvent[] {
    return this.#ends;
  }

  /** Newest first, those of other nodes among them. */
  newest(others: readonly SupervisorEvent[] = []): readonly Ended[] {
    const all = others.length === 0 ? this.#ends : [...this.#ends, ...others].sort((one, other) => one.at - other.at);
    return all.slice(-KEPT).map(endedOf).reverse();
  }
}

/** null: it is no end. */
function outcomeOf({ event, level }: SupervisorEvent): keyof OutcomeCounts | null {
  if (event === "completed") return level === "info" ? "executed" : "failed";
  return OUTCOMES[event] ?? null;
}

function endedOf(ended: SupervisorEvent): Ended {
  const { at, identity = "", periodId, fields = {} } = ended;
  const outcome = outcomeOf(ended) ?? "failed";
  const isSound = outcome === "executed";
  const { reason, exit_code: code, signal, status } = fields;
  const words = [reason, signal, statusText("exit code", code), statusText("status", status)];
  const said = isSound ? null : words.find((word) => typeof word === "string" && word !== "");
  return {
    at: formatInstant(at),
    identity,
    periodId: periodId ?? null,
    outcome,
    reason: typeof said === "string" ? said : null,
  };
}

function statusText(what: string, value: unknown): string | null {
  return typeof value === "number" ? `${what} ${value}` : null;
}
