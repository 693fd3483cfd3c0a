/** Carries out a scenario: virtual time, a store that obeys, schedulers that die, and a recorder that sees it all. */
import {
  type ControlledRun,
  type ControlledTask,
  type CrashMode,
  type CreateScheduler,
  checkTrace,
  controlledTask,
  crash,
  crashable,
  type FaultyStore,
  faultyStore,
  hasCrashed,
  type Trace,
  type TraceRecorder,
  traceRecorder,
  type Violation,
  type VirtualTime,
  virtualTime,
} from "../../../../src/scheduler/testing/index.js";
import type { Registration, Scheduler, SchedulerEvent, Sleeper, TaskStore } from "../../../../src/scheduler/types.js";
import { type InvalidList, type Scenario, type Step, TASK_NAMES, type TaskName } from "./scenario.js";

export interface Subject {
  readonly create: CreateScheduler;
  readonly memoryStore: () => TaskStore;
}

export interface Outcome {
  readonly trace: Trace;
  readonly events: readonly SchedulerEvent[];
  readonly violations: readonly Violation[];
  readonly programErrors: readonly unknown[];
}

const MINUTE_MS = 60_000;
/** Long enough for every backoff to end and for every duty to be overdue. */
const QUIET_END_MS = 5 * MINUTE_MS;
/** Far more sleeps and runs than a scenario needs; a broken scheduler that spins is stopped here, and judged. */
const FUSE = 3_000;

const noop = async (): Promise<void> => {};
const INVALID_LISTS: Readonly<Record<InvalidList, unknown>> = {
  "not-an-array": "a list",
  shape: [["a", "* * * * *", noop]],
  "no-name": [["", "* * * * *", noop, 0]],
  duplicate: [
    ["a", "* * * * *", noop, 0],
    ["a", "* * * * *", noop, 0],
  ],
  cron: [["a", "*/5 * * * *", noop, 0]],
  delay: [["a", "* * * * *", noop, -1]],
};

/** What the world knows of the living instance, so that it never has two on one store. */
interface InstanceState {
  isUsed: boolean;
  openInits: number;
  openStops: number;
  stopCalls: number;
  isActive: boolean;
}

function freshState(): InstanceState {
  return { isUsed: false, openInits: 0, openStops: 0, stopCalls: 0, isActive: false };
}

/** Steps that only arrange what is to happen. */
type Prepared = "crash" | "crashAt" | "failStore" | "slowStore" | "stopFromCallback" | "outcomes";

export class World {
  readonly time: VirtualTime;
  readonly recorder: TraceRecorder;
  readonly store: FaultyStore;
  readonly tasks: ReadonlyMap<TaskName, ControlledTask>;
  /** Errors the scheduler logged. */
  readonly complaints: unknown[] = [];
  readonly #subject: Subject;
  readonly #scenario: Scenario;
  readonly #watchedStore: TaskStore;
  #scheduler: Scheduler;
  #used = 0;
  readonly #stopsFrom = new Set<TaskName>();
  #list = 0;
  #instances = 0;
  #state: InstanceState = freshState();

  constructor(subject: Subject, scenario: Scenario) {
    this.#subject = subject;
    this.#scenario = scenario;
    this.time = virtualTime(scenario.place);
    this.recorder = traceRecorder(this.time);
    const { transact, byName } = subject.memoryStore();
    const inner = scenario.offersByName && byName !== undefined ? { transact, byName } : { transact };
    this.store = faultyStore(inner, this.time);
    this.#watchedStore = this.recorder.store(this.store);
    this.tasks = new Map(TASK_NAMES.map((name) => [name, controlledTask(this.time)]));
    for (const [i, name] of TASK_NAMES.entries()) this.tasks.get(name)?.otherwise(scenario.otherwise[i] ?? "succeed");
    this.#scheduler = this.#boot();
  }

  get isBurnt(): boolean {
    return this.#used >= FUSE;
  }

