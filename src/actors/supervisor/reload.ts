/** Another set of definitions while the daemon runs: what it would change (S16), and the change itself (S16, S35). */
import type { Settings } from "../../core/config/settings.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { canonicalDefinitionText } from "../../core/job/schema.js";
import { lastHandledAt, type StateDocument } from "../../core/state/document.js";
import { documentOfActivation } from "../../machines/activation.js";
import { inChunks } from "./chunks.js";
import type { SupervisorCore } from "./core.js";
import { type JobEntry, ruleHashOf, scopeOf } from "./job-entry.js";
import type { JobSet } from "./job-set.js";
import { changedJob, differenceOf, planReport } from "./plan-report.js";
import type { PlanReport, SupervisorPorts } from "./port.js";
import { carriedBy } from "./recovery.js";

export class Reload {
  constructor(
    private readonly ports: SupervisorPorts,
    private readonly core: SupervisorCore,
    private readonly jobs: JobSet,
    private readonly settings: () => Settings,
  ) {}

  async plan(definitions: readonly JobDefinition[]): Promise<PlanReport> {
    const difference = differenceOf(this.jobs.definitions(), definitions, new Set());
    const now = this.ports.clock.now();
    const changed = [];
    for (const { before, after } of difference.changed) {
      const document = await this.documentOf(before.identity);
      const [one, other] = [scopeOf(before, this.settings()), scopeOf(after, this.settings())];
      const compiled = { compiledBefore: one.compiled, compiledAfter: other.compiled };
      changed.push(changedJob({ before, after, ...compiled, lastHandledAt: lastHandledAt(document) }, now));
    }
    return planReport(difference, changed);
  }

  /** Resolves when every job that is concerned has been told, and that is durable. */
  async apply(definitions: readonly JobDefinition[], kept: readonly string[]): Promise<PlanReport> {
    const report = await this.plan([...definitions, ...this.keptDefinitions(kept, definitions)]);
    const difference = differenceOf(this.jobs.definitions(), definitions, new Set(kept));
    await inChunks(difference.added, (definition) => this.add(definition));
    await inChunks(difference.changed, ({ after }) => this.redefine(after));
    await inChunks(difference.removed, (identity) => this.remove(identity));
    const { added, removed, changed, unchanged } = report;
    const fields = { added: added.length, removed: removed.length, changed: changed.length, unchanged };
    const at = this.ports.clock.now();
    this.core.emit({ at, event: "config_reloaded", component: "config", level: "info", fields });
    return report;
  }

  async documentOf(identity: string): Promise<StateDocument> {
    const activation = this.jobs.get(identity)?.activation ?? null;
    return activation === null ? this.core.documentOf(identity) : documentOfActivation(activation);
  }

  private keptDefinitions(kept: readonly string[], definitions: readonly JobDefinition[]): JobDefinition[] {
    const named = new Set(definitions.map(({ identity }) => identity));
    return kept.flatMap((identity) => (named.has(identity) ? [] : (this.jobs.get(identity)?.definition ?? [])));
  }

  private add(definition: JobDefinition): Promise<void> {
    const entry = this.jobs.get(definition.identity) ?? this.jobs.add(definition, this.settings());
    entry.isRemoved = false;
    return this.define(entry, definition, () => null);
  }

  private async redefine(definition: JobDefinition): Promise<void> {
    const entry = this.jobs.present(definition.identity);
    if (entry === null) return;
    this.core.executor.unprepare(entry);
    await this.define(entry, definition, (now) => {
      const { activation } = entry;
      if (activation === null) throw new Error(`invariant broken: ${entry.identity} is told while it is not live`);
      return carriedBy(entry.definition, documentOfActivation(activation), now);
    });
  }

  /** The old rule says what is carried over; from this message on the new one is in force. */
  private define(
    entry: JobEntry,
    definition: JobDefinition,
    carriedAtOf: (now: number) => number | null,
  ): Promise<void> {
    const { identity } = definition;
    const text = canonicalDefinitionText(definition);
    this.core.note({ definitions: [{ identity, definedAt: this.ports.clock.now(), text }] });
    return this.core.ask(entry, {
      event: (_, now) => {
        const carriedAt = carriedAtOf(now);
        entry.definition = definition;
        entry.scope = scopeOf(definition, this.settings());
        return { type: "DEFINE", hash: ruleHashOf(definition), carriedAt };
      },
      now: null,
    });
  }

  private async remove(identity: string): Promise<void> {
    const entry = this.jobs.present(identity);
    if (entry === null) return;
    this.core.executor.unprepare(entry);
    entry.isRemoved = true;
    this.core.note({ definitions: [{ identity, definedAt: this.ports.clock.now(), text: null }] });
    await this.core.ask(entry, { event: () => ({ type: "REMOVE" }), now: null });
  }
}
