/** What happens to a scheduler in one trace, as data: fast-check makes it, shrinks it and prints it. */
import fc from "fast-check";
import type { CrashMode, Outcome, TransactionPoint } from "../../../../src/scheduler/testing/index.js";

export interface Place {
  readonly timeZone: string;
  readonly startAt: string;
}

/** Under an hour before something happens to the clocks of the place; the last three are quiet. */
export const PLACES: readonly Place[] = [
  { timeZone: "Europe/Berlin", startAt: "2026-03-29T00:20:30Z" },
  { timeZone: "Europe/Berlin", startAt: "2026-10-25T00:20:30Z" },
  { timeZone: "America/New_York", startAt: "2026-03-08T06:20:30Z" },
  { timeZone: "America/New_York", startAt: "2026-11-01T05:20:30Z" },
  { timeZone: "Australia/Lord_Howe", startAt: "2026-10-03T15:00:10Z" },
  { timeZone: "Australia/Lord_Howe", startAt: "2026-04-04T14:30:10Z" },
  { timeZone: "UTC", startAt: "2026-02-28T23:40:00Z" },
  { timeZone: "Asia/Kathmandu", startAt: "2026-06-15T01:29:59.500Z" },
  { timeZone: "Europe/Berlin", startAt: "2026-12-31T22:30:30Z" },
];

/** Dense and sparse, in and around the hours that vanish and repeat, day or weekday, and one that never comes. */
export const CRONS: readonly string[] = [
  "* * * * *",
  "0,30 * * * *",
  "30 2 * * *",
  "15,45 1-3 * * *",
  "0 3 * * *",
  "10-14 * * * *",
  "30 1 29 * 0",
  "0 * 1,25 * 0",
  "0 0 30 2 *",
];

const DELAYS_MS: readonly number[] = [0, 20_000, 60_000, 300_000, 5_400_000];
export const TASK_NAMES = ["a", "b", "c"] as const;
export type TaskName = (typeof TASK_NAMES)[number];

export interface ListedTask {
  readonly name: TaskName;
  readonly cron: string;
  readonly delayMs: number;
}

export type InvalidList = "not-an-array" | "shape" | "no-name" | "duplicate" | "cron" | "delay";

export type Step =
  | { readonly do: "initialize"; readonly list: number; readonly onNewObject: boolean }
  | { readonly do: "initializeInvalid"; readonly kind: InvalidList }
  | { readonly do: "stop" }
  /** The next callback of the task calls stop. */
  | { readonly do: "stopFromCallback"; readonly task: TaskName }
  /** Calls in one go, none waiting for another. */
  | { readonly do: "burst"; readonly list: number; readonly calls: readonly ("initialize" | "stop")[] }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "advanceToMinute"; readonly minutes: number; readonly offsetMs: number }
  | { readonly do: "crash"; readonly mode: CrashMode }
  | { readonly do: "crashAt"; readonly nth: number; readonly point: TransactionPoint }
  /** The `nth` coming transaction fails, and `count - 1` after it. */
  | { readonly do: "failStore"; readonly nth: number; readonly count: number; readonly point: TransactionPoint }
  | { readonly do: "slowStore"; readonly count: number; readonly ms: number }
  | { readonly do: "jump"; readonly ms: number }
  | { readonly do: "travel"; readonly timeZone: string }
  | { readonly do: "pause"; readonly ms: number }
  | { readonly do: "outcomes"; readonly task: TaskName; readonly outcomes: readonly Outcome[] }
  | { readonly do: "end"; readonly task: TaskName; readonly how: "succeed" | "fail" };

export interface Scenario {
  readonly place: Place;
  readonly offersByName: boolean;
  readonly lists: readonly (readonly ListedTask[])[];
  /** What runs do when they were told nothing. */
  readonly otherwise: readonly Outcome[];
  readonly steps: readonly Step[];
}

/** How often what happens, relative to everything else. */
export type Weights = Readonly<Record<Step["do"], number>>;

const CALM: Weights = {
  initialize: 14,
  initializeInvalid: 2,
  stop: 6,
  stopFromCallback: 2,
  burst: 2,
  advance: 14,
  advanceToMinute: 22,
  crash: 4,
  crashAt: 2,
  failStore: 1,
  slowStore: 1,
  jump: 1,
  travel: 1,
  pause: 2,
  outcomes: 20,
  end: 8,
};

export const THEMES = {
  calendar: { ...CALM, advance: 20, travel: 4, pause: 3 },
  crashes: { ...CALM, crash: 12, crashAt: 10, initialize: 20 },
  stores: { ...CALM, failStore: 10, slowStore: 8, crashAt: 4 },
  clocks: { ...CALM, jump: 10, pause: 8, travel: 5 },
} as const satisfies Record<string, Weights>;

