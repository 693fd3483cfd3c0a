/**
 * Another set of definitions while the daemon runs: what it would change (S16), and the change itself (S16, S35). Jobs that
 * stay as they are cost a comparison of two numbers.
 */
import type { Settings } from "../../../core/config/settings.js";
import { type ContentHash, contentHashOf } from "../../../core/job/content-hash.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { canonicalDefinitionText } from "../../../core/job/schema.js";
import { activeStates, type StateDocument, standingOf } from "../../../core/state/document.js";
import { documentOfActivation } from "../../../machines/activation.js";
import type { TimelineHandle } from "../../timeline.js";
import { inTurns, turnOfLoop } from "../../turns.js";
import type { ChangedJob, PlanReport, SupervisorPorts } from "../port.js";
import { type JobEntry, ruleHashOf } from "../rows/job-entry.js";
import type { JobSet } from "../rows/job-set.js";
import type { SupervisorCore } from "../run/core.js";
import type { JobObject } from "../write/contribution.js";
import { fenceOnArrival } from "./failover.js";
import { carriedBy, lastVersion, placeholderDefinition, versionAfter } from "./last-version.js";
import { MachineBoot } from "./machine-boot.js";
import { changedJob, type Difference, differenceOf, ruleOf } from "./plan-report.js";
import type { Wanted } from "./survey.js";
import type { WantedJobs } from "./wanted-jobs.js";

/** A store may answer at once: without turns of the loop, a change of every job would hold it up until the last one. */
const REPORTED_PER_TURN = 16;

/** What is to become of the jobs. */
interface Change {
  readonly report: PlanReport;
  readonly kept: readonly string[];
  act(): Promise<void>;
}

interface Defined {
  readonly definition: JobDefinition;
  /** The canonical one. */
  readonly text: string;
  readonly content: ContentHash;
  readonly isAdded: boolean;
  readonly objects: readonly JobObject[];
}

export class Reload {
  readonly #ports: SupervisorPorts;
  readonly #core: SupervisorCore;
  readonly #jobs: JobSet;
  readonly #settings: () => Settings;
  constructor(ports: SupervisorPorts, core: SupervisorCore, jobs: JobSet, settings: () => Settings) {
    this.#ports = ports;
    this.#core = core;
    this.#jobs = jobs;
    this.#settings = settings;
  }

