/**
 * Tells, after the start and after each reload, which jobs could not be started on this host as it is now. It refuses
 * nothing, because what is missing may be there by the time it is needed; it goes through the jobs when the daemon answers
 * already, a few at a time and one process at a time, and each kind of job once.
 */
import type { Clock } from "../../actors/clock.js";
import type { HostCheck } from "../../actors/preflight/host-check.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import { turnOfLoop } from "../../actors/turns.js";
import { storedDefinition } from "../../core/job/stored.js";
import type { StateReader } from "../../persist/store.js";
import type { DaemonEvent, DaemonLog } from "../log/log.js";

export const START_CHECK_LIMITS = {
  /** Jobs with a line of their own. */
  told: 20,
  /** Kinds of jobs for each of which a process is made. */
  looks: 1_000,
  /** Jobs that are read; beyond, reading alone would keep the loop busy for long. */
  jobs: 100_000,
} as const;

/** Jobs that are only counted before everything else has its turn. */
const COUNTED_PER_TURN = 1_024;

interface StartCheckPorts {
  readonly clock: Clock;
  readonly log: DaemonLog;
  readonly store: Pick<StateReader, "newestVersion">;
  readonly supervisor: Pick<Supervisor, "identities">;
  /** A new one for each round: what was found out of the host before may be out of date. */
  readonly newCheck: () => HostCheck;
  readonly mayStart: () => boolean;
}

interface Tally {
  refused: number;
  unlooked: number;
}

export class StartCheck {
  readonly #ports: StartCheckPorts;
  #round = 0;

  constructor(ports: StartCheckPorts) {
    this.#ports = ports;
  }

  /** A round that is under way ends without another word: a newer one has taken its place. */
  async run(): Promise<void> {
    const round = ++this.#round;
    const { mayStart, newCheck, supervisor } = this.#ports;
    const check = newCheck();
    const tally: Tally = { refused: 0, unlooked: 0 };
    let seen = 0;
    for (const identity of supervisor.identities()) {
      if (round !== this.#round || !mayStart()) return;
      seen += 1;
      const isCounted = seen > START_CHECK_LIMITS.jobs;
      if (isCounted) tally.unlooked += 1;
      else await this.#look(identity, check, tally);
      if (!isCounted || seen % COUNTED_PER_TURN === 0) await turnOfLoop();
    }
    if (round === this.#round && mayStart()) this.#sum(tally);
  }

  async #look(identity: string, check: HostCheck, tally: Tally): Promise<void> {
    const { log, clock, store } = this.#ports;
    const version = await store.newestVersion(identity);
    const definition = version?.text == null || !version.isIntact ? null : storedDefinition(version.text);
    if (definition === null || definition.policy.suspend) return;
    if (check.looks >= START_CHECK_LIMITS.looks && check.isNew(definition)) {
      tally.unlooked += 1;
      return;
    }
    const found = await check.of(definition);
    if (found.is !== "refused") return;
    tally.refused += 1;
    if (tally.refused > START_CHECK_LIMITS.told) return;
    const { code, message, hint } = found.problem;
    log.daemon(lineOf(clock.now(), "warn", { identity, error_code: code, message, hint }));
  }

  /** Only where the lines before it are not all there is to say. */
  #sum({ refused, unlooked }: Tally): void {
    const { log, clock } = this.#ports;
    const untold = Math.max(0, refused - START_CHECK_LIMITS.told);
    if (untold + unlooked === 0) return;
    const message = "not all jobs were looked at or told of; 'kron lint --on-this-host' lists them all";
    const fields = { jobs: refused, untold, not_looked_at: unlooked, message };
    log.daemon(lineOf(clock.now(), refused > 0 ? "warn" : "info", fields));
  }
}

function lineOf(at: number, level: "warn" | "info", fields: Readonly<Record<string, unknown>>): DaemonEvent {
  return { at, event: "not_startable", component: "executor", level, fields };
}
