/**
 * The claims of jobs whose gates were made ahead. They are worked out in the seconds before, by the same machines; in
 * their own second all that are due become durable together and are released at once, and the machines take up afterwards
 * what was done in their name.
 */
import type { EpochMs } from "../../../core/time/instant.js";
import type { Activation } from "../../../machines/activation.js";
import type { ActivationEvent } from "../../../machines/step.js";
import type { Claim as StoreClaim } from "../../../persist/store.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry, Message, Prearmed } from "../rows/job-entry.js";
import type { Committer } from "../write/committer.js";
import type { Records } from "../write/records.js";
import type { StepWriter } from "../write/step-writer.js";
import { type Executor, processOf } from "./executor.js";
import { isRefusal } from "./gates.js";
import { isOnTime, type Rehearsal, rehearse } from "./rehearsal.js";

export interface ClaimsHost {
  /** Whoever looks on is to see every step when it is taken. */
  readonly isSeen: boolean;
  readonly isStopped: boolean;
  track<T>(operation: Promise<T>): Promise<T>;
  begin(operation: Promise<void>): void;
  /** Takes the job to where it is with its claim; it is kept busy. */
  enter(entry: JobEntry, activation: Activation, successorDueAt: EpochMs | null): void;
  /** Lets a job that was kept busy go on: with this, and with what has come for it meanwhile. */
  goOn(entry: JobEntry, first: Message): Promise<void>;
  /** What a job is told whose claim somebody else has. */
  refusal(entry: JobEntry, attemptId: string): Promise<ActivationEvent>;
}

/** Of a job that is due. */
export interface Claim {
  readonly entry: JobEntry;
  readonly rehearsal: Rehearsal;
}

export class Claims {
  /** Lines of claims that are durable. */
  private readonly untold = new Set<() => void>();

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

  /** null: there is none that could be taken now, and the job is to be woken instead. */
  claimOf(entry: JobEntry, now: EpochMs): Claim | null {
    const rehearsal = entry.prearmed?.rehearsal ?? null;
    if (rehearsal === null || entry.mustReturn || this.host.isSeen || this.host.isStopped) return null;
    return isOnTime(rehearsal, now) ? { entry, rehearsal } : null;
  }

  /** Right after they were found to be on time. */
  take(claims: readonly Claim[], now: EpochMs): void {
    if (claims.length > 0) this.host.begin(this.host.track(this.takeNow(claims, now)));
  }

  /** What has begun is told before anything else, such as that the daemon has failed. */
  tellAll(): void {
    for (const tell of [...this.untold]) tell();
  }

  private async takeNow(claims: readonly Claim[], now: EpochMs): Promise<void> {
    for (const { entry, rehearsal } of claims) {
      entry.prearmed = null;
      this.executor.starts.add(rehearsal.go.attemptId);
      this.host.enter(entry, rehearsal.activation, rehearsal.successorDueAt);
    }
    const refused = await this.committer.add({
      documents: claims.map(({ rehearsal }) => rehearsal.write),
      ledger: claims.flatMap(({ rehearsal }) => rehearsal.ledger),
      claims: claims.flatMap((claim) => claim.rehearsal.claims),
    });
    this.durable(refused.length === 0 ? claims : this.oursOf(claims, refused), now);
  }

  /** What somebody else has claimed is given up by its job. */
  private oursOf(claims: readonly Claim[], refused: readonly StoreClaim[]): readonly Claim[] {
    const lost = new Map(refused.map((claim) => [claim.token, claim]));
    return claims.filter(({ entry, rehearsal: { go } }) => {
      const claim = lost.get(go.attemptId);
      if (claim === undefined) return true;
      this.writer.announceRefused(claim);
      this.host.begin(this.host.track(this.giveUp(entry, go.attemptId)));
      return false;
    });
  }

  private async giveUp(entry: JobEntry, attemptId: string): Promise<void> {
    const event = await this.host.refusal(entry, attemptId);
    await this.host.goOn(entry, { event: () => event, now: null });
  }

  private durable(claims: readonly Claim[], now: EpochMs): void {
    // Another commit may have failed meanwhile: from then on nothing is begun.
    if (this.host.isStopped) {
      for (const claim of claims) this.teller(claim, now)();
      return;
    }
    const durableAt = this.ports.clock.now();
    for (const { entry, rehearsal } of claims) this.host.begin(this.executor.release(entry, rehearsal.go));
    for (const claim of claims) {
      this.host.begin(this.host.track(this.takeUp(claim, durableAt, this.teller(claim, now))));
    }
  }

  /** The lines of one claim can wait for the starts of others, but not for ever; they are written once. */
  private teller({ rehearsal }: Claim, now: EpochMs): () => void {
    const tell = (): void => {
      if (!this.untold.delete(tell)) return;
      for (const { fact, decision } of rehearsal.facts) this.writer.announce({ ...fact, at: now }, decision);
    };
    this.untold.add(tell);
    return tell;
  }

  private async takeUp({ entry, rehearsal }: Claim, durableAt: EpochMs, tell: () => void): Promise<void> {
    await new Promise<void>((resolve) =>
      this.executor.starts.whenCalm(() => {
        tell();
        resolve();
      }),
    );
    const durable = { type: "DURABLE", attemptId: rehearsal.go.attemptId } as const;
    await this.host.goOn(entry, { event: () => durable, now: durableAt });
  }
}
