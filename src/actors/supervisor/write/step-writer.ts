/**
 * What steps change, made durable and then told, with what goes along with them. A line in the log is never about
 * something that a crash could still undo.
 */

import type { CompiledRule, DecisionRecord } from "../../../core/decision/model.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import type { FirstSight } from "../../../core/restart/first-sight.js";
import { newDocument, type StateDocument } from "../../../core/state/document.js";
import type { LedgerFact } from "../../../core/state/facts.js";
import { formatInstant } from "../../../core/time/instant.js";
import type { Step } from "../../../machines/step.js";
import type { Claim, DefinitionVersion } from "../../../persist/store.js";
import type { Clock } from "../../clock.js";
import type { Noted, NoticeWriter } from "../../messenger/notices.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { Desk } from "../run/desk.js";
import type { Committer, Contribution } from "./committer.js";
import { contributionOf, type JobObject, type RecordedFact, type StepContribution } from "./contribution.js";
import { eventOfFact } from "./events.js";

type WriterPorts = Pick<SupervisorPorts, "versions" | "clock" | "notices" | "onRunEnded">;

interface Defined {
  readonly definition: JobDefinition;
  readonly version: DefinitionVersion;
  readonly objects: readonly JobObject[];
}

export class StepWriter {
  readonly #versions: SupervisorPorts["versions"];
  readonly #clock: Clock;
  readonly #onRunEnded: NonNullable<SupervisorPorts["onRunEnded"]>;
  readonly #notices: NoticeWriter | null;
  readonly #committer: Committer;
  readonly #desk: Desk;

  constructor({ versions, clock, notices, onRunEnded }: WriterPorts, committer: Committer, desk: Desk) {
    this.#versions = versions;
    this.#clock = clock;
    this.#onRunEnded = onRunEnded ?? (() => undefined);
    this.#notices = notices ?? null;
    this.#committer = committer;
    this.#desk = desk;
  }

  /** `before`: the document as it was until the step. */
  compose({ scope }: JobEntry, step: Pick<Step, "effects">, before: StateDocument): StepContribution | null {
    return contributionOf(step, { compiled: scope.compiled, versions: this.#versions, before });
  }

  async write(entry: JobEntry, { documents, ledger, objects: found, facts }: StepContribution): Promise<void> {
    const noted = this.notedOf(entry, facts);
    const along = this.#takeAlong(entry);
    const notes = [...(along.notes ?? []), ...(noted?.notes ?? [])];
    const objects = [...(along.objects ?? []), ...found];
    await this.#committer.add({ ...along, documents, ledger, notes, objects });
    noted?.posted();
    for (const { fact, decision } of facts) this.announce(fact, decision);
  }

  /** What goes along with a step that has changed nothing else. */
  async writeAlong(entry: JobEntry): Promise<void> {
    if (entry.along !== null) await this.#committer.add(this.#takeAlong(entry));
  }

  /** Whom these facts are to be told, if anybody asked. */
  notedOf({ definition, isRemoved }: JobEntry, facts: readonly RecordedFact[]): Noted | null {
    if (definition.notify.length === 0 || this.#notices === null) return null;
    const told = facts.map(({ fact }) => fact);
    const noted = this.#notices.of(definition, told);
    if (noted === null || !isRemoved) return noted;
    // What still runs of it is told to its end; what it was in is nobody's any more.
    return { ...noted, notes: [...noted.notes, ...this.#notices.removed(definition.identity)] };
  }

  async writeFirstSight(
    first: FirstSight,
    compiled: CompiledRule,
    { definition, version, objects }: Defined,
  ): Promise<void> {
    const { document, facts } = first;
    const effects = [{ type: "persist", params: { document, facts, claimedBy: null } }] as const;
    const before = newDocument(document.Identity);
    const composed = contributionOf({ effects }, { compiled, versions: this.#versions, before });
    if (composed === null) return;
    const { documents, ledger } = composed;
    const notes = this.#notices?.defined(definition) ?? [];
    await this.#committer.add({ documents, ledger, definitions: [version], notes, objects });
    for (const { fact, decision } of composed.facts) this.announce(fact, decision);
  }

  /** Nobody waits for it. */
  writeUnhurried(document: StateDocument): void {
    this.#committer.addUnhurried(document);
  }

  /** That is no trouble: the run is somebody else's. */
  announceRefused({ key: { identity, at, kind }, token }: Claim): void {
    const periodId = formatInstant(at);
    const fields = { attempt_id: token, kind };
    const about = { identity, periodId, component: "persist", level: "info", fields } as const;
    this.#desk.emit({ at: this.#clock.now(), event: "claim_refused", ...about });
  }

  #takeAlong(entry: JobEntry): Contribution {
    const { along } = entry;
    entry.along = null;
    const version = along?.definitions?.at(-1);
    if (along === null || version === undefined) return along ?? {};
    const notes =
      version.text === null ? this.#notices?.removed(entry.identity) : this.#notices?.defined(entry.definition);
    return { ...along, notes: notes ?? [] };
  }

  announce(fact: LedgerFact, decision: DecisionRecord | null): void {
    if (fact.kind === "run_ended") this.#onRunEnded(fact.identity, fact.ending, fact.endedAt);
    this.#desk.emit(eventOfFact(fact, decision));
  }
}