  /** Computed once, and told as it will be done: nothing has changed until `apply`. */
  async plan(wanted: Wanted, keeps: (identity: string) => boolean): Promise<Change> {
    if (wanted === "as-stored") return { report: this.#nothing(), kept: [], act: async () => undefined };
    const difference = await differenceOf(this.#jobs.rows, wanted, keeps);
    const report = await this.#report(wanted, difference);
    return { report, kept: difference.kept, act: () => this.#change(wanted, difference) };
  }

  /** Resolves when every job that is concerned has been told, and that is durable. */
  async apply({ report, act }: Change): Promise<PlanReport> {
    await act();
    const { added, removed, changed, unchanged } = report;
    const fields = { added: added.length, removed: removed.length, changed: changed.length, unchanged };
    const at = this.#ports.clock.now();
    this.#core.emit({ at, event: "config_reloaded", component: "config", level: "info", fields });
    return report;
  }

  async #change(wanted: WantedJobs, difference: Difference): Promise<void> {
    await inTurns(difference.added, (index) => this.#defineWanted(wanted, index, true));
    await inTurns(difference.changed, (index) => this.#defineWanted(wanted, index, false));
    await inTurns(difference.removed, (handle) => this.#remove(handle));
  }

  #nothing(): PlanReport {
    return { added: [], removed: [], changed: [], unchanged: this.#jobs.rows.presentCount };
  }

  async documentOf(identity: string): Promise<StateDocument> {
    const handle = this.#jobs.handleOf(identity);
    const activation = handle === null ? null : (this.#jobs.awakeAt(handle)?.activation ?? null);
    return activation === null ? this.#core.records.documentOf(identity) : documentOfActivation(activation);
  }

  async #report(wanted: WantedJobs, difference: Difference): Promise<PlanReport> {
    const { added, removed, unchanged } = difference;
    const changed: ChangedJob[] = [];
    for (const index of difference.changed) {
      changed.push(await this.#changeOf(wanted, index));
      if (changed.length % REPORTED_PER_TURN === 0) await turnOfLoop();
    }
    const { names } = this.#jobs.rows;
    return {
      added: added.map((index) => wanted.identityAt(index)),
      removed: removed.map((handle) => names.identityOf(handle)),
      changed,
      unchanged,
    };
  }

  async #changeOf(wanted: WantedJobs, index: number): Promise<ChangedJob> {
    const after = wanted.definitionAt(index);
    const { definition } = await lastVersion(after.identity, this.#ports.store);
    const before = definition ?? after;
    const document = await this.documentOf(after.identity);
    const input = {
      before: ruleOf(before),
      after: ruleOf(after),
      standing: standingOf(document),
      policy: after.policy,
    };
    return changedJob(input, this.#ports.clock.now());
  }

  /** One job, whatever the configuration says; `objects` become durable with it. */
  async define(definition: JobDefinition, objects: readonly JobObject[]): Promise<void> {
    const text = canonicalDefinitionText(definition);
    const content = contentHashOf(text);
    const handle = this.#jobs.handleOf(definition.identity);
    const isAdded = handle === null || this.#jobs.rows.isRemoved(handle);
    if (!isAdded && this.#jobs.rows.hasContent(handle, content)) {
      if (objects.length > 0) await this.#ports.store.commit(this.#ports.term, { objects });
      return;
    }
    await this.#define({ definition, text, content, isAdded, objects });
  }

  /** False: there is no such job, and nothing was written. */
  async remove(identity: string, objects: readonly JobObject[]): Promise<boolean> {
    const handle = this.#jobs.handleOf(identity);
    if (handle === null || this.#jobs.rows.isRemoved(handle)) return false;
    await this.#remove(handle, objects);
    return true;
  }

  #defineWanted(wanted: WantedJobs, index: number, isAdded: boolean): Promise<void> {
    const definition = wanted.definitionAt(index);
    const told = { text: wanted.textAt(index), content: wanted.contentHashAt(index) };
    return this.#define({ definition, ...told, isAdded, objects: [] });
  }

  /** The old rule says what is carried over; from this message on the new one is in force. */
  async #define({ definition, text, content, isAdded, objects }: Defined): Promise<void> {
    const { identity } = definition;
    const last = await lastVersion(identity, this.#ports.store);
    // Read before there is a row: nobody may reach a job that has no definition yet.
    const stored = isAdded ? await this.#arrived(last.definition ?? definition) : null;
    const isNew = isAdded && last.definedAt === null && stored === null;
    const entry = isAdded ? this.#jobs.add(identity) : this.#jobs.present(identity);
    if (entry === null) return;
    entry.isRemoved = false;
    this.#jobs.rows.setContent(entry.handle, content);
    this.#core.executor.unprepare(entry);
    if (stored !== null) await this.#watchRuns(entry, stored, last.definition ?? definition);
    const version = versionAfter(last, identity, text, this.#ports.clock.now());
    const machine = MachineBoot.ofReload(this.#ports, this.#core);
    if (isNew && (await this.#core.greet(entry, { definition, version, objects }))) {
      await machine.tell(entry, definition);
      return;
    }
    if (isNew && !entry.isLoaded) entry.use(definition, this.#settings());
    const definitions = [version];
    await this.#core.ask(entry, {
      event: (told, now) => {
        const carriedAt = isAdded ? null : carriedBy(told.definition, documentIn(told), now);
        told.use(definition, this.#settings());
        return { type: "DEFINE", hash: ruleHashOf(definition), carriedAt };
      },
      now: null,
      along: { definitions, objects },
    });
    await machine.tell(entry, definition);
  }

  /** What is on record of a job that was not here; null: nothing. */
  async #arrived(definition: JobDefinition): Promise<StateDocument | null> {
    const stored = await this.#core.records.storedDocument(definition.identity);
    return stored === null ? null : fenceOnArrival(this.#ports, this.#settings(), stored, definition);
  }

  /** S50: of a job that nobody looked after a run may go on; whoever takes it up now watches that, or nobody ever would. */
  async #watchRuns(entry: JobEntry, document: StateDocument, definition: JobDefinition): Promise<void> {
    if (entry.life !== "resting" || activeStates(document).length === 0) return;
    if (!entry.isLoaded) entry.use(definition, this.#settings());
    await this.#core.adopt(entry, document);
  }

  async #remove(handle: TimelineHandle, objects: readonly JobObject[] = []): Promise<void> {
    const identity = this.#jobs.rows.names.identityOf(handle);
    const last = await lastVersion(identity, this.#ports.store);
    const entry = this.#jobs.present(identity);
    if (entry === null) return;
    this.#core.executor.unprepare(entry);
    entry.isRemoved = true;
    if (!entry.isLoaded) entry.use(last.definition ?? placeholderDefinition(identity), this.#settings());
    const definitions = [versionAfter(last, identity, null, this.#ports.clock.now())];
    await this.#core.ask(entry, { event: () => ({ type: "REMOVE" }), now: null, along: { definitions, objects } });
  }
}

function documentIn({ identity, activation }: JobEntry): StateDocument {
  if (activation === null) throw new Error(`invariant broken: ${identity} is told while it is not live`);
  return documentOfActivation(activation);
}
