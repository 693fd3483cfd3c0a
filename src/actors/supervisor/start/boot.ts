/**
 * What happens before anything is scheduled: everything on record is surveyed, what ran is adopted or closed, definitions
 * that are new or have changed are told to their jobs, and jobs that are gone keep their state (S13, S16, S27, S29, S32).
 * Most jobs of most starts need none of that: they rest on, and the start costs what reading them costs.
 */

import { KronError } from "../../../core/base/errors/kron-error.js";
import { isEndpoint } from "../../../core/base/identity.js";
import type { Settings } from "../../../core/config/settings.js";
import { contentHashOf } from "../../../core/job/content-hash.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { canonicalDefinitionText } from "../../../core/job/schema.js";
import { type EpochMs, formatSecond } from "../../../core/time/instant.js";
import type { CorruptDocument } from "../../../persist/load.js";
import type { TimelineHandle } from "../../timeline.js";
import { inTurns } from "../../turns.js";
import { CLOCK_JUMP_MS } from "../../waker.js";
import type { SupervisorPorts } from "../port.js";
import { ruleHashOf } from "../rows/job-entry.js";
import type { JobSet } from "../rows/job-set.js";
import type { SupervisorCore } from "../run/core.js";
import type { Schedule } from "../run/schedule.js";
import { carriedBy, type LastVersion, lastVersion, placeholderDefinition, versionAfter } from "./last-version.js";
import { MachineBoot } from "./machine-boot.js";
import { planHere } from "./plan-here.js";
import { recoverUnusable } from "./recovery.js";
import { Survey, type Wanted } from "./survey.js";
import { takeLeft } from "./take-left.js";
import type { WantedJobs } from "./wanted-jobs.js";

const NOTHING_KNOWN: LastVersion = { definition: null, text: null, isIntact: true, isInForce: false, definedAt: null };

export class Boot {
  readonly #ports: SupervisorPorts;
  readonly #core: SupervisorCore;
  readonly #jobs: JobSet;
  readonly #schedule: Schedule;
  readonly #settings: Settings;
  #isClockBehind = false;
  #unread: number | null = null;

  constructor(ports: SupervisorPorts, core: SupervisorCore, jobs: JobSet, schedule: Schedule, settings: Settings) {
    this.#ports = ports;
    this.#core = core;
    this.#jobs = jobs;
    this.#schedule = schedule;
    this.#settings = settings;
  }

  /** The clock shows less than what is on record: some jobs may be ahead of it. */
  get isClockBehind(): boolean {
    return this.#isClockBehind;
  }

  /** Jobs that rest on by what the daemon before has left; null: all were read. */
  get unread(): number | null {
    return this.#unread;
  }

