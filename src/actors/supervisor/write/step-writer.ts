/**
 * What steps change, made durable and then told, with what goes along with them. A line in the log is never about
 * something that a crash could still undo.
 */

import type { CompiledRule, DecisionRecord } from "../../../core/decision/model.js";
import type { FirstSight } from "../../../core/restart/first-sight.js";
import { newDocument, type StateDocument } from "../../../core/state/document.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { formatInstant } from "../../../core/time/instant.js";
import type { Step } from "../../../machines/step.js";
import type { Claim, DefinitionVersion } from "../../../persist/store.js";
import type { Clock } from "../../clock.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { Desk } from "../run/desk.js";
import type { Committer, Contribution } from "./committer.js";
import { contributionOf, documentWrite, type StepContribution } from "./contribution.js";
import { eventOfFact } from "./events.js";

export class StepWriter {
  readonly #versions: SupervisorPorts["versions"];
  readonly #clock: Clock;
  readonly #committer: Committer;
  readonly #desk: Desk;

  constructor(versions: SupervisorPorts["versions"], clock: Clock, committer: Committer, desk: Desk) {
    this.#versions = versions;
    this.#clock = clock;
    this.#committer = committer;
    this.#desk = desk;
  }

  /** `before`: the document as it was until the step. */
  compose({ scope }: JobEntry, step: Pick<Step, "effects">, before: StateDocument): StepContribution | null {
    return contributionOf(step, { compiled: scope.compiled, versions: this.#versions, before });
  }

  async write(entry: JobEntry, { documents, ledger, facts }: StepContribution): Promise<void> {
    await this.#committer.add({ ...takeAlong(entry), documents, ledger });
    for (const { fact, decision } of facts) this.announce(fact, decision);
  }

  /** What goes along with a step that has changed nothing else. */
  async writeAlong(entry: JobEntry): Promise<void> {
    if (entry.along !== null) await this.#committer.add(takeAlong(entry));
  }

  async writeFirstSight(first: FirstSight, compiled: CompiledRule, definition: DefinitionVersion): Promise<void> {
    const { document, facts } = first;
    const effects = [{ type: "persist", params: { document, facts, claimedBy: null } }] as const;
    const before = newDocument(document.Identity);
    const composed = contributionOf({ effects }, { compiled, versions: this.#versions, before });
    if (composed === null) return;
    const { documents, ledger } = composed;
    await this.#committer.add({ documents, ledger, definitions: [definition] });
    for (const { fact, decision } of composed.facts) this.announce(fact, decision);
  }

  /** Nobody waits for it. */
  writeUnhurried(document: StateDocument): void {
    this.#committer.addUnhurried(documentWrite(document));
  }

  /** That is no trouble: the run is somebody else's. */
  announceRefused({ key: { identity, at, kind }, token }: Claim): void {
    const periodId = formatInstant(at);
    const fields = { attempt_id: token, kind };
    const about = { identity, periodId, component: "persist", level: "info", fields } as const;
    this.#desk.emit({ at: this.#clock.now(), event: "claim_refused", ...about });
  }

  announce(fact: LedgerFact, decision: DecisionRecord | null): void {
    this.#desk.emit(eventOfFact(fact, decision));
  }
}

function takeAlong(entry: JobEntry): Contribution {
  const along = entry.along ?? {};
  entry.along = null;
  return along;
}
