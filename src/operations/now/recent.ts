/** What has ended lately, whatever the job: a daemon remembers a handful since its start. */
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { formatInstant } from "../../core/time/instant.js";
import type { Ended } from "../shapes/now.js";

const KEPT = 50;

const OUTCOMES: Partial<Record<SupervisorEvent["event"], string>> = {
  missed_deadline: "missed",
  skipped: "skipped",
  skipped_concurrency: "skipped",
  unschedulable: "unschedulable",
};

export class RecentEnds {
  readonly #ends: SupervisorEvent[] = [];

  /** What the supervisor tells. */
  tell(event: SupervisorEvent): void {
    if (event.event !== "completed" && OUTCOMES[event.event] === undefined) return;
    this.#ends.push(event);
    if (this.#ends.length > KEPT) this.#ends.shift();
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

function endedOf({ at, event, identity = "", periodId, fields = {}, level }: SupervisorEvent): Ended {
  const isSound = event === "completed" && level === "info";
  const outcome = OUTCOMES[event] ?? (isSound ? "executed" : "failed");
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
