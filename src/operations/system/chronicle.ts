/**
 * What has become of the daemon itself since it started, as far as it remembers: what it has read, and how its clock was
 * moved. The log has all of it; this is for whoever looks at the page.
 */
import type { Clock } from "../../actors/clock.js";
import type { PlanReport } from "../../actors/supervisor/port.js";
import type { SupervisorEvent } from "../../actors/supervisor/write/events.js";
import { messageOf } from "../../core/base/errors/message.js";
import type { ClockJumpTold, ReloadTold } from "../shapes/system.js";

/** Of each kind. */
const KEPT = 20;

interface Reloaded {
  readonly plan: PlanReport;
  readonly kept: readonly string[];
  readonly findings: readonly unknown[];
}

export class Chronicle {
  readonly #clock: Pick<Clock, "now" | "monotonicMs">;
  readonly #reloads: ReloadTold[] = [];
  readonly #jumps: ClockJumpTold[] = [];

  constructor(clock: Pick<Clock, "now" | "monotonicMs">) {
    this.#clock = clock;
  }

  /** Newest first. */
  get reloads(): readonly ReloadTold[] {
    return this.#reloads;
  }

  /** Newest first. */
  get clockJumps(): readonly ClockJumpTold[] {
    return this.#jumps;
  }

  /** What the supervisor tells. */
  tell({ at, event, fields = {} }: SupervisorEvent): void {
    const { jump_ms: jumpMs } = fields;
    if (event === "clock_jump" && typeof jumpMs === "number") keep(this.#jumps, { at, jumpMs });
  }

  /** A reload, whether it comes about or not. */
  async noting<T extends Reloaded>(reload: () => Promise<T>): Promise<T> {
    const [at, begunMs] = [this.#clock.now(), this.#clock.monotonicMs()];
    const about = (): Pick<ReloadTold, "at" | "tookMs"> => {
      return { at, tookMs: Math.round(this.#clock.monotonicMs() - begunMs) };
    };
    try {
      const done = await reload();
      keep(this.#reloads, { ...about(), ...countsOf(done), failure: null });
      return done;
    } catch (error) {
      keep(this.#reloads, { ...about(), ...NOTHING_DONE, failure: messageOf(error) });
      throw error;
    }
  }
}

const NOTHING_DONE = { added: 0, removed: 0, changed: 0, unchanged: 0, kept: 0, problems: 0 };

function countsOf({ plan, kept, findings }: Reloaded): typeof NOTHING_DONE {
  const { added, removed, changed, unchanged } = plan;
  return {
    added: added.length,
    removed: removed.length,
    changed: changed.length,
    unchanged,
    kept: kept.length,
    problems: findings.length,
  };
}

function keep<T>(list: T[], one: T): void {
  list.unshift(one);
  list.splice(KEPT);
}
