/**
 * A start, from the gate that is ready to GO. The claim of each attempt comes here, whether its steps were taken on paper in
 * the seconds before or by its job just now; those that come together become durable together, and what the machines say to
 * that is done at once. Everything that is left, such as what is told of it, has time until nothing is being started.
 */
import type { StateDocument } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { EffectParams } from "../../../machines/effects.js";
import type { Claim as StoreClaim } from "../../../persist/store.js";
import { turnOfLoop } from "../../turns.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry, Prearmed } from "../rows/job-entry.js";
import type { Committer } from "../write/committer.js";
import type { StepContribution } from "../write/contribution.js";
import type { Records } from "../write/records.js";
import type { StepWriter } from "../write/step-writer.js";
import type { Desk } from "./desk.js";
import type { Executor } from "./executor.js";
import { isRefusal } from "./gates.js";
import { isOnTime, type Rehearsal, rehearse } from "./rehearsal.js";

/** More of them would keep those that come first waiting for longer than the disk needs. */
const CLAIMS_PER_COMMIT = 1_000;
/** Released before everything else has its turn. */
const RELEASED_PER_TURN = 64;

/** A job that has claimed, and hears nothing until that was released. */
export interface Claimant {
  readonly entry: JobEntry;
  /** What its machines say to it that the claim is durable; null: nothing is to be released. */
  durable(attemptId: string, now: EpochMs): EffectParams["go"] | null;
  /** Somebody else has it: nothing was written, and the job goes on from what is on record (S40). */
  refused(attemptId: string, document: StateDocument, now: EpochMs): void;
}

export interface Claim {
  readonly actor: Claimant;
  readonly attemptId: string;
  readonly contribution: StepContribution;
  /** When it was taken. */
  readonly now: EpochMs;
}

interface Made extends Claim {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface ClaimsParts {
  readonly ports: Pick<SupervisorPorts, "bootId" | "clock" | "versions">;
  readonly records: Records;
  readonly committer: Committer;
  readonly writer: StepWriter;
  readonly executor: Executor;
  readonly desk: Desk & {
    readonly isStopped: boolean;
    /** What is known of the job is read anew, all of it. */
    renew(entry: JobEntry): Promise<StateDocument>;
  };
}

export class Claims {
  readonly #parts: ClaimsParts;
  #waiting: Made[] = [];
  #isCommitting = false;
  /** Lines of claims that are durable. */
  readonly #untold = new Set<() => void>();

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /** Works out the claim that the gate was made for, as it will be if nothing is heard of the job until then. */
  async prepare(entry: JobEntry, prearmed: Prearmed): Promise<void> {
    const { desk, ports, records } = this.#parts;
    const { heard, identity, liveAt, wakeAt } = entry;
    const made = await prearmed.made;
    if (isRefusal(made) || liveAt === null || wakeAt === null || desk.isStopped) return;
    const document = await records.documentOf(identity);
    if (entry.heard !== heard) return;
    const stage = {
      scope: entry.scope,
      document,
      nominalAt: liveAt,
      forAt: wakeAt,
      gate: prearmed,
      holder: made.holder,
    };
    prearmed.rehearsal = rehearse(stage, ports.versions);
  }

  /** null: there is none that could be taken now, and the job is to be woken instead. */
  rehearsalOf(entry: JobEntry, now: EpochMs): Rehearsal | null {
    const rehearsal = entry.prearmed?.rehearsal ?? null;
    if (rehearsal === null || entry.mustReturn || this.#parts.desk.isStopped) return null;
    return isOnTime(rehearsal, now) ? rehearsal : null;
  }

  /** Resolves when it is durable, was released, and everything of it was told. */
  make(claim: Claim): Promise<void> {
    this.#parts.executor.starts.add(claim.attemptId);
    const { desk } = this.#parts;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...claim, resolve, reject });
      if (!this.#isCommitting) desk.begin(desk.track(this.#commitAll()));
    });
  }

  /** What has begun is told before anything else, such as that the daemon has failed. */
  tellAll(): void {
    for (const tell of [...this.#untold]) tell();
  }

  async #commitAll(): Promise<void> {
    const { committer, desk, writer } = this.#parts;
    this.#isCommitting = true;
    // After this turn of the loop: jobs that are due together are claimed together.
    await turnOfLoop();
    while (this.#waiting.length > 0) {
      const claims = this.#waiting.splice(0, CLAIMS_PER_COMMIT);
      const noted = claims.flatMap(({ actor, attemptId, contribution }) => {
        const notes = writer.notedOf(actor.entry, contribution.facts);
        return notes === null ? [] : [{ attemptId, ...notes }];
      });
      let refused: readonly StoreClaim[];
      try {
        refused = await committer.add({
          documents: claims.flatMap(({ contribution }) => contribution.documents),
          ledger: claims.flatMap(({ contribution }) => contribution.ledger),
          claims: claims.flatMap(({ contribution }) => contribution.claims),
          notes: noted.flatMap(({ notes }) => notes),
        });
        const lost = new Set(refused.map(({ token }) => token));
        for (const { attemptId, posted } of noted) if (!lost.has(attemptId)) posted();
      } catch (error) {
        for (const { reject } of claims) reject(error);
        continue;
      }
      desk.begin(desk.track(this.#settle(claims, refused)));
    }
    this.#isCommitting = false;
  }

  async #settle(claims: readonly Made[], refused: readonly StoreClaim[]): Promise<void> {
    if (refused.length === 0) return this.#release(claims);
    const lost = new Map(refused.map((claim) => [claim.token, claim]));
    await this.#release(claims.filter(({ attemptId }) => !lost.has(attemptId)));
    for (const made of claims) {
      const claim = lost.get(made.attemptId);
      if (claim !== undefined) await this.#giveUp(made, claim);
    }
  }

  async #giveUp({ actor, attemptId, resolve, reject }: Made, claim: StoreClaim): Promise<void> {
    const { desk, executor, ports, writer } = this.#parts;
    try {
      writer.announceRefused(claim);
      executor.starts.settled(attemptId);
      const document = await desk.renew(actor.entry);
      if (!desk.isStopped) actor.refused(attemptId, document, ports.clock.now());
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  async #release(claims: readonly Made[]): Promise<void> {
    const { desk, executor, ports } = this.#parts;
    const durableAt = ports.clock.now();
    const tellers = claims.map((claim) => this.#tellerOf(claim));
    for (const [index, { actor, attemptId }] of claims.entries()) {
      const tell = tellers[index] ?? (() => undefined);
      // Another commit may have failed meanwhile: from then on nothing is begun.
      if (desk.isStopped) {
        tell();
        continue;
      }
      const go = actor.durable(attemptId, durableAt);
      if (go === null) executor.starts.settled(attemptId);
      else desk.begin(executor.go(actor.entry, go));
      executor.starts.whenCalm(tell);
      if (index % RELEASED_PER_TURN === RELEASED_PER_TURN - 1) await turnOfLoop();
    }
  }

  /**
   * The lines of one claim can wait for the starts of others, but not for ever; they are written once. Thousands may wait,
   * so that each holds its facts alone, and not what was written.
   */
  #tellerOf({ contribution: { facts }, now, resolve }: Made): () => void {
    const tell = (): void => {
      if (!this.#untold.delete(tell)) return;
      const { writer } = this.#parts;
      for (const { fact, decision } of facts) writer.announce({ ...fact, at: now }, decision);
      resolve();
    };
    this.#untold.add(tell);
    return tell;
  }
}
