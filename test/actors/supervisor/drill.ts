/**
 * A piece of history that is played again and again, each time with another fault: jobs, what operators do at which second,
 * and what has to be true afterwards whatever broke.
 */

import type { SimulatedBehaviour } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import type { KronError } from "../../../src/core/base/errors/kron-error.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { compileRule } from "../../../src/core/decision/compile.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { activeStates } from "../../../src/core/state/document.js";
import { type EpochMs, formatInstant, MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { readWhy } from "../../../src/krond/state/why.js";
import { acquireMemoryLock } from "../../../src/persist/lock.js";
import { openMemoryStore } from "../../../src/persist/memory/store.js";
import type { Batch } from "../../../src/persist/store.js";
import { requireOk } from "../../support/results.js";
import { Faults } from "./faults.js";
import { START, World } from "./world.js";

export type Deed =
  | { readonly do: "reload"; readonly jobs: readonly JobDefinition[] }
  | { readonly do: "run" | "resume" | "cancel"; readonly identity: string }
  | { readonly do: "pause"; readonly identity: string; readonly forMs: number }
  | { readonly do: "kill" | "reboot" | "lose-launcher" }
  | { readonly do: "jump" | "freeze"; readonly byMs: number };

export interface Script {
  readonly jobs: readonly JobDefinition[];
  readonly behaviour?: (request: ProcessArm) => Partial<SimulatedBehaviour>;
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
  private jobs: readonly JobDefinition[];
  private readonly seen = new Map<string, JobDefinition>();
  /** Seconds until a dead daemon is started again. */
  downSeconds = 1;
  /** What ended a daemon, or refused its start. */
  readonly fatals: KronError[] = [];
  /** Steps that had been taken when something fatal happened: no process may be made or released after it. */
  private fatalAfter: number | null = null;
  private fatalSeconds = 0;
  private downFor = 0;

  constructor(private readonly script: Script) {
    const behaviour = script.behaviour;
    this.faults = new Faults(() => this.world);
    this.world = new World({
      between: (ports) => this.faults.between(ports),
      ...(behaviour === undefined ? {} : { behaviour }),
    });
    this.faults.onBatch = (batch) => this.look(batch);
    this.jobs = script.jobs;
  }

  /** Plays it to the end, starting the daemon again whenever it is dead. */
  async play(): Promise<this> {
    await this.boot();
    for (let second = 1; second <= this.script.seconds; second++) {
      const deed = this.script.deeds?.[second];
      if (deed !== undefined) await this.perform(deed);
      await this.second();
    }
    await this.revive();
    return this;
  }

  /** Whatever broke, in the end there is a daemon that works. */
  private async revive(): Promise<void> {
    this.faults.plan = () => null;
    if (this.world.isRunning && this.world.fatal === null) return;
    this.world.kill();
    await this.boot();
  }

  async second(): Promise<void> {
    this.world.clock.advance(SECOND_MS);
    await this.rest();
    this.noteFatal();
    if (this.world.isRunning) return;
    this.downFor += 1;
    if (this.downFor >= this.downSeconds) await this.boot();
  }

  async boot(): Promise<void> {
    this.downFor = 0;
    this.fatalAfter = null;
    for (const job of this.jobs) this.seen.set(job.identity, job);
    const booted = this.world.boot(this.jobs).catch((error: KronError) => {
      this.fatals.push(error);
      this.world.kill();
      this.faults.gates.clear();
    });
    await turnsUntil(booted);
    await this.rest();
  }

  /** A daemon that says it failed is left standing for a while, to see that it starts nothing any more; then it ends. */
  private noteFatal(): void {
    const { world, faults } = this;
    if (world.fatal === null || !world.isRunning) return;
    if (this.fatalAfter === null) {
      this.fatalAfter = faults.steps.length;
      this.fatals.push(world.fatal);
      this.fatalSeconds = 0;
    }
    const started = faults.steps.slice(this.fatalAfter).filter(({ name }) => name === "arm" || name === "go");
    if (started.length > 0) this.violations.push(`${started.length} starts after ${world.fatal.code}`);
    if (faults.gates.size > 0) this.violations.push(`${faults.gates.size} gates wait after ${world.fatal.code}`);
    this.fatalSeconds += 1;
    if (this.fatalSeconds < STANDING_SECONDS) return;
    world.kill();
    this.fatalAfter = null;
  }

  /** Nothing is waited for that takes time: a termination may need its grace. */
  async rest(): Promise<void> {
    await turnsUntil(this.world.settle());
  }

  async perform(deed: Deed): Promise<void> {
    const { world } = this;
    if (deed.do === "reload") this.jobs = deed.jobs;
    if (deed.do === "kill" || deed.do === "reboot") {
      world.kill();
      this.faults.gates.clear();
    }
    if (deed.do === "reboot") world.host.reboot();
    if (deed.do === "jump") world.clock.jump(deed.byMs);
    if (deed.do === "freeze") world.clock.freeze(deed.byMs);
    if (world.isRunning) this.ask(deed);
    await this.rest();
  }

  private ask(deed: Deed): void {
    const { supervisor } = this.world;
    const ignore = (): void => undefined;
    switch (deed.do) {
      case "reload":
        for (const job of deed.jobs) this.seen.set(job.identity, job);
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
      case "lose-launcher":
        this.world.loseLauncher();
        return;
      default:
        return;
    }
  }

  /** S12: what was handled stays handled. */
  private look(batch: Batch): void {
    for (const { key, text } of batch.documents ?? []) {
      const [before, next] = [handledIn(this.world.disk.documents.get(key)?.text), handledIn(text)];
      if (next < before) this.violations.push(`LastHandledPeriodID went back from ${before} to ${next}`);
    }
  }

  /** What ran, as the job was told: identity and period; a manual run is none of the job's own (S40). */
  executed(): string[] {
    const names = new Map(this.world.requests.map((request) => [request.attemptId, nameOf(request)]));
    return this.world.host.executions.map(({ attemptId }) => names.get(attemptId) ?? attemptId);
  }

  /** Everything that is wrong at the end; empty when all is well. */
  async verdict(): Promise<string[]> {
    const executed = this.executed();
    const twice = executed.filter((name, i) => executed.indexOf(name) !== i).map((name) => `${name} ran twice`);
    const unseen = [...this.unparsable(), ...this.strays(), ...this.leftGates()];
    return [...this.violations, ...twice, ...unseen, ...(await this.unexplained())];
  }

  /** What runs is on record, and what is on record runs. */
  private strays(): string[] {
    const onRecord = [...this.known()].flatMap((identity) => activeStates(this.world.document(identity)));
    const recorded = new Set(onRecord.map(({ AttemptID = "" }) => AttemptID));
    const running = new Set(this.world.host.running.map(({ attemptId }) => attemptId));
    const unrecorded = [...running].filter((id) => !recorded.has(id)).map((id) => `${id} runs, and is not on record`);
    const vanished = [...recorded].filter((id) => !running.has(id)).map((id) => `${id} is on record, and does not run`);
    return [...unrecorded, ...vanished];
  }

  private leftGates(): string[] {
    if (!this.world.isRunning) return [];
    const { armed } = this.world.supervisor.status();
    return armed === this.faults.gates.size ? [] : [`${this.faults.gates.size} gates wait, ${armed} are known`];
  }

  /** Of a job that no daemon lived long enough to see nothing is known. */
  private known(): Iterable<string> {
    return [...this.seen.keys()].filter((identity) => this.world.disk.definitions.has(identity));
  }

  private unparsable(): string[] {
    return [...this.known()].flatMap((identity) => {
      try {
        this.world.document(identity);
        return [];
      } catch (error) {
        return [`${identity}: ${String(error)}`];
      }
    });
  }

  /** S36: every period that was due has an outcome or a stated reason. */
  private async unexplained(): Promise<string[]> {
    const { world } = this;
    const [now, isAlive] = [world.clock.now(), world.isRunning];
    world.kill();
    const term = requireOk(acquireMemoryLock(world.disk));
    const reader = requireOk(openMemoryStore(term, world.disk));
    const open: string[] = [];
    const ledger = { ...SETTINGS_DEFAULTS.ledger, maxAgeMs: Number.MAX_SAFE_INTEGER };
    for (const identity of this.known()) {
      const definition = this.seen.get(identity);
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

function nameOf(request: ProcessArm): string {
  const { KRON_IDENTITY, KRON_PERIOD_ID } = request.env;
  return `${KRON_IDENTITY}@${KRON_PERIOD_ID}${isManual(request) ? " by hand" : ""}`;
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

const UNANSWERED: ReadonlySet<string> = new Set(["unknown", "waiting", "not_yet", "older_than_ledger", "not known"]);

/** Asked about: all of a short history, both ends of a long one. */
const ENDS_MS = 100 * MINUTE_MS;

function* asked(definition: JobDefinition, from: EpochMs, to: EpochMs): Iterable<EpochMs> {
  const { schedule } = compileRule(definition);
  yield* schedule.between(from, Math.min(to, from + ENDS_MS));
  yield* schedule.between(Math.max(from + ENDS_MS, to - ENDS_MS), to);
}