  async perform(step: Step): Promise<void> {
    switch (step.do) {
      case "initialize":
        return this.#initialize(step.list, step.onNewObject);
      case "initializeInvalid":
        if (hasCrashed(this.#scheduler)) this.#scheduler = this.#boot();
        this.#call(INVALID_LISTS[step.kind] as readonly Registration[]);
        return this.time.settle();
      case "stop":
        this.#stop();
        return this.time.settle();
      case "burst":
        return this.#burst(step.list, step.calls);
      case "advance":
        return this.time.advance(step.ms);
      case "advanceToMinute":
        return this.#advanceToMinute(step.minutes, step.offsetMs);
      case "pause":
        return this.time.pauseProcess(step.ms);
      case "jump":
        return this.time.setWallClock(this.time.stamp().at + step.ms);
      case "travel":
        return this.time.setTimeZone(step.timeZone);
      case "end":
        for (const run of this.#endableRuns(step.task).slice(-1)) run[step.how]();
        return this.time.settle();
      default:
        this.#prepare(step);
        return this.time.settle();
    }
  }

  /** Everything heals, every run ends, a list is active for some minutes, and a last stop returns. */
  async finish(): Promise<void> {
    this.store.heal();
    this.#stopsFrom.clear();
    await this.#endAllRuns();
    await this.time.advance(QUIET_END_MS);
    if (hasCrashed(this.#scheduler) || !this.#state.isActive) await this.#initialize(this.#list, true);
    await this.time.advance(QUIET_END_MS);
    await this.#endAllRuns();
    this.#stop();
    await this.time.advance(QUIET_END_MS);
  }

  async #burst(list: number, calls: readonly ("initialize" | "stop")[]): Promise<void> {
    if (hasCrashed(this.#scheduler)) this.#scheduler = this.#boot();
    for (const call of calls) {
      if (call === "initialize") this.#call(this.#registrations(list));
      else this.#stop();
    }
    await this.time.settle();
  }

  #prepare(step: Extract<Step, { do: Prepared }>): void {
    if (step.do === "crash") this.#crash(step.mode);
    else if (step.do === "crashAt") this.store.at(step.nth, step.point, () => crash(this.#scheduler));
    else if (step.do === "failStore") this.#failStore(step);
    else if (step.do === "slowStore") this.store.delayNext(step.count, step.ms);
    else if (step.do === "stopFromCallback") this.#stopsFrom.add(step.task);
    else this.tasks.get(step.task)?.will(...step.outcomes);
  }

  #failStore({ nth, count, point }: Extract<Step, { do: "failStore" }>): void {
    for (let i = 0; i < count; i++) this.store.failAt(nth + i, point);
  }

  /**
   * A zombie here is an instance of which only ends of runs are still to come, before or after another has taken over.
   */
  #crash(mode: CrashMode): void {
    if (hasCrashed(this.#scheduler)) return;
    const { openInits, openStops } = this.#state;
    const mayBeZombie = openInits + openStops === 0;
    crash(this.#scheduler, mayBeZombie ? mode : "gone");
  }

  #boot(): Scheduler {
    const id = `instance-${++this.#instances}`;
    const ignore = (): void => {};
    const complain = (fields: object): void => void this.complaints.push("err" in fields ? fields.err : null);
    let ids = 0;
    this.#state = freshState();
    return this.recorder.watch(
      crashable(this.#subject.create, {
        clock: this.time.clock,
        sleeper: this.#fusedSleeper(),
        store: this.#watchedStore,
        newId: () => `${id}-${++ids}`,
        onEvent: this.recorder.onEvent,
        logger: { debug: ignore, info: ignore, warn: complain, error: complain },
      }),
    );
  }

  async #initialize(list: number, onNewObject: boolean): Promise<void> {
    const { isUsed, openInits, openStops, isActive } = this.#state;
    const mayReplace = onNewObject && isUsed && !isActive && openInits + openStops === 0;
    if (hasCrashed(this.#scheduler) || mayReplace) this.#scheduler = this.#boot();
    this.#call(this.#registrations(list));
    await this.time.settle();
  }

  #registrations(list: number): readonly Registration[] {
    this.#list = list;
    const tasks = this.#scenario.lists[list] ?? [];
    return tasks.map(({ name, cron, delayMs }) => [name, cron, this.#callbackOf(name), delayMs]);
  }

  #callbackOf(name: TaskName): () => Promise<void> {
    return () => {
      this.#burn();
      if (this.#stopsFrom.delete(name)) this.#stop();
      return this.tasks.get(name)?.callback() ?? Promise.resolve();
    };
  }

  #fusedSleeper(): Sleeper {
    const sleeper = this.time.newSleeper();
    const sleep = (ms: number): Promise<void> => {
      this.#burn();
      return sleeper.sleep(ms);
    };
    return { sleep, wake: () => sleeper.wake() };
  }

  #burn(): void {
    if (++this.#used === FUSE) crash(this.#scheduler);
  }

  #call(registrations: readonly Registration[]): void {
    const state = this.#state;
    const scheduler = this.#scheduler;
    state.isUsed = true;
    state.openInits++;
    const { stopCalls } = state;
    scheduler.initialize(registrations).then(
      () => {
        state.openInits--;
        state.isActive = state.stopCalls === stopCalls;
      },
      () => {
        state.openInits--;
      },
    );
  }

  #stop(): void {
    if (hasCrashed(this.#scheduler)) return;
    const state = this.#state;
    state.openStops++;
    state.stopCalls++;
    state.isActive = false;
    void this.#scheduler.stop().then(() => {
      state.openStops--;
    });
  }

  async #advanceToMinute(minutes: number, offsetMs: number): Promise<void> {
    const { at } = this.time.stamp();
    const target = (Math.floor(at / MINUTE_MS) + minutes) * MINUTE_MS + offsetMs;
    await this.time.advance(Math.max(0, target - at));
  }

  #endableRuns(name: TaskName): readonly ControlledRun[] {
    const runs = this.tasks.get(name)?.runs ?? [];
    return runs.filter((run) => run.isOpen());
  }

  async #endAllRuns(): Promise<void> {
    for (const name of TASK_NAMES) for (const run of this.#endableRuns(name)) run.succeed();
    await this.time.settle();
  }
}

/** What only a broken program says: a mutant that fails like this is no mistake of a scheduler, but of its author. */
function isProgramError(error: unknown): boolean {
  return error instanceof ReferenceError || error instanceof TypeError || error instanceof SyntaxError;
}

export async function play(subject: Subject, scenario: Scenario): Promise<Outcome> {
  const world = new World(subject, scenario);
  for (const step of scenario.steps) if (!world.isBurnt) await world.perform(step);
  if (!world.isBurnt) await world.finish();
  const trace = world.recorder.trace();
  const violations = checkTrace(trace);
  return { trace, violations, events: world.recorder.events, programErrors: world.complaints.filter(isProgramError) };
}
