/**
 * A small world around the production machines, as values: a clock that may step either way, a disk, processes behind
 * gates, and a daemon that may die between any two effects. `successors` is everything that can happen next.
 */
import { compileRule } from "../../src/core/decision/compile.js";
import type { Hint } from "../../src/core/governor/hint.js";
import type { Policy, StopRule } from "../../src/core/job/definition.js";
import { define } from "../../src/core/state/definition-transitions.js";
import { activeStates, newDocument, type StateDocument } from "../../src/core/state/document.js";
import type { LedgerFact } from "../../src/core/state/facts.js";
import { formatInstant } from "../../src/core/time/instant.js";
import { type Activation, activate, type JobScope } from "../../src/machines/activation.js";
import type { OutwardEffect } from "../../src/machines/effects.js";
import type { Engine } from "../../src/machines/engine.js";
import type { ActivationEvent, Step, Stepper } from "../../src/machines/step.js";
import { at, birthAt, IDENTITY, policyOf, ruleOf } from "../support/scheduling.js";
import type { Protocol } from "./controls.js";
import { interner } from "./keys.js";
import { beginViolation, checked, commitViolation, nameOf, outcomesAfter } from "./laws.js";

/** Half a minute to a tick, a period every minute: ticks 0, 2 and 4 are the chosen times of the three periods. */
export const TICK_MS = 30_000;
export const EPOCH = at("2026-03-01T00:00:00Z");
const PERIODS = [0, 2, 4];

/** The nominal times of the job. */
export function periodsOf({ onceTick }: Pick<Bounds, "onceTick">): readonly number[] {
  return (onceTick === undefined ? PERIODS : [onceTick]).map((tick) => EPOCH + tick * TICK_MS);
}

export interface Write {
  readonly document: StateDocument;
  readonly facts: readonly LedgerFact[];
  readonly claimedBy: string | null;
}

export interface Daemon {
  readonly activation: Activation;
  /** Asked for, not yet durable, in order. */
  readonly writes: readonly Write[];
  /** Durable, not yet reported. */
  readonly durable: readonly string[];
  /** GO asked for, not yet written to the gate. */
  readonly goes: readonly { readonly attemptId: string; readonly latestAt: number }[];
  readonly terminations: readonly string[];
}

export interface Process {
  readonly attemptId: string;
  /** null for the job's own periods. */
  readonly source: string | null;
  readonly periodId: string;
  /** S43: of a further attempt. */
  readonly retry?: { readonly periodId: string; readonly attempt: number };
  readonly pid: number;
  /** S44: of a job that runs at boot, in which boot of the machine. */
  readonly boot?: number;
  /** `released`: GO lies in the pipe, and will be read whatever becomes of the daemon. */
  readonly phase: "gated" | "released" | "running";
  readonly latestAt: number;
}

export interface World {
  readonly tick: number;
  readonly daemon: Daemon | null;
  readonly disk: StateDocument;
  readonly processes: readonly Process[];
  /** By period: how often its command began. */
  readonly begun: Readonly<Record<string, number>>;
  /** By period: the outcome that became durable. */
  readonly outcomes: Readonly<Record<string, string>>;
  readonly gateLosses: number;
  readonly manualRuns: number;
  readonly hintsSet: number;
  /** How often the machine went down (S44). */
  readonly reboots: number;
  /** What must never be, as soon as it is. */
  readonly violation: string | null;
}

export interface Setting {
  /** Who holds the runs. A request lives and dies with its daemon: none is adopted. */
  readonly holder: "process" | "request";
  readonly scope: JobScope;
  /** The same object for activations that behave the same. */
  readonly intern: (activation: Activation) => Activation;
  readonly engine: Engine;
  readonly step: Stepper;
  readonly bounds: Bounds;
}

/** What keeps the world finite. */
export interface Bounds {
  /** The clock goes from 0 to here and back. */
  readonly lastTick: number;
  /** How often a gate may be lost: not made at all, or closed before GO. */
  readonly gateLosses: number;
  /** How often someone asks for one and the same manual run (S40). */
  readonly manualRuns: number;
  /** Set at any time, in this order (S41). */
  readonly hints?: readonly Hint[];
  /** What the runs are; processes, where it is not said. */
  readonly holder?: Setting["holder"];
  /** An interval in place of a period every minute (S40). */
  readonly everyTicks?: number;
  /** S43: runs fail, and are tried again a tick later, so often. */
  readonly retries?: number;
  /** S44: the job runs at boot, and the machine goes down so often. */
  readonly reboots?: number;
  /** It runs once, at this tick. */
  readonly onceTick?: number;
  /** S51: it stops by itself; every run fails. */
  readonly stop?: StopRule;
}