  /** Rejects with the KronError that refuses the start. */
  async run(wanted: Wanted, now: EpochMs, onReady: () => void): Promise<void> {
    const survey = new Survey(this.#jobs.rows, wanted, (handle) => this.#schedule.placeResting(handle));
    if (wanted !== "as-stored") this.#reserve(wanted.size);
    const toSurvey = { now, onCount: (documents: number) => this.#reserve(documents) };
    this.#unread = await takeLeft(this.#ports.store, survey, toSurvey);
    if (this.#unread === null) {
      await (this.#ports.plan ?? planHere)(this.#ports.store, { ...toSurvey, onPage: (page) => survey.take(page) });
    }
    await this.#mustBeReadable(survey, (identity) => wanted === "as-stored" || isEndpoint(identity));
    this.#announceCorrupt(
      await recoverUnusable(survey, { ports: this.#ports, wanted, now, settings: this.#settings }),
      now,
    );
    this.#compareClock(await this.#lastSignAt(), now);
    await this.#ports.store.commit(this.#ports.term, { alive: { bootedAt: now, at: now } });
    const newcomers = await survey.newcomers();
    for (const handles of [survey.toTell, newcomers]) {
      for (const handle of handles) this.#jobs.rows.setUntold(handle, true);
    }
    for (const identity of survey.running) await this.#recoverRuns(identity, wanted);
    await this.#core.whenIdle();
    await inTurns(survey.missing, (identity) => this.#retire(identity));
    const machine = await MachineBoot.ofStart(this.#ports, this.#core);
    onReady();
    await inTurns(survey.toTell, (handle) => this.#introduce(handle, wanted, true, machine));
    // Of what is on record already, nobody is new.
    if (wanted !== "as-stored") await inTurns(newcomers, (handle) => this.#greet(handle, wanted, machine));
    await machine.settle();
    this.#core.lost.started();
  }

  /** S6: a clock that went back while nobody was there is found out by the marks of who was there last. */
  #compareClock(lastSignAt: EpochMs | null, now: EpochMs): void {
    this.#core.lost.starting(lastSignAt, now);
    if (lastSignAt === null || lastSignAt - now <= CLOCK_JUMP_MS) return;
    this.#isClockBehind = true;
    const fields = { jump_ms: now - lastSignAt, last_sign_of_life: formatSecond(lastSignAt) };
    this.#core.emit({ at: now, event: "clock_jump", component: "scheduler", level: "warn", fields });
  }

  /** Of the daemon before: its newest mark of being alive (S36). null: there was none. */
  async #lastSignAt(): Promise<EpochMs | null> {
    const { store } = this.#ports;
    const spans = await store.aliveSpans(null, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    return spans.reduce<EpochMs | null>((last, { at }) => (last === null || at > last ? at : last), null);
  }

  /** Growing by and by would hold up the loop, the longer the more jobs there are. */
  #reserve(jobs: number): void {
    this.#jobs.rows.reserve(jobs);
    this.#schedule.reserve(jobs);
  }

  /** The survey looks at no definition of what runs or is corrupt; taken for undefined, a job would be removed or left out. */
  async #mustBeReadable(survey: Survey, isStored: (identity: string) => boolean): Promise<void> {
    const unreadable = survey.unreadable.filter(isStored);
    const unseen = [...survey.running, ...survey.unusable.flatMap((one) => one.identity ?? [])];
    for (const identity of unseen.filter(isStored)) {
      const { definition, isIntact, isInForce } = await lastVersion(identity, this.#ports.store);
      if (!isIntact || (isInForce && definition === null)) unreadable.push(identity);
    }
    if (unreadable.length > 0) throw unreadableDefinition(unreadable);
  }

  #announceCorrupt(corrupt: readonly CorruptDocument[], at: EpochMs): void {
    for (const { identity, copy, message, key } of corrupt) {
      const about = { component: "persist", ...(identity === undefined ? {} : { identity }) } as const;
      const error = new KronError("state-document-corrupt", message, { ...about, operation: "load" });
      this.#core.emit({
        at,
        event: "state_recovered",
        level: "error",
        ...about,
        error,
        fields: { document: key, copy },
      });
    }
  }

  async #recoverRuns(identity: string, wanted: Wanted): Promise<void> {
    const document = await this.#core.records.documentOf(identity);
    const known = this.#jobs.get(identity);
    const entry = known ?? this.#jobs.add(identity);
    // A job that is not configured any more is watched only for what it started.
    if (known === null) entry.isRemoved = true;
    const last = await lastVersion(identity, this.#ports.store);
    const kept = last.definition ?? placeholderDefinition(identity);
    entry.use(known === null ? unretried(kept) : (wantedDefinition(identity, wanted) ?? kept), this.#settings);
    await this.#core.adopt(entry, document);
  }

  async #greet(handle: TimelineHandle, wanted: WantedJobs, machine: MachineBoot): Promise<void> {
    const entry = this.#jobs.at(handle);
    entry.isUntold = false;
    const index = wanted.indexOf(entry.identity);
    const definition = wanted.definitionAt(index);
    const version = versionAfter(NOTHING_KNOWN, entry.identity, wanted.textAt(index), this.#ports.clock.now());
    if (await this.#core.greet(entry, { definition, version })) await machine.tell(entry, definition);
    else await this.#introduce(handle, wanted, false, machine);
  }

  /** First sight, the first sight of a change that was made while nobody was there (S14), or just a return (S13). */
  async #introduce(handle: TimelineHandle, wanted: Wanted, isOnRecord: boolean, machine: MachineBoot): Promise<void> {
    const { identity } = this.#jobs.at(handle);
    const last = isOnRecord ? await lastVersion(identity, this.#ports.store) : NOTHING_KNOWN;
    const document = isOnRecord ? await this.#core.records.storedDocument(identity) : null;
    const entry = this.#jobs.at(handle);
    const definition = definitionOf(identity, wanted, last);
    entry.use(definition, this.#settings);
    entry.isUntold = false;
    const text = canonicalDefinitionText(definition);
    entry.content = contentHashOf(text);
    const now = this.#ports.clock.now();
    const isSame = last.isInForce && (last.text === text || isEqual(last.definition, text));
    const along = isSame ? {} : { along: { definitions: [versionAfter(last, identity, text, now)] } };
    const hash = ruleHashOf(definition);
    const isSameRule = document !== null && document.RemovedAt === undefined && document.DefinitionHash === hash;
    if (isSameRule) {
      // First of all: nothing of the boot before is to be taken up again.
      await machine.tell(entry, definition);
      const event = isSame
        ? ({ type: "WAKE", isReturning: true, nominalAt: null } as const)
        : ({ type: "DEFINE", hash, carriedAt: null } as const);
      await this.#core.ask(entry, { event: () => event, now: null, ...along });
    } else {
      const carriedAt = document === null ? null : carriedBy(last.definition, document, now);
      await this.#core.ask(entry, { event: () => ({ type: "DEFINE", hash, carriedAt }), now: null, ...along });
      await machine.tell(entry, definition);
    }
  }

  async #retire(identity: string): Promise<void> {
    const last = await lastVersion(identity, this.#ports.store);
    // Nothing may come in between from here on: when what runs of it ends, its row goes with it.
    const entry = this.#jobs.get(identity) ?? this.#jobs.add(identity);
    const isToldAlready = entry.activation?.job.context.document.RemovedAt !== undefined;
    entry.isRemoved = true;
    if (isToldAlready) return;
    // To be removed takes no definition: a damaged one is no reason to refuse the start.
    if (!entry.isLoaded) entry.use(last.definition ?? placeholderDefinition(identity), this.#settings);
    const definitions = [versionAfter(last, identity, null, this.#ports.clock.now())];
    await this.#core.ask(entry, { event: () => ({ type: "REMOVE" }), now: null, along: { definitions } });
  }
}

/** S43: of a job that is gone nothing is tried again, and nothing is to say that it will be. */
function unretried(definition: JobDefinition): JobDefinition {
  const { retry: _, ...policy } = definition.policy;
  return { ...definition, policy };
}

/** null: what is on record is wanted, or nothing. */
function wantedDefinition(identity: string, wanted: Wanted): JobDefinition | null {
  const index = wanted === "as-stored" ? -1 : wanted.indexOf(identity);
  return wanted === "as-stored" || index < 0 ? null : wanted.definitionAt(index);
}

function definitionOf(identity: string, wanted: Wanted, last: LastVersion): JobDefinition {
  const definition = wantedDefinition(identity, wanted) ?? last.definition;
  if (definition === null) throw new Error(`invariant broken: ${identity} was read and cannot be read any more`);
  return definition;
}

/** Another version of the program may have written the same definition differently. */
function isEqual(definition: JobDefinition | null, text: string): boolean {
  return definition !== null && canonicalDefinitionText(definition) === text;
}

function unreadableDefinition(identities: readonly string[]): KronError {
  const [identity = ""] = identities;
  const message = `the definition on record of ${identities.length} jobs cannot be read`;
  return new KronError("definition-unreadable", message, { component: "persist", operation: "load", identity });
}