const MINUTE_MS = 60_000;
const spanMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 59 }).map((seconds) => seconds * 1000) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 12 }).map((minutes) => minutes * MINUTE_MS) },
  { weight: 3, arbitrary: fc.integer({ min: 13, max: 95 }).map((minutes) => minutes * MINUTE_MS) },
  { weight: 1, arbitrary: fc.constantFrom(6 * 3_600_000, 25 * 3_600_000) },
);
const jumpMs = fc.oneof(
  fc.integer({ min: -90, max: 90 }).map((seconds) => seconds * 1000),
  fc.integer({ min: -90, max: 90 }).map((minutes) => minutes * MINUTE_MS),
  fc.constantFrom(-86_400_000, 86_400_000),
);
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Outcome>("succeed") },
  { weight: 4, arbitrary: fc.constant<Outcome>("fail") },
  { weight: 1, arbitrary: fc.constant<Outcome>("throw") },
  { weight: 3, arbitrary: fc.constant<Outcome>("hang") },
  {
    weight: 4,
    arbitrary: fc.record({
      takesMs: fc.constantFrom(1, 5_000, 59_999, 60_000, 150_000, 5_400_000),
      ending: fc.constantFrom("succeed" as const, "fail" as const),
    }),
  },
);
/** No failure without end that takes no time: with no delay it would keep a virtual minute busy for ever. */
const habit: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Outcome>("succeed") },
  { weight: 1, arbitrary: fc.constant<Outcome>({ takesMs: 20_000, ending: "fail" }) },
  { weight: 1, arbitrary: fc.constant<Outcome>({ takesMs: 61_000, ending: "succeed" }) },
);
const taskName = fc.constantFrom(...TASK_NAMES);
const point = fc.constantFrom<TransactionPoint>("before-commit", "after-commit");

const STEPS: { readonly [K in Step["do"]]: fc.Arbitrary<Extract<Step, { do: K }>> } = {
  initialize: fc.record({ do: fc.constant("initialize"), list: fc.nat({ max: 2 }), onNewObject: fc.boolean() }),
  initializeInvalid: fc.record({
    do: fc.constant("initializeInvalid"),
    kind: fc.constantFrom<InvalidList>("not-an-array", "shape", "no-name", "duplicate", "cron", "delay"),
  }),
  stop: fc.record({ do: fc.constant("stop") }),
  stopFromCallback: fc.record({ do: fc.constant("stopFromCallback"), task: taskName }),
  burst: fc.record({
    do: fc.constant("burst"),
    list: fc.nat({ max: 2 }),
    calls: fc.array(fc.constantFrom("initialize", "stop"), { minLength: 2, maxLength: 4 }),
  }),
  advance: fc.record({ do: fc.constant("advance"), ms: spanMs }),
  advanceToMinute: fc.record({
    do: fc.constant("advanceToMinute"),
    minutes: fc.integer({ min: 1, max: 4 }),
    offsetMs: fc.constantFrom(-1, 0, 0, 0, 1, 500),
  }),
  crash: fc.record({ do: fc.constant("crash"), mode: fc.constantFrom<CrashMode>("gone", "gone", "zombie") }),
  crashAt: fc.record({ do: fc.constant("crashAt"), nth: fc.integer({ min: 1, max: 3 }), point }),
  failStore: fc.record({
    do: fc.constant("failStore"),
    nth: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 1, max: 4 }),
    point: fc.constantFrom<TransactionPoint>("before-commit", "before-commit", "after-commit"),
  }),
  slowStore: fc.record({
    do: fc.constant("slowStore"),
    count: fc.integer({ min: 1, max: 3 }),
    ms: fc.constantFrom(1, 800, 40_000, 130_000),
  }),
  jump: fc.record({ do: fc.constant("jump"), ms: jumpMs }),
  travel: fc.record({
    do: fc.constant("travel"),
    timeZone: fc.constantFrom("Europe/Berlin", "America/New_York", "UTC", "Asia/Kathmandu"),
  }),
  pause: fc.record({ do: fc.constant("pause"), ms: spanMs }),
  outcomes: fc.record({
    do: fc.constant("outcomes"),
    task: taskName,
    outcomes: fc.array(outcome, { minLength: 1, maxLength: 4 }),
  }),
  end: fc.record({ do: fc.constant("end"), task: taskName, how: fc.constantFrom("succeed", "fail") }),
};

function stepOf(weights: Weights): fc.Arbitrary<Step> {
  const kinds = Object.keys(STEPS) as (keyof typeof STEPS)[];
  return fc.oneof(...kinds.map((kind) => ({ weight: weights[kind], arbitrary: STEPS[kind] as fc.Arbitrary<Step> })));
}

const listedTask = (name: TaskName): fc.Arbitrary<ListedTask> =>
  fc.record({ name: fc.constant(name), cron: fc.constantFrom(...CRONS), delayMs: fc.constantFrom(...DELAYS_MS) });

/** Mostly all tasks; now and then one is missing. The first list comes back most often, so tasks are mostly preserved. */
const list: fc.Arbitrary<readonly ListedTask[]> = fc
  .tuple(...TASK_NAMES.map((name) => fc.option(listedTask(name), { freq: 4, nil: undefined })))
  .map((tasks) => tasks.filter((task) => task !== undefined));

export function scenarioOf(weights: Weights): fc.Arbitrary<Scenario> {
  return fc.record({
    place: fc.constantFrom(...PLACES),
    offersByName: fc.boolean(),
    lists: fc.tuple(list, list).map(([first, second]) => [first, second, first]),
    otherwise: fc.tuple(...TASK_NAMES.map(() => habit)),
    steps: fc.array(stepOf(weights), { minLength: 4, maxLength: 28 }),
  });
}
