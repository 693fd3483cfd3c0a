/**
 * The claims of jobs whose gates were made ahead. They are worked out in the seconds before, by the same machines; in
 * their own second all that are due become durable together and are released at once, and the machines take up afterwards
 * what was done in their name.
 */
import type { EpochMs } from "../../core/time/instant.js";
import type { Committer } from "./committer.js";
import { type Executor, processOf } from "./executor.js";
import { isRefusal } from "./gates.js";
import type { JobEntry, Message, Prearmed } from "./job-entry.js";
import type { SupervisorPorts } from "./port.js";
import type { Records } from "./records.js";
import { isOnTime, type Rehearsal, rehearse } from "./rehearsal.js";
import type { StepWriter } from "./step-writer.js";

export interface ClaimsHost {
  /** Whoever looks on is to see every step when it is taken. */
  readonly isSeen: boolean;
  readonly isStopped: boolean;
  track<T>(operation: Promise<T>): Promise<T>;
  begin(operation: Promise<void>): void;
  /** Lets a job that was kept busy go on: with this, and with what has come for it meanwhile. */
  goOn(entry: JobEntry, first: Message): Promise<void>;
}

interface Claim {
  readonly entry: JobEntry;
  readonly rehearsal: Rehearsal;
}

export class Claims {
  constructor(
    private readonly ports: Pick<SupervisorPorts, "bootId" | "clock" | "versions">,
    private readonly records: Records,
    private readonly committer: Committer,
    private readonly writer: StepWriter,
    private readonly executor: Executor,
    private readonly host: ClaimsHost,
  ) {}

  /** Works out the claim that the gate was made for, as it will be if nothing is heard of the job until then. */
  async prepare(entry: JobEntry, prearmed: Prearmed): Promise<void> {
    const { heard, identity, liveAt, wakeAt } = entry;
    const made = await prearmed.made;
    if (isRefusal(made) || liveAt === null || wakeAt === null || this.host.isSeen || this.host.isStopped) return;
    const document = await this.records.documentOf(identity);
    if (entry.heard !== heard) return;
    const { attemptId, periodId } = prearmed;
    const process = processOf(made, this.ports.bootId);
    const stage = { scope: entry.scope, document, nominalAt: liveAt, periodId, forAt: wakeAt, attemptId, process };
    prearmed.rehearsal = rehearse(stage, this.ports.versions);
  }

  /** Whether the claim of this job, which is due, was worked out and holds. */
  isReady({ prearmed, mustReturn }: JobEntry, now: EpochMs): boolean {
    const rehearsal = prearmed?.rehearsal ?? null;
    return rehearsal !== null && !mustReturn && !this.host.isSeen && isOnTime(rehearsal, now);
  }

  /** Of jobs that are ready. */
  take(entries: readonly JobEntry[], now: EpochMs): void {
    const claims = entries.flatMap((entry) => {
      const rehearsal = entry.prearmed?.rehearsal ?? null;
      return rehearsal === null ? [] : [{ entry, rehearsal }];
    });
    if (claims.length > 0 && !this.host.isStopped) this.host.begin(this.host.track(this.takeNow(claims, now)));
  }

  private async takeNow(claims: readonly Claim[], now: EpochMs): Promise<void> {
    for (const { entry, rehearsal } of claims) {
      entry.isBusy = true;
      entry.prearmed = null;
      entry.activation = rehearsal.activation;
      entry.successorDueAt = rehearsal.successorDueAt;
      this.executor.claimed(entry, rehearsal);
    }
    await this.committer.add({
      documents: claims.map(({ rehearsal }) => rehearsal.write),
      ledger: claims.flatMap(({ rehearsal }) => rehearsal.ledger),
    });
    // Another commit may have failed meanwhile: from then on nothing is begun.
    if (this.host.isStopped) return;
    const durableAt = this.ports.clock.now();
    for (const { entry, rehearsal } of claims) this.host.begin(this.executor.goAhead(entry, rehearsal.go));
    for (const claim of claims) this.host.begin(this.host.track(this.follow(claim, now, durableAt)));
  }

  private async follow({ entry, rehearsal }: Claim, now: EpochMs, durableAt: EpochMs): Promise<void> {
    await new Promise<void>((resolve) => this.executor.starts.whenNoneIsUnderWay(resolve));
    for (const { fact, decision } of rehearsal.facts) this.writer.announce({ ...fact, at: now }, decision);
    const durable = { type: "DURABLE", attemptId: rehearsal.go.attemptId } as const;
    await this.host.goOn(entry, { event: () => durable, now: durableAt });
  }
}