export function settingOf(policy: Partial<Policy>, bounds: Bounds, { engine, step }: Protocol): Setting {
  const scope: JobScope = {
    compiled: compileRule(ruleOf({ schedule: scheduleOf(bounds) })),
    policy: policyOf({ deadlineMs: TICK_MS, ...policy, ...retryOf(bounds), ...stopOf(bounds) }),
    timeoutMs: null,
    startGraceMs: TICK_MS,
    killGraceMs: 1000,
    historyLimit: 0,
  };
  const intern = interner();
  const { holder = "process" } = bounds;
  return { bounds, holder, scope, engine, intern, step: remembering(step, intern) };
}

function retryOf({ retries }: Bounds): Pick<Policy, "retry"> {
  const rule = { backoffMs: TICK_MS, maxBackoffMs: TICK_MS, on: ["exit", "unseen"] } as const;
  return retries === undefined ? {} : { retry: { limit: retries, ...rule } };
}

function stopOf({ stop }: Bounds): Pick<Policy, "stop"> {
  return stop === undefined ? {} : { stop };
}

function scheduleOf({ everyTicks, reboots, onceTick }: Bounds): string {
  if (onceTick !== undefined) return `@at ${formatInstant(EPOCH + onceTick * TICK_MS)}`;
  if (reboots !== undefined) return "@reboot";
  return everyTicks === undefined ? "* * * * *" : `@every ${(everyTicks * TICK_MS) / 1000}s`;
}

/** A step is pure, so that taking it once is enough: most worlds differ in what surrounds the daemon. */
function remembering(step: Stepper, intern: Setting["intern"]): Stepper {
  const known = new WeakMap<Activation, Map<string, Step>>();
  return (scope, activation, event, moment) => {
    const steps = known.get(activation) ?? new Map<string, Step>();
    known.set(activation, steps);
    const key = JSON.stringify([event, moment.now, moment.freshId({ source: null, periodId: "" })]);
    const seen = steps.get(key);
    if (seen !== undefined) {
      return seen;
    }
    const taken = step(scope, activation, event, moment);
    const remembered = { ...taken, activation: intern(taken.activation) };
    steps.set(key, remembered);
    return remembered;
  };
}

export const FIRST_WORLD: World = {
  tick: 0,
  daemon: null,
  disk: define(newDocument(IDENTITY), "h", null, EPOCH - TICK_MS, birthAt(EPOCH - TICK_MS)).document,
  processes: [],
  begun: {},
  outcomes: {},
  gateLosses: 0,
  manualRuns: 0,
  hintsSet: 0,
  reboots: 0,
  violation: null,
};

export interface Successor {
  readonly label: string;
  readonly world: World;
}

export function successors(setting: Setting, world: World): readonly Successor[] {
  const found: Successor[] = [];
  const add = (label: string, next: World): void => void found.push({ label, world: checked(next) });
  for (const tick of [world.tick + 1, world.tick - 1].filter((each) => each >= 0 && each <= setting.bounds.lastTick)) {
    add(`clock ${tick}`, { ...world, tick });
  }
  for (const process of world.processes) {
    for (const next of processSteps(setting, world, process)) {
      add(next.label, next.world);
    }
  }
  if (world.reboots < (setting.bounds.reboots ?? 0)) {
    add("reboot", { ...world, daemon: null, processes: [], reboots: world.reboots + 1 });
  }
  const { daemon } = world;
  if (daemon === null) {
    add("boot", boot(setting, world));
  } else {
    for (const next of daemonSteps(setting, world, daemon)) {
      add(next.label, next.world);
    }
  }
  return found;
}

function daemonSteps(setting: Setting, world: World, daemon: Daemon): readonly Successor[] {
  const found: Successor[] = [
    { label: "crash", world: crash(setting, world) },
    { label: "wake", world: tell(setting, world, { type: "WAKE", isReturning: false, nominalAt: null }) },
    { label: "wake, returning", world: tell(setting, world, { type: "WAKE", isReturning: true, nominalAt: null }) },
  ];
  if (world.manualRuns < setting.bounds.manualRuns) {
    const asked = { ...world, manualRuns: world.manualRuns + 1 };
    found.push({ label: "run", world: tell(setting, asked, { type: "RUN", source: "manual", slotAt: EPOCH }) });
  }
  const hint = setting.bounds.hints?.[world.hintsSet];
  if (hint !== undefined) {
    const asked = { ...world, hintsSet: world.hintsSet + 1 };
    found.push({ label: `hint ${hint.kind}`, world: tell(setting, asked, { type: "HINT", hint }) });
  }
  const [write] = daemon.writes;
  if (write !== undefined) {
    found.push({ label: `commit ${write.document.LastHandledPeriodID}`, world: commit(setting, world, daemon, write) });
  }
  const [attemptId] = daemon.durable;
  if (attemptId !== undefined) {
    const told = { ...world, daemon: { ...daemon, durable: daemon.durable.slice(1) } };
    found.push({ label: `durable ${attemptId}`, world: tell(setting, told, { type: "DURABLE", attemptId }) });
  }
  const [go] = daemon.goes;
  if (go !== undefined) {
    found.push({ label: `GO ${go.attemptId}`, world: release(setting, world, daemon, go) });
  }
  for (const ended of daemon.terminations) {
    found.push({ label: `terminated ${ended}`, world: terminated(setting, world, daemon, ended) });
  }
  return found;
}

