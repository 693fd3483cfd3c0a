/**
 * A piece of history that is played again and again, each time with another fault: jobs, what operators do at which second,
 * and what has to be true afterwards whatever broke.
 */

import type { RequestArm } from "../../../src/actors/dispatcher/port.js";
import type { SimulatedAnswer } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import type { SimulatedBehaviour } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import type { KronError } from "../../../src/core/base/errors/kron-error.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import type { Hint, HintKind } from "../../../src/core/governor/hint.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { activeStates } from "../../../src/core/state/document.js";
import { type EpochMs, formatInstant, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { readWhy } from "../../../src/operations/records/why.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { Batch, LedgerRecord } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";
import { farewellViolations } from "./farewell-laws.js";
import { Faults } from "./faults.js";
import { type HintSpan, slotViolations } from "./slot-laws.js";
import { type Begun, START, World } from "./world.js";

export type Deed =
  | { readonly do: "reload"; readonly jobs: readonly JobDefinition[] }
  | { readonly do: "run" | "resume" | "cancel"; readonly identity: string }
  | { readonly do: "pause"; readonly identity: string; readonly forMs: number }
  | { readonly do: "hint"; readonly identity: string; readonly hint: Hint }
  | { readonly do: "unhint"; readonly identity: string; readonly kind: HintKind | "all" }
  | { readonly do: "stop" | "kill" | "reboot" | "lose-launcher" }
  | { readonly do: "jump" | "freeze"; readonly byMs: number };

export interface Script {
  readonly jobs: readonly JobDefinition[];
  readonly behaviour?: (request: ProcessArm) => Partial<SimulatedBehaviour>;
  readonly answer?: (request: RequestArm) => Partial<SimulatedAnswer>;
  /** By second after the start. */
  readonly deeds?: Readonly<Record<number, Deed>>;
  readonly seconds: number;
}

/** How long a failed daemon is watched. */
const STANDING_SECONDS = 3;
/** Turns of the event loop that everything which begins in one second needs to come to rest. */
const TURNS = 40;

export class Drill {
  readonly world: World;
  readonly faults: Faults;
  readonly violations: string[] = [];
  /** After the verdict: what `why` says, by identity and period. */
  readonly answers = new Map<string, string>();
  #jobs: readonly JobDefinition[];
  readonly #seen = new Map<string, JobDefinition>();
  /** By attempt: the source and slot of its claim, as it went into a batch; absent for a period. */
  readonly #sources = new Map<string, { readonly source: string; readonly slot: string }>();
  readonly #hints: HintSpan[] = [];
  /** Seconds until a dead daemon is started again. */
  downSeconds = 1;
  /** Daemons that have left something for the next. */
  farewells = 0;
  /** What was left is thrown away: the next one reads everything. */
  forgetsFarewells = false;
  /** What ended a daemon, or refused its start. */
  readonly fatals: KronError[] = [];
  /** Steps that had been taken when something fatal happened: no process may be made or released after it. */
  #fatalAfter: number | null = null;
  #fatalSeconds = 0;
  #downFor = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
    const { behaviour, answer } = script;
    this.faults = new Faults(() => this.world);
    this.world = new World({
      between: (ports) => this.faults.between(ports),
      ...(behaviour === undefined ? {} : { behaviour }),
      ...(answer === undefined ? {} : { answer }),
    });
    this.faults.onBatch = (batch) => this.#look(batch);
    this.#jobs = script.jobs;
  }

  /** Plays it to the end, starting the daemon again whenever it is dead. */
  async play(): Promise<this> {
    await this.boot();
    for (let second = 1; second <= this.#script.seconds; second++) {
      const deed = this.#script.deeds?.[second];
      if (deed !== undefined) await this.perform(deed);
      await this.second();
    }
    await this.#revive();
    return this;
  }

  /** Whatever broke, in the end there is a daemon that works. */
  async #revive(): Promise<void> {
    this.faults.plan = () => null;
    if (this.world.isRunning && this.world.fatal === null) return;
    this.world.kill();
    await this.boot();
  }

  async second(): Promise<void> {
    this.world.clock.advance(SECOND_MS);
    await this.rest();
    this.#noteFatal();
    if (this.world.isRunning) return;
    this.#downFor += 1;
    if (this.#downFor >= this.downSeconds) await this.boot();
  }

  async boot(): Promise<void> {
    this.#downFor = 0;
    this.#fatalAfter = null;
    for (const job of this.#jobs) this.#seen.set(job.identity, job);
    const booted = this.world.boot(this.#jobs).catch((error: KronError) => {
      this.fatals.push(error);
      this.world.kill();
      this.faults.gates.clear();
    });
    await turnsUntil(booted);
    await this.rest();
  }

  /** A daemon that says it failed is left standing for a while, to see that it starts nothing any more; then it ends. */
  #noteFatal(): void {
    const { world, faults } = this;
    if (world.fatal === null || !world.isRunning) return;
    if (this.#fatalAfter === null) {
      this.#fatalAfter = faults.steps.length;
      this.fatals.push(world.fatal);
      this.#fatalSeconds = 0;
    }
    const started = faults.steps.slice(this.#fatalAfter).filter(({ name }) => name === "arm" || name === "go");
    if (started.length > 0) this.violations.push(`${started.length} starts after ${world.fatal.code}`);
    if (faults.gates.size > 0) this.violations.push(`${faults.gates.size} gates wait after ${world.fatal.code}`);
    this.#fatalSeconds += 1;
    if (this.#fatalSeconds < STANDING_SECONDS) return;
    world.kill();
    this.#fatalAfter = null;
  }

  /** Nothing is waited for that takes time: a termination may need its grace. */
  async rest(): Promise<void> {
    await turnsUntil(this.world.settle());
  }

  async perform(deed: Deed): Promise<void> {
    const { world } = this;
    if (deed.do === "reload") this.#jobs = deed.jobs;
    if (deed.do === "stop") await this.#stop();
    if (deed.do === "kill" || deed.do === "reboot") {
      world.kill();
      this.faults.gates.clear();
    }
    if (deed.do === "reboot") world.host.reboot();
    if (deed.do === "jump") world.clock.jump(deed.byMs);
    if (deed.do === "freeze") world.clock.freeze(deed.byMs);
    if (world.isRunning) this.#ask(deed);
    await this.rest();
  }

  /** What it leaves for the next one is compared with what is on record. */
  async #stop(): Promise<void> {
    const { world } = this;
    if (!world.isRunning) return;
    await world.stop();
    this.faults.gates.clear();
    if (world.disk.farewell !== null) this.farewells += 1;
    this.violations.push(...(await farewellViolations(world.disk, world.clock.now())));
    if (this.forgetsFarewells) world.disk.farewell = null;
  }

  #ask(deed: Deed): void {
    const { supervisor } = this.world;
    const ignore = (): void => undefined;
    switch (deed.do) {
      case "reload":
        for (const job of deed.jobs) this.#seen.set(job.identity, job);
        supervisor.reload(deed.jobs, SETTINGS_DEFAULTS, []).catch(ignore);
        return;
      case "run":
        supervisor.runNow(deed.identity).catch(ignore);
        return;
      case "resume":
        supervisor.resume(deed.identity).catch(ignore);
        return;
      case "cancel":
        supervisor.cancel(deed.identity).catch(ignore);
        return;
      case "pause":
        supervisor.pause(deed.identity, this.world.clock.now() + deed.forMs, "drill").catch(ignore);
        return;
      case "hint":
        this.#hint(deed.identity, deed.hint);
        return;
      case "unhint":
        this.#unhint(deed.identity, deed.kind);
        return;
      case "lose-launcher":
        this.world.loseLauncher();
        return;
      default:
        return;
    }
  }

  /** Whether it was set is certain only when the daemon lived to say so. */
  #hint(identity: string, hint: Hint): void {
    const { clock, supervisor } = this.world;
    const span: HintSpan = { identity, hint, askedAt: clock.now(), setAt: null, clearedAt: null, isCleared: false };
    this.#hints.push(span);
    const note = (answer: string): void => {
      if (answer === "set") span.setAt = clock.now();
    };
    supervisor.hint(identity, hint).then(note, () => undefined);
  }

  #unhint(identity: string, kind: HintKind | "all"): void {
    const { clock, supervisor } = this.world;
    const isMeant = (span: HintSpan): boolean => {
      return span.identity === identity && (kind === "all" || span.hint.kind === kind);
    };
    const spans = this.#hints.filter(isMeant);
    for (const span of spans) span.clearedAt ??= clock.now();
    const note = (): void => {
      for (const span of spans) span.isCleared = true;
    };
    supervisor.clearHints(identity, kind).then(note, () => undefined);
  }

  /** S12: what was handled stays handled. */
  #look(batch: Batch): void {
    for (const { text } of batch.documents ?? []) this.#noteSources(text);
    for (const { key, text } of batch.documents ?? []) {
      const [before, next] = [handledIn(this.world.disk.documents.get(key)?.text), handledIn(text)];
      if (next < before) this.violations.push(`LastHandledPeriodID went back from ${before} to ${next}`);
    }
    const { ledger = [] } = batch;
    // S46: with another definition, what could not be started counts as never tried.
    const defined = new Set(ledger.flatMap(({ identity, kind }) => (kind === "defined" ? identity : [])));
    for (const record of ledger) if (!defined.has(record.identity)) this.#judgeTried(record);
  }

  /** S24: of a period that is on record as one that cannot be started nothing else is told than that. */
  #judgeTried({ identity, at, kind, text }: LedgerRecord): void {
    if (kind !== "gap" && kind !== "period") return;
    const triedAt = triedIn(this.world.disk.documents.get(documentKey(identity))?.text);
    if (triedAt === null) return;
    const content = JSON.parse(text) as Record<string, unknown>;
    const name = `${identity}@${formatInstant(triedAt)}`;
    if (kind === "gap" && at <= triedAt && triedAt <= Date.parse(String(content["last"]))) {
      this.violations.push(`${name} was tried, and is told as one that nobody looked at`);
    }
    const reason = String(content["reason"]);
    if (kind !== "period" || at !== triedAt || content["outcome"] !== "missed" || reason === "late_start") return;
    // What stood in the way when it was tried last may be something else, and not on record before it is missed for it.
    if (!reason.startsWith("not_started:")) this.violations.push(`${name} was missed for ${reason}`);
  }

  /** A document that a fault has damaged says nothing. */
  #noteSources(text: string | null): void {
    for (const { AttemptID = "", Source, PeriodID } of text === null ? [] : activeIn(text)) {
      if (Source !== undefined) this.#sources.set(AttemptID, { source: Source, slot: PeriodID });
    }
  }

  /** What ran, by identity and period; what did not come from a period says where it came from (S40). */
  executed(): string[] {
    return this.world.begun.map((begun) => this.#nameOf(begun));
  }

  #nameOf({ attemptId, identity, periodId }: Begun): string {
    const slot = this.#sources.get(attemptId);
    return slot === undefined ? `${identity}@${periodId}` : `${identity}@${slot.slot} by ${slot.source}`;
  }

  /** Everything that is wrong at the end; empty when all is well. */
  async verdict(): Promise<string[]> {
    const executed = this.executed();
    const twice = executed.filter((name, i) => executed.indexOf(name) !== i).map((name) => `${name} ran twice`);
    const early = this.world.begun.filter(({ isOnRecord }) => !isOnRecord);
    const unclaimed = early.map((begun) => `${this.#nameOf(begun)} began before its claim was durable`);
    const unseen = [...this.#unparsable(), ...this.#strays(), ...this.#leftGates()];
    return [...this.violations, ...twice, ...unclaimed, ...unseen, ...this.#slots(), ...(await this.#unexplained())];
  }

  /** S40-S42: of slots there is more to know than that none was used twice. */
  #slots(): string[] {
    const begun = this.world.begun.map((each) => {
      return { ...each, source: this.#sources.get(each.attemptId)?.source ?? null };
    });
    return [...this.#known()].flatMap((identity) => {
      const definition = this.#seen.get(identity);
      if (definition === undefined) return [];
      return slotViolations({
        definition,
        document: this.world.document(identity),
        begun: begun.filter((each) => each.identity === identity),
        hints: this.#hints.filter((span) => span.identity === identity),
        now: this.world.clock.now(),
        bootId: this.world.host.bootId,
      });
    });
  }

  /** What runs is on record, and what is on record runs. */
  #strays(): string[] {
    const onRecord = [...this.#known()].flatMap((identity) => activeStates(this.world.document(identity)));
    const recorded = new Set(onRecord.map(({ AttemptID = "" }) => AttemptID));
    const processes = this.world.host.running.map(({ attemptId }) => attemptId);
    const running = new Set([...processes, ...this.world.inFlight]);
    const unrecorded = [...running].filter((id) => !recorded.has(id)).map((id) => `${id} runs, and is not on record`);
    const vanished = [...recorded].filter((id) => !running.has(id)).map((id) => `${id} is on record, and does not run`);
    return [...unrecorded, ...vanished];
  }

  #leftGates(): string[] {
    if (!this.world.isRunning) return [];
    const { armed } = this.world.supervisor.status();
    return armed === this.faults.gates.size ? [] : [`${this.faults.gates.size} gates wait, ${armed} are known`];
  }

  /** Of a job that no daemon lived long enough to see nothing is known. */
  #known(): Iterable<string> {
    return [...this.#seen.keys()].filter((identity) => this.world.disk.definitions.has(identity));
  }

  #unparsable(): string[] {
    return [...this.#known()].flatMap((identity) => {
      try {
        this.world.document(identity);
        return [];
      } catch (error) {
        return [`${identity}: ${String(error)}`];
      }
    });
  }

  /** S36: every period that was due has an outcome or a stated reason. */
  async #unexplained(): Promise<string[]> {
    const { world } = this;
    const [now, isAlive] = [world.clock.now(), world.isRunning];
    world.kill();
    const term = requireOk(acquireMemoryLock(world.disk));
    const reader = requireOk(openMemoryStore(term, world.disk));
    const open: string[] = [];
    const ledger = { ...SETTINGS_DEFAULTS.ledger, maxAgeMs: Number.MAX_SAFE_INTEGER };
    for (const identity of this.#known()) {
      const definition = this.#seen.get(identity);
      if (definition === undefined) continue;
      for (const periodAt of asked(definition, START, now - MINUTE_MS)) {
        const answer = await readWhy(reader, { identity, periodAt, now, ledger, isAlive });
        const name = `${identity}@${formatInstant(periodAt)}`;
        const kind = answer?.kind ?? "not known";
        this.answers.set(name, kind);
        if (UNANSWERED.has(kind)) open.push(`${name} is ${kind}`);
      }
    }
    term.release();
    return open;
  }
}

