/**
 * Another set of definitions while the daemon runs: what it would change (S16), and the change itself (S16, S35). Jobs that
 * stay as they are cost a comparison of two numbers.
 */
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { type StateDocument, standingOf } from "../../../core/state/document.js";
import { documentOfActivation } from "../../../machines/activation.js";
import type { TimelineHandle } from "../../timeline.js";
import { inTurns, turnOfLoop } from "../../turns.js";
import type { ChangedJob, PlanReport, SupervisorPorts } from "../port.js";
import { type JobEntry, ruleHashOf } from "../rows/job-entry.js";
import type { JobSet } from "../rows/job-set.js";
import type { SupervisorCore } from "../run/core.js";
import { carriedBy, lastVersion, placeholderDefinition, versionAfter } from "./last-version.js";
import { MachineBoot } from "./machine-boot.js";
import { type ChangeInput, changedJob, type Difference, differenceOf } from "./plan-report.js";
import type { Wanted } from "./survey.js";
import type { WantedJobs } from "./wanted-jobs.js";

/** A store may answer at once: without turns of the loop, a change of every job would hold it up until the last one. */
const REPORTED_PER_TURN = 16;

/** What is to become of the jobs. */
export interface Change {
  readonly report: PlanReport;
  readonly kept: readonly string[];
  act(): Promise<void>;
}

export class Reload {
  constructor(
    private readonly ports: SupervisorPorts,
    private readonly core: SupervisorCore,
    private readonly jobs: JobSet,
    private readonly settings: () => Settings,
  ) {}

  /** Computed once, and told as it will be done: nothing has changed until `apply`. */
  async plan(wanted: Wanted, keeps: (identity: string) => boolean): Promise<Change> {
    if (wanted === "as-stored") return { report: this.nothing(), kept: [], act: async () => undefined };
    const difference = await differenceOf(this.jobs.rows, wanted, keeps);
    const report = await this.report(wanted, difference);
    return { report, kept: difference.kept, act: () => this.change(wanted, difference) };
  }

  /** Resolves when every job that is concerned has been told, and that is durable. */
  async apply({ report, act }: Change): Promise<PlanReport> {
    await act();
    const { added, removed, changed, unchanged } = report;
    const fields = { added: added.length, removed: removed.length, changed: changed.length, unchanged };
    const at = this.ports.clock.now();
    this.core.emit({ at, event: "config_reloaded", component: "config", level: "info", fields });
    return report;
  }

  private async change(wanted: WantedJobs, difference: Difference): Promise<void> {
    await inTurns(difference.added, (index) => this.define(wanted, index, true));
    await inTurns(difference.changed, (index) => this.define(wanted, index, false));
    await inTurns(difference.removed, (handle) => this.remove(handle));
  }

  private nothing(): PlanReport {
    return { added: [], removed: [], changed: [], unchanged: this.jobs.rows.presentCount };
  }

  async documentOf(identity: string): Promise<StateDocument> {
    const handle = this.jobs.handleOf(identity);
    const activation = handle === null ? null : (this.jobs.awakeAt(handle)?.activation ?? null);
    return activation === null ? this.core.records.documentOf(identity) : documentOfActivation(activation);
  }

  private async report(wanted: WantedJobs, difference: Difference): Promise<PlanReport> {
    const { added, removed, unchanged } = difference;
    const changed: ChangedJob[] = [];
    for (const index of difference.changed) {
      changed.push(await this.changeOf(wanted, index));
      if (changed.length % REPORTED_PER_TURN === 0) await turnOfLoop();
    }
    const { names } = this.jobs.rows;
    return {
      added: added.map((index) => wanted.identityAt(index)),
      removed: removed.map((handle) => names.identityOf(handle)),
      changed,
      unchanged,
    };
  }

  private async changeOf(wanted: WantedJobs, index: number): Promise<ChangedJob> {
    const after = wanted.definitionAt(index);
    const { definition } = await lastVersion(after.identity, this.ports.store);
    const before = definition ?? after;
    const document = await this.documentOf(after.identity);
    const input = {
      before: ruleOf(before),
      after: ruleOf(after),
      standing: standingOf(document),
      policy: after.policy,
    };
    return changedJob(input, this.ports.clock.now());
  }

  /** The old rule says what is carried over; from this message on the new one is in force. */
  private async define(wanted: WantedJobs, index: number, isAdded: boolean): Promise<void> {
    const identity = wanted.identityAt(index);
    const last = await lastVersion(identity, this.ports.store);
    // Read before there is a row: nobody may reach a job that has no definition yet.
    const isNew = isAdded && last.definedAt === null && (await this.core.records.storedDocument(identity)) === null;
    const entry = isAdded ? this.jobs.add(identity) : this.jobs.present(identity);
    if (entry === null) return;
    const definition = wanted.definitionAt(index);
    entry.isRemoved = false;
    this.jobs.rows.setContent(entry.handle, wanted.contentHashAt(index));
    this.core.executor.unprepare(entry);
    const version = versionAfter(last, identity, wanted.textAt(index), this.ports.clock.now());
    const machine = MachineBoot.ofReload(this.ports, this.core);
    if (isNew && (await this.core.greet(entry, { definition, version }))) {
      await machine.tell(entry, definition);
      return;
    }
    if (isNew && !entry.isLoaded) entry.use(definition, this.settings());
    const definitions = [version];
    await this.core.ask(entry, {
      event: (told, now) => {
        const carriedAt = isAdded ? null : carriedBy(told.definition, documentIn(told), now);
        told.use(definition, this.settings());
        return { type: "DEFINE", hash: ruleHashOf(definition), carriedAt };
      },
      now: null,
      along: { definitions },
    });
    await machine.tell(entry, definition);
  }

  private async remove(handle: TimelineHandle): Promise<void> {
    const identity = this.jobs.rows.names.identityOf(handle);
    const last = await lastVersion(identity, this.ports.store);
    const entry = this.jobs.present(identity);
    if (entry === null) return;
    this.core.executor.unprepare(entry);
    entry.isRemoved = true;
    if (!entry.isLoaded) entry.use(last.definition ?? placeholderDefinition(identity), this.settings());
    const definitions = [versionAfter(last, identity, null, this.ports.clock.now())];
    await this.core.ask(entry, { event: () => ({ type: "REMOVE" }), now: null, along: { definitions } });
  }
}

function documentIn({ identity, activation }: JobEntry): StateDocument {
  if (activation === null) throw new Error(`invariant broken: ${identity} is told while it is not live`);
  return documentOfActivation(activation);
}

function ruleOf(definition: JobDefinition): ChangeInput["before"] {
  return { definition, compiled: compileRule(definition), isSuspended: definition.policy.suspend };
}