function processSteps(setting: Setting, world: World, process: Process): readonly Successor[] {
  const { attemptId, pid } = process;
  if (process.phase === "running") {
    const code = setting.bounds.retries === undefined ? 0 : 1;
    const ending = { kind: "exited", code, signal: null, reason: null } as const;
    const left = without(world, attemptId);
    return [{ label: `exit ${attemptId}`, world: tell(setting, left, { type: "EXITED", attemptId, ending }) }];
  }
  if (process.phase === "released") {
    return [{ label: `gate ${attemptId}`, world: passGate(setting, world, process) }];
  }
  const found: Successor[] = [];
  if (isArming(world, attemptId)) {
    const { holder: kind } = setting;
    const holder = kind === "process" ? { kind, pid, startTicks: null, bootId: null } : { kind, pid };
    const event = { type: "READY", attemptId, holder } as const;
    found.push({ label: `ready ${attemptId}`, world: tell(setting, world, event) });
  }
  if (world.gateLosses < setting.bounds.gateLosses) {
    const lost = { ...without(world, attemptId), gateLosses: world.gateLosses + 1 };
    const event = { type: "FAILED", attemptId, code: "gate-failed" } as const;
    found.push({ label: `gate ${attemptId} lost`, world: tell(setting, lost, event) });
  }
  return found;
}

function isArming({ daemon }: World, attemptId: string): boolean {
  return (
    daemon?.activation.attempts.some(
      ({ execution }) => execution.context.attempt.attemptId === attemptId && execution.matches("arming"),
    ) === true
  );
}

/**
 * S23: every gate closes with the daemon; what was released or runs lives on, and what was not written is lost. Of requests
 * nothing is left: one that was sent was received, and nobody hears the answer.
 */
function crash({ holder }: Setting, world: World): World {
  const survives = ({ phase }: Process): boolean => holder === "process" && phase !== "gated";
  return { ...world, daemon: null, processes: world.processes.filter(survives) };
}

/** STATE crash recovery: from the disk alone; what is on record is adopted if it lives. */
function boot(setting: Setting, world: World): World {
  const activation = setting.intern(activate(world.disk, setting.scope, setting.engine));
  const daemon: Daemon = { activation, writes: [], durable: [], goes: [], terminations: [] };
  let booted: World = { ...world, daemon };
  for (const { execution } of activation.attempts) {
    const { attemptId } = execution.context.attempt;
    const process = world.processes.find((each) => each.attemptId === attemptId);
    if (process === undefined) {
      booted = tell(setting, booted, { type: "LOST", attemptId });
    } else if (process.phase === "running") {
      booted = tell(setting, booted, { type: "STARTED", attemptId });
    }
  }
  if (setting.bounds.reboots !== undefined) {
    booted = tell(setting, booted, { type: "BOOT", bootId: `b${world.reboots}`, isPast: false });
  }
  return tell(setting, booted, { type: "WAKE", isReturning: true, nominalAt: null });
}

function commit(setting: Setting, world: World, daemon: Daemon, write: Write): World {
  const { document, claimedBy } = write;
  const durable = claimedBy === null ? daemon.durable : [...daemon.durable, claimedBy];
  const outcomes = outcomesAfter(setting, world, write);
  const violation = world.violation ?? commitViolation(setting, world, { ...world, disk: document, outcomes }, write);
  return {
    ...world,
    disk: document,
    outcomes,
    violation,
    daemon: { ...daemon, writes: daemon.writes.slice(1), durable },
  };
}

function release(setting: Setting, world: World, daemon: Daemon, go: Daemon["goes"][number]): World {
  const { attemptId, latestAt } = go;
  const rest = { ...world, daemon: { ...daemon, goes: daemon.goes.slice(1) } };
  if (!world.processes.some((process) => process.attemptId === attemptId && process.phase === "gated")) {
    return tell(setting, rest, { type: "NOT_RUN", attemptId, reason: "unconfirmed" });
  }
  const processes = world.processes.map((process) =>
    process.attemptId === attemptId ? { ...process, phase: "released" as const, latestAt } : process,
  );
  return { ...rest, processes };
}

