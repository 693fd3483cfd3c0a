/**
 * After the clock was moved every job looks at where it is (S6, S13). For most of them that means another instant to wait
 * for and nothing to write. Who they are is found as at a start, by reading what is on record with the pool: waking each of
 * a million would take a quarter of an hour. The others are left to be woken, one by one.
 */
import type { EpochMs } from "../../../core/time/instant.js";
import type { PlannedPage } from "../../pool/types.js";
import type { TimelineHandle } from "../../timeline.js";
import { turnOfLoop } from "../../turns.js";
import type { SupervisorPorts } from "../port.js";
import type { JobSet } from "../rows/job-set.js";
import { planHere } from "./plan-here.js";
import { contentAt, glanceAt, identityAt, instantAt, ROWS_PER_TURN, standingAt } from "./survey.js";

export class ClockReturn {
  #underWay: AbortController | null = null;
  readonly #ports: Pick<SupervisorPorts, "plan" | "store">;
  readonly #jobs: JobSet;
  readonly #onResting: (handle: TimelineHandle) => void;

  constructor(
    ports: Pick<SupervisorPorts, "plan" | "store">,
    jobs: JobSet,
    /** Told of each job that goes on resting. */
    onResting: (handle: TimelineHandle) => void,
  ) {
    this.#ports = ports;
    this.#jobs = jobs;
    this.#onResting = onResting;
  }

  /** Of the jobs that are marked, those that rest on lose their mark. False: it was broken off, by a later one perhaps. */
  async restOn(now: EpochMs): Promise<boolean> {
    this.cancel();
    const survey = new AbortController();
    this.#underWay = survey;
    const { signal } = survey;
    const onPage = (page: PlannedPage): Promise<void> => this.#take(page, signal);
    try {
      await (this.#ports.plan ?? planHere)(this.#ports.store, { now, signal, onPage });
    } catch {
      // Whatever could not be read is read again by the job that is woken, which then says what is wrong.
    }
    if (this.#underWay === survey) this.#underWay = null;
    return !signal.aborted;
  }

  cancel(): void {
    this.#underWay?.abort();
    this.#underWay = null;
  }

  async #take(page: PlannedPage, signal: AbortSignal): Promise<void> {
    let from = 0;
    for (let index = 0; index < page.count && !signal.aborted; index++) {
      const end = page.identityEnds[index] as number;
      if (standingAt(page, index) === "QUIET") this.#rest(identityAt(page, from, end), page, index);
      from = end;
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfLoop();
    }
  }

  /** Not one that was woken since, or is about to hear something: what was read of it may not be true any more. */
  #rest(identity: string, page: PlannedPage, index: number): void {
    const { rows } = this.#jobs;
    const handle = this.#jobs.handleOf(identity);
    if (handle === null || !rows.mustReturn(handle) || this.#jobs.awakeAt(handle) !== null) return;
    if (rows.isUntold(handle) || rows.isRemoved(handle)) return;
    if (!rows.hasContent(handle, contentAt(page, index))) return;
    rows.setLiveAt(handle, instantAt(page.liveAt, index));
    rows.index.set(handle, glanceAt(page, index));
    rows.setWakeAt(handle, instantAt(page.wakeAt, index));
    rows.setMustReturn(handle, false);
    this.#onResting(handle);
  }
}
