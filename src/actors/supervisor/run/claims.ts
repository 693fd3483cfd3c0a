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
import { armedAt, isOnTime, type Rehearsal, rehearse } from "./rehearsal.js";

/**
 * Claimed and released in one go: commands that begin take the processors from the commit of those that come after. More of
 * them would keep those that come first waiting for longer than the others gain.
 */
const CLAIMS_PER_COMMIT = 5_000;
/** Where a few more come all the time, the first of them waits no longer. */
const GATHERED_TURNS = 8;
/** A turn that brings so many is one of several, of jobs that are due together; the first of them wait no longer than this. */
const MANY_IN_A_TURN = 32;
const GATHERED_MS = 100;

/** Before everything else has its turn. The launcher gives all of them their GO together. */
const RELEASED_PER_TURN = 64;

/** A job that has claimed, and hears nothing until that was released. */
export interface Claimant {
  readonly entry: JobEntry;
  /** What its machines say to it that the claim is durable; null: nothing is to be released. */
  durable(attemptId: string, now: EpochMs): EffectParams["go"] | null;
  /** Somebody else has it: nothing was written, and the job goes on from what is on record (S40). */
  refused(attemptId: string, document: StateDocument, now: EpochMs): void;
}

interface Claim {
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

/** What a job will want to start next, and the document that says so. */
interface SlotAhead {
  readonly arm: EffectParams["arm"];
  readonly document: StateDocument;
}

interface ClaimsParts {
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

  /** What a job that waits for no period will want to start next: its slot, if it is one; null: nothing that could be made ready. */
  async slotAhead(entry: JobEntry): Promise<SlotAhead | null> {
    const { heard, identity, wakeAt } = entry;
    if (wakeAt === null) return null;
    const document = await this.#parts.records.documentOf(identity);
    if (entry.heard !== heard) return null;
    const arm = armedAt({ scope: entry.scope, document, nominalAt: null, forAt: wakeAt });
    return arm === null ? null : { arm, document };
  }

  /** Works out the claim that the gate was made for, as it will be if nothing is heard of the job until then. */
  async prepare(entry: JobEntry, prearmed: Prearmed, known: StateDocument | null): Promise<void> {
    const { desk, ports, records } = this.#parts;
    const { heard, identity, liveAt, wakeAt } = entry;
    const made = await prearmed.made;
    if (isRefusal(made) || wakeAt === null || desk.isStopped) return;
    const document = known ?? (await records.documentOf(identity));
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
    // A message that waits for its turn is heard first.
    const isAtRest = entry.life !== "busy" && entry.activation === null;
    if (rehearsal === null || !isAtRest || entry.mustReturn || this.#parts.desk.isStopped) return null;
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
    await this.#gathered();
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
          objects: claims.flatMap(({ contribution }) => contribution.objects),
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

  /** Jobs that are due together are claimed together: as long as each turn of the loop brings more of them. */
  async #gathered(): Promise<void> {
    const { clock } = this.#parts.ports;
    const untilMs = clock.now() + GATHERED_MS;
    let before = 0;
    for (let turn = 1; ; turn++) {
      const { length } = this.#waiting;
      const more = length - before;
      if (more === 0 || length >= CLAIMS_PER_COMMIT) return;
      if (turn > GATHERED_TURNS && (more < MANY_IN_A_TURN || clock.now() >= untilMs)) return;
      before = length;
      await turnOfLoop();
    }
  }

  async #settle(claims: readonly Made[], refused: readonly StoreClaim[]): Promise<void> {
    const lost = new Map(refused.map((claim) => [claim.token, claim]));
    await this.#release(lost.size === 0 ? claims : claims.filter(({ attemptId }) => !lost.has(attemptId)));
    if (lost.size === 0) return;
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
      if (index > 0 && index % RELEASED_PER_TURN === 0) await turnOfLoop();
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