/** The gate reads GO: the command begins, or it is too late for it (S20). */
function passGate(setting: Setting, world: World, process: Process): World {
  const { attemptId, latestAt } = process;
  if (nowOf(world) > latestAt) {
    return tell(setting, without(world, attemptId), { type: "NOT_RUN", attemptId, reason: "late" });
  }
  const name = nameOf(process);
  const begun = { ...world.begun, [name]: (world.begun[name] ?? 0) + 1 };
  const violation = world.violation ?? beginViolation(setting, { ...world, begun }, process);
  const others = world.processes.filter((each) => each.attemptId !== attemptId);
  const processes = [...others, { ...process, phase: "running" as const }];
  return tell(setting, { ...world, begun, processes, violation }, { type: "STARTED", attemptId });
}

function terminated(setting: Setting, world: World, daemon: Daemon, attemptId: string): World {
  const rest = { ...daemon, terminations: daemon.terminations.filter((each) => each !== attemptId) };
  const ending = { kind: "exited", code: null, signal: "SIGTERM", reason: null } as const;
  const ended = tell(setting, without({ ...world, daemon: rest }, attemptId), { type: "EXITED", attemptId, ending });
  return tell(setting, ended, { type: "TERMINATED", attemptId, isGone: true });
}

/** Takes the event through the production step, and carries out what can be carried out at once. */
function tell(setting: Setting, world: World, event: ActivationEvent): World {
  if (world.daemon === null) {
    return world;
  }
  const id = freshId(world);
  const moment = { now: nowOf(world), gate: null, freshId: () => id };
  const { activation, effects } = setting.step(setting.scope, world.daemon.activation, event, moment);
  let next: World = { ...world, daemon: { ...world.daemon, activation } };
  for (const effect of effects) {
    next = carryOut(next, effect);
  }
  return next;
}

function carryOut(world: World, effect: OutwardEffect): World {
  const { daemon } = world;
  if (daemon === null) {
    return world;
  }
  switch (effect.type) {
    case "persist":
      return { ...world, daemon: { ...daemon, writes: [...daemon.writes, effect.params] } };
    case "go":
      return { ...world, daemon: { ...daemon, goes: [...daemon.goes, effect.params] } };
    case "terminate":
      return { ...world, daemon: { ...daemon, terminations: [...daemon.terminations, effect.params.attemptId] } };
    case "closeGate":
      return without(world, effect.params.attemptId, "gated");
    case "arm": {
      const { attemptId, source, periodId, retry } = effect.params;
      const boot = source === "reboot" ? { boot: world.reboots } : {};
      const of = { ...(retry === undefined ? {} : { retry }), ...boot };
      const process: Process = {
        attemptId,
        source,
        periodId,
        ...of,
        pid: freshPid(world),
        phase: "gated",
        latestAt: 0,
      };
      return { ...world, processes: [...world.processes, process] };
    }
    default:
      return world;
  }
}

function without(world: World, attemptId: string, phase?: Process["phase"]): World {
  const processes = world.processes.filter(
    (process) => process.attemptId !== attemptId || (phase !== undefined && process.phase !== phase),
  );
  return { ...world, processes };
}

export function nowOf({ tick }: World): number {
  return EPOCH + tick * TICK_MS;
}

/** The smallest that nothing in this world remembers: names are reused, so that the world stays finite. */
function freshId(world: World): string {
  const used = new Set<string | undefined>([
    ...world.processes.map((process) => process.attemptId),
    ...activeStates(world.disk).map((active) => active.AttemptID),
    ...(world.daemon?.activation.attempts ?? []).map(({ execution }) => execution.context.attempt.attemptId),
    ...(world.daemon?.writes ?? []).flatMap(({ document }) => activeStates(document).map((active) => active.AttemptID)),
    ...(world.daemon?.goes ?? []).map((go) => go.attemptId),
    ...(world.daemon?.terminations ?? []),
  ]);
  return smallest(
    (n) => !used.has(`a${n}`),
    (n) => `a${n}`,
  );
}

function freshPid(world: World): number {
  const used = new Set<number>([
    ...world.processes.map((process) => process.pid),
    ...activeStates(world.disk).map((active) => active.PID),
    ...(world.daemon?.writes ?? []).flatMap(({ document }) => activeStates(document).map((active) => active.PID)),
  ]);
  return smallest(
    (n) => !used.has(n),
    (n) => n,
  );
}

function smallest<T>(isFree: (n: number) => boolean, name: (n: number) => T): T {
  let n = 1;
  while (!isFree(n)) {
    n += 1;
  }
  return name(n);
}
