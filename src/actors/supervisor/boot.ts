/**
 * What happens before anything is scheduled: every document is read, what ran is adopted or closed, definitions that are
 * new or have changed are told to their jobs, and jobs that are gone keep their state (S13, S16, S27, S29, S32).
 */
import type { Settings } from "../../core/config/settings.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { canonicalDefinitionText } from "../../core/job/schema.js";
import type { EpochMs } from "../../core/time/instant.js";
import { activate } from "../../machines/activation.js";
import { inChunks } from "./chunks.js";
import type { SupervisorCore } from "./core.js";
import { type JobEntry, ruleHashOf } from "./job-entry.js";
import type { JobSet } from "./job-set.js";
import type { SupervisorPorts } from "./port.js";
import { carriedBy, lastVersion, placeholderDefinition, type Recovered, readState } from "./recovery.js";

export class Boot {
  constructor(
    private readonly ports: SupervisorPorts,
    private readonly core: SupervisorCore,
    private readonly jobs: JobSet,
    private readonly settings: Settings,
  ) {}

  /** Rejects with the KronError that refuses the start. */
  async run(definitions: readonly JobDefinition[], now: EpochMs, onReady: () => void): Promise<void> {
    const wanted = new Map(definitions.map((definition) => [definition.identity, definition]));
    const recovered = await readState(wanted, this.ports, now, this.settings.history.keep);
    this.announceCorrupt(recovered, now);
    await this.ports.store.commit(this.ports.term, { alive: { bootedAt: now, at: now } });
    const entries = definitions.map((definition) => this.jobs.add(definition, this.settings));
    for (const identity of recovered.running) await this.recoverRuns(identity);
    await this.core.whenIdle();
    await inChunks(recovered.missing, (identity) => this.retire(identity, now));
    onReady();
    await inChunks(entries, (entry) => this.introduce(entry, recovered, now));
  }

  private announceCorrupt({ report }: Recovered, at: EpochMs): void {
    for (const { identity, copy, message, key } of report.corrupt) {
      const about = { component: "persist", level: "error", ...(identity === undefined ? {} : { identity }) } as const;
      this.core.emit({ at, event: "state_recovered", ...about, fields: { key, copy, message } });
    }
  }

  private async recoverRuns(identity: string): Promise<void> {
    const document = await this.core.documentOf(identity);
    const entry = this.jobs.get(identity) ?? (await this.strangerEntry(identity));
    entry.activation = activate(document, entry.scope);
    for (const { execution } of entry.activation.attempts) await this.core.executor.adopt(entry, execution);
  }

  /** A job that is not configured any more, watched only for what it started. */
  private async strangerEntry(identity: string): Promise<JobEntry> {
    const { definition } = await lastVersion(identity, this.ports, this.ports.clock.now());
    const entry = this.jobs.add(definition ?? placeholderDefinition(identity), this.settings);
    entry.isRemoved = true;
    return entry;
  }

  /** First sight, the first sight of a change that was made while nobody was there (S14), or just a return (S13). */
  private async introduce(entry: JobEntry, { known, inForce }: Recovered, now: EpochMs): Promise<void> {
    const { identity, definition } = entry;
    const last = known.has(identity) ? await lastVersion(identity, this.ports, now) : null;
    const before = last?.definition ?? null;
    const text = canonicalDefinitionText(definition);
    const isSame = last?.isInForce === true && before !== null && canonicalDefinitionText(before) === text;
    if (!isSame) this.core.note({ definitions: [{ identity, definedAt: now, text }] });
    if (inForce.has(identity)) {
      const event = { type: "WAKE", isReturning: true, nominalAt: null } as const;
      await this.core.ask(entry, { event: () => event, now: null });
      return;
    }
    const document = known.has(identity) ? await this.core.documentOf(identity) : null;
    const carriedAt = document === null ? null : carriedBy(before, document, now);
    const event = { type: "DEFINE", hash: ruleHashOf(definition), carriedAt } as const;
    await this.core.ask(entry, { event: () => event, now: null });
  }

  private async retire(identity: string, now: EpochMs): Promise<void> {
    const entry = this.jobs.get(identity) ?? (await this.strangerEntry(identity));
    this.core.note({ definitions: [{ identity, definedAt: now, text: null }] });
    await this.core.ask(entry, { event: () => ({ type: "REMOVE" }), now: null });
  }
}