export function isManual({ output }: ProcessArm): boolean {
  return output.to === "file" && output.name.includes(".manual.");
}

interface ActiveText {
  readonly AttemptID?: string;
  readonly Source?: string;
  readonly PeriodID: string;
}

function activeIn(text: string): readonly ActiveText[] {
  try {
    const { ActiveExecution, OtherActive = [] } = JSON.parse(text) as Record<
      string,
      readonly ActiveText[] | ActiveText
    >;
    return [ActiveExecution ?? [], OtherActive].flat();
  } catch {
    return [];
  }
}

async function turnsUntil(done: Promise<unknown>): Promise<void> {
  let isDone = false;
  const noted = done.then(() => {
    isDone = true;
  });
  for (let turn = 0; turn < TURNS && !isDone; turn++) await new Promise((resolve) => setImmediate(resolve));
  void noted;
}

/** Of a document that is damaged nothing is known. */
function handledIn(text: string | null | undefined): string {
  return /"LastHandledPeriodID":\s*"([^"]*)"/.exec(text ?? "")?.[1] ?? "";
}

/** The period that cannot be started, as its document says. */
function triedIn(text: string | null | undefined): EpochMs | null {
  const found = /"StartFailure":\s*\{\s*"Source":\s*"cron",\s*"Slot":\s*"([^"]*)"/.exec(text ?? "");
  return found === null ? null : Date.parse(found[1] ?? "");
}

const UNANSWERED: ReadonlySet<string> = new Set(["unknown", "waiting", "not_yet", "older_than_ledger", "not known"]);

/** Asked about: all of a short history, both ends of a long one. */
const ENDS_MS = 100 * MINUTE_MS;

function* asked(definition: JobDefinition, from: EpochMs, to: EpochMs): Iterable<EpochMs> {
  const { schedule } = compileRule(definition);
  yield* schedule.between(from, Math.min(to, from + ENDS_MS));
  yield* schedule.between(Math.max(from + ENDS_MS, to - ENDS_MS), to);
}
