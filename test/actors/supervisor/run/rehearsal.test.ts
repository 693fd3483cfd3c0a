import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SupervisorPorts } from "../../../../src/actors/supervisor/port.js";
import { scopeOf } from "../../../../src/actors/supervisor/rows/job-entry.js";
import type { SupervisorObserver } from "../../../../src/actors/supervisor/run/observer.js";
import { isOnTime, rehearse, type Stage } from "../../../../src/actors/supervisor/run/rehearsal.js";
import { ledgerRecordOf, recordFor } from "../../../../src/actors/supervisor/write/ledger-text.js";
import { SETTINGS_DEFAULTS } from "../../../../src/core/config/settings.js";
import { decide } from "../../../../src/core/decision/decide.js";
import { newDocument, type StateDocument } from "../../../../src/core/state/document.js";
import { serialiseDocument } from "../../../../src/core/state/serialise.js";
import {
  type EpochMs,
  floorToSecond,
  formatInstant,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
} from "../../../../src/core/time/instant.js";
import { activate, documentOfActivation, liveNominalAt, nextWakeAt } from "../../../../src/machines/activation.js";
import { step } from "../../../../src/machines/step.js";
import { documentKey } from "../../../../src/persist/keys.js";
import { job, START, World } from "../world.js";

const VERSIONS = { tzVersion: "test", engineVersion: "test" };
const NOMINAL_AT = Date.parse("2026-03-01T12:00:00Z");

interface Play {
  readonly policy: Record<string, unknown>;
  readonly windowed: boolean;
  readonly timeout: string | undefined;
  readonly handledMinutesAgo: number | null;
  readonly pauseEndsInMs: number | null;
  readonly definedMinutesAgo: number;
  readonly history: number;
}

const plays: fc.Arbitrary<Play> = fc.record({
  policy: fc.record({
    concurrency: fc.constantFrom("allow", "forbid", "replace"),
    deadline: fc.constantFrom("0s", "1s", "2h"),
    suspend: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
  }),
  windowed: fc.boolean(),
  timeout: fc.constantFrom(undefined, "1s", "1h"),
  handledMinutesAgo: fc.option(fc.integer({ min: 0, max: 90 })),
  pauseEndsInMs: fc.option(fc.integer({ min: -5_000, max: 5_000 })),
  definedMinutesAgo: fc.integer({ min: -1, max: 90 }),
  history: fc.integer({ min: 0, max: 3 }),
});

function documentOf(play: Play, chosenAt: EpochMs): StateDocument {
  const { handledMinutesAgo: handled, pauseEndsInMs: pause, history } = play;
  const at = (minutesAgo: number): string => formatInstant(NOMINAL_AT - minutesAgo * MINUTE_MS);
  const past = (minutesAgo: number) => ({
    ...{ PeriodID: at(minutesAgo), NominalTime: at(minutesAgo), ChosenTime: at(minutesAgo) },
    ...{ Outcome: "executed" as const, CompletedAt: at(minutesAgo - 1), ExitCode: 0 },
  });
  return {
    ...newDocument("a"),
    DefinedAt: at(play.definedMinutesAgo),
    History: Array.from({ length: history }, (_, index) => past(200 - index)),
    ...(handled === null ? {} : { LastHandledPeriodID: at(handled), LastNominalTime: at(handled) }),
    ...(handled === null ? {} : { LastOutcome: "executed" as const, LastChosenTime: at(handled) }),
    ...(pause === null ? {} : { Pause: { Until: formatInstant(chosenAt + pause), Reason: "lunch" } }),
  };
}

function stageOf(play: Play): Stage {
  const window = play.windowed ? { window: { duration: "10m" } } : {};
  const limit = play.timeout === undefined ? {} : { timeout: play.timeout };
  const scope = scopeOf(job("a", "*/30 * * * *", { ...window, ...limit, policy: play.policy }), SETTINGS_DEFAULTS);
  const { chosenAt, periodId } = decide(scope.compiled, NOMINAL_AT);
  if (chosenAt === null) throw new Error("every one of these periods has a chosen time");
  const holder = { kind: "process", pid: 77, startTicks: 5, bootId: "boot" } as const;
  const stage = {
    scope,
    nominalAt: NOMINAL_AT,
    gate: { attemptId: "attempt", source: null, periodId },
    forAt: chosenAt,
    holder,
  };
  return { ...stage, document: documentOf(play, chosenAt) };
}

function moment(now: EpochMs) {
  return { now, gate: null, freshId: () => "another" };
}

/** The same without a rehearsal: the machines are asked when the time has come. */
function played({ scope, document, nominalAt, gate, holder }: Stage, now: EpochMs) {
  const { attemptId } = gate;
  const moment = { now, gate: null, freshId: () => attemptId };
  const woken = step(scope, activate(document, scope), { type: "WAKE", isReturning: false, nominalAt }, moment);
  const claimed = step(scope, woken.activation, { type: "READY", attemptId, holder }, moment);
  const durable = step(scope, claimed.activation, { type: "DURABLE", attemptId }, moment);
  return { woken, claimed, durable };
}

/** Whether anything is worked out ahead; if so, it is to the letter what the machines say so much later. */
function isPlayedLikeRehearsed(stage: Stage, lateMs: number): boolean {
  const rehearsal = rehearse(stage, VERSIONS);
  if (rehearsal === null) return false;
  const now = stage.forAt + lateMs;
  expect(isOnTime(rehearsal, now)).toBe(true);
  const { claimed, durable } = played(stage, now);
  const [write] = claimed.effects;
  if (write?.type !== "persist") throw new Error("the claim is not written");
  const { document, facts } = write.params;
  const { contribution, steps } = rehearsal;
  expect(contribution.documents).toEqual([{ key: documentKey("a"), text: serialiseDocument(document) }]);
  const records = facts.map((fact) => ledgerRecordOf(fact, document, recordFor(stage.scope.compiled, fact, VERSIONS)));
  expect(contribution.ledger).toEqual(records);
  expect(contribution.facts.map(({ fact }) => ({ ...fact, at: now }))).toEqual(facts);
  const { activation, successorDueAt } = steps[1].step;
  const released = step(stage.scope, activation, { type: "DURABLE", attemptId: rehearsal.attemptId }, moment(now));
  expect(released.effects).toEqual(durable.effects);
  expect(durable.effects.map(({ type }) => type)).toEqual(["go"]);
  expect(documentOfActivation(activation)).toEqual(documentOfActivation(claimed.activation));
  expect(liveNominalAt(activation)).toBe(liveNominalAt(claimed.activation));
  expect(nextWakeAt(activation, successorDueAt)).toBe(nextWakeAt(claimed.activation, claimed.successorDueAt));
  return true;
}

const EVERY_MS = 20_000;

/** A job with an interval whose last run was at this place within its second. */
function slotStageOf(place: number): Stage {
  const scope = scopeOf(job("a", "@every 20s"), SETTINGS_DEFAULTS);
  const ranAt = NOMINAL_AT + place;
  const forAt = ranAt + EVERY_MS;
  const [lastSlot, periodId] = [formatInstant(ranAt), formatInstant(forAt)];
  const birth = { DefinedAt: formatInstant(NOMINAL_AT - MINUTE_MS), DefinitionHash: "hash" };
  const document = { ...newDocument("a"), ...birth, LastSlot: { interval: lastSlot }, LastRunAt: lastSlot };
  const holder = { kind: "process", pid: 77, startTicks: 5, bootId: "boot" } as const;
  const gate = { attemptId: "attempt", source: "interval", periodId };
  return { scope, document, nominalAt: null, forAt, gate, holder };
}

describe("a claim that is worked out ahead", () => {
  test("S1, S20, S23: is to the letter what the machines say when the time has come, anywhere in its second", () => {
    let rehearsed = 0;
    const property = fc.property(plays, fc.integer({ min: 0, max: 999 }), (play, lateMs) => {
      if (isPlayedLikeRehearsed(stageOf(play), lateMs)) rehearsed += 1;
    });
    fc.assert(property, { seed: 71, numRuns: 1_500 });
    expect(rehearsed).toBeGreaterThan(100);
  });

  test("S40: so it is of a slot, wherever in its second it lies, and it holds for the rest of that", () => {
    const property = fc.property(fc.integer({ min: 0, max: 999 }), fc.nat(), (place, late) => {
      const stage = slotStageOf(place);
      const lateMs = late % (SECOND_MS - place);
      expect(isPlayedLikeRehearsed(stage, lateMs)).toBe(true);
      const rehearsal = rehearse(stage, VERSIONS);
      if (rehearsal === null) throw new Error("it was rehearsed a moment ago");
      expect(isOnTime(rehearsal, stage.forAt - 1)).toBe(false);
      expect(isOnTime(rehearsal, stage.forAt + SECOND_MS - place)).toBe(false);
    });
    fc.assert(property, { seed: 73, numRuns: 300 });
  });

  test("S40: none that would count as begun at another instant before its second is over", () => {
    const stage = slotStageOf(350);
    // Something has held it beyond its instant.
    const laterAt = floorToSecond(stage.forAt) + 5 * SECOND_MS;
    expect(rehearse({ ...stage, forAt: laterAt }, VERSIONS)).toBeNull();
    expect(rehearse({ ...stage, forAt: laterAt + 349 }, VERSIONS)).toBeNull();
    expect(rehearse({ ...stage, forAt: laterAt + 350 }, VERSIONS)).not.toBeNull();
  });

  test("S21: whatever the machines would not plainly start is left to them", () => {
    let left = 0;
    const property = fc.property(plays, (play) => {
      const stage = stageOf(play);
      if (rehearse(stage, VERSIONS) !== null) return;
      left += 1;
      const { woken } = played(stage, stage.forAt);
      expect(woken.effects.map(({ type }) => type)).not.toEqual(["arm"]);
    });
    fc.assert(property, { seed: 72, numRuns: 400 });
    expect(left).toBeGreaterThan(50);
  });

  const TIMES: [what: string, offsetMs: number, isOnTime: boolean][] = [
    ["the millisecond before", -1, false],
    ["its first millisecond", 0, true],
    ["its last millisecond", 999, true],
    ["the second after", 1_000, false],
  ];
  test.each(TIMES)("holds in its second alone: %s", (_, offsetMs, expected) => {
    const stage = stageOf({
      ...{ policy: {}, windowed: false, timeout: undefined, handledMinutesAgo: null, pauseEndsInMs: null },
      ...{ definedMinutesAgo: 90, history: 0 },
    });
    const rehearsal = rehearse(stage, VERSIONS);
    expect(rehearsal !== null && isOnTime(rehearsal, stage.forAt + offsetMs)).toBe(expected);
  });
});

/** What the store is asked, with the time. */
class Asked {
  readonly commits: { readonly at: EpochMs; readonly documents: number }[] = [];
  readonly reads: EpochMs[] = [];

  between(ports: SupervisorPorts): SupervisorPorts {
    const { store, clock } = ports;
    const [get, commit] = [store.get.bind(store), store.commit.bind(store)];
    const watched = Object.assign(store, {
      get: (identity: string) => {
        this.reads.push(clock.now());
        return get(identity);
      },
      commit: (...[term, batch]: Parameters<typeof commit>) => {
        this.commits.push({ at: clock.now(), documents: batch.documents?.length ?? 0 });
        return commit(term, batch);
      },
    });
    return { ...ports, store: watched };
  }
}

const DUE = "2026-03-01T00:01:00";
const DUE_AT = Date.parse(`${DUE}Z`);
/** Gates are ready and claims worked out by then. */
const UNTIL_READY_MS = DUE_AT - START - 2 * SECOND_MS;

describe("in the second itself", () => {
  test("the claims of all jobs that are due are one commit, and nothing is read", async () => {
    const asked = new Asked();
    const world = new World({ between: (ports) => asked.between(ports) });
    await world.boot(["a", "b", "c"].map((identity) => job(identity, "1 * * * *")));
    await world.pass(UNTIL_READY_MS);
    asked.reads.length = 0;
    await world.pass(2 * SECOND_MS);
    expect(asked.reads).toEqual([]);
    const claims = asked.commits.filter(({ at }) => at === DUE_AT);
    expect(claims[0]).toEqual({ at: DUE_AT, documents: 3 });
    expect(["a", "b", "c"].map((identity) => world.starts(identity))).toEqual([[DUE], [DUE], [DUE]]);
    expect(world.told("b")).toEqual(["reschedule", "before_definition", "trigger", "started"]);
    await world.pass(11 * SECOND_MS);
    expect(world.document("b")).toMatchObject({
      ActiveExecution: null,
      History: [{ ExitCode: 0, StartedAt: `${DUE}Z` }],
    });
  });

  test("whoever looks on by then is told of every step, in its order", async () => {
    const observer: { current: SupervisorObserver | null } = { current: null };
    const world = new World({ between: (ports) => ({ ...ports, observer }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(UNTIL_READY_MS);
    const seen: string[] = [];
    observer.current = {
      greeted: () => seen.push("greeted"),
      activated: () => seen.push("activated"),
      stepped: (_identity, { type }) => seen.push(type),
      passivated: () => seen.push("passivated"),
    };
    await world.pass(20 * SECOND_MS);
    expect(seen).toEqual(["activated", "WAKE", "READY", "DURABLE", "STARTED", "EXITED", "passivated"]);
  });

  test("whoever looks on from the start is told of a job that is seen first, which takes no step", async () => {
    const seen: string[] = [];
    const observer: SupervisorObserver = {
      greeted: ({ identity }, document, wakeAt) => seen.push(`${identity} ${document.DefinedAt} ${wakeAt}`),
      activated: () => seen.push("activated"),
      stepped: (_identity, { type }) => seen.push(type),
      passivated: () => seen.push("passivated"),
    };
    const world = new World({ between: (ports) => ({ ...ports, observer: { current: observer } }) });
    await world.boot([job("a", "1 * * * *")]);
    expect(seen).toEqual([`a 2026-03-01T00:00:01Z ${DUE_AT}`]);
  });

  test("a time limit counts from the moment at which the claim was durable", async () => {
    const between = (ports: SupervisorPorts): SupervisorPorts => {
      const commit = ports.store.commit.bind(ports.store);
      const slowly: typeof commit = async (term, batch) => {
        if (world.clock.now() === DUE_AT) world.clock.advance(900);
        return commit(term, batch);
      };
      return { ...ports, store: Object.assign(ports.store, { commit: slowly }) };
    };
    const world: World = new World({ between, behaviour: () => ({ runMs: null }) });
    await world.boot([job("a", "1 * * * *", { timeout: "3s" })]);
    await world.pass(UNTIL_READY_MS);
    await world.pass(2 * SECOND_MS, 100);
    await world.pass(DUE_AT + 3_800 - world.clock.now(), 100);
    expect(world.host.running).toHaveLength(1);
    await world.pass(SECOND_MS, 100);
    expect(world.host.running).toHaveLength(0);
    expect(world.document("a").History).toMatchObject([{ Reason: "timeout", CompletedAt: "2026-03-01T00:01:03Z" }]);
  });
});

type Meanwhile = [what: string, meanwhile: (world: World) => Promise<unknown> | unknown, expected: unknown];

const otherCommand = job("a", "1 * * * *", { command: ["/bin/other"] });
const otherTime = job("a", "2 * * * *");

const MEANWHILES: Meanwhile[] = [
  ["nothing", () => undefined, { starts: [DUE], commands: ["/bin/true"] }],
  ["S17: a pause", ({ supervisor }) => supervisor.pause("a", START + HOUR_MS, "lunch"), { starts: [], commands: [] }],
  [
    "S17: a pause and its end",
    async ({ supervisor }) => {
      await supervisor.pause("a", START + HOUR_MS, "lunch");
      await supervisor.resume("a");
    },
    { starts: [DUE], commands: ["/bin/true"] },
  ],
  [
    "S16: another command",
    ({ supervisor }) => supervisor.reload([otherCommand], SETTINGS_DEFAULTS, []),
    { starts: [DUE], commands: ["/bin/other"] },
  ],
  [
    "S16: another time",
    ({ supervisor }) => supervisor.reload([otherTime], SETTINGS_DEFAULTS, []),
    { starts: ["2026-03-01T00:02:00"], commands: ["/bin/true"] },
  ],
  [
    "S16: the job is removed",
    ({ supervisor }) => supervisor.reload([], SETTINGS_DEFAULTS, []),
    { starts: [], commands: [] },
  ],
  [
    "a start grace of nothing",
    ({ supervisor }) => supervisor.reload([job("a", "1 * * * *")], { ...SETTINGS_DEFAULTS, startGraceMs: 0 }, []),
    { starts: [DUE], commands: ["/bin/true"] },
  ],
  ["the launcher is lost", (world) => world.loseLauncher(), { starts: [DUE], commands: ["/bin/true"] }],
  [
    "S6: the clock goes on by a minute",
    ({ clock }) => clock.jump(MINUTE_MS),
    { starts: ["2026-03-01T00:01:59"], commands: ["/bin/true"] },
  ],
];

describe("what is heard of a job in the seconds before makes void what was worked out", () => {
  test.each(MEANWHILES)("%s", async (_, meanwhile, expected) => {
    const world = new World();
    await world.boot([job("a", "1 * * * *", { policy: { deadline: "30m" } })]);
    await world.pass(UNTIL_READY_MS);
    expect(world.requests).toHaveLength(1);
    await meanwhile(world);
    await world.pass(2 * MINUTE_MS);
    const ran = new Set(world.host.executions.map(({ attemptId }) => attemptId));
    const commands = world.requests
      .filter(({ attemptId }) => ran.has(attemptId))
      .map(({ command }) => (command.kind === "argv" ? command.argv[0] : command.text));
    expect({ starts: world.starts("a"), commands }).toEqual(expected);
  });

  test("S40: a run that an operator began, and that is over, stays on record", async () => {
    const world = new World({ behaviour: () => ({ runMs: 500 }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(UNTIL_READY_MS);
    await world.supervisor.runNow("a");
    await world.pass(5 * SECOND_MS);
    expect(world.document("a").History.map(({ Source, PeriodID }) => Source ?? PeriodID)).toEqual([
      "manual",
      `${DUE}Z`,
    ]);
  });

  test("also when it was begun and ended while the document was being read", async () => {
    let held: (() => void) | null = null;
    let isSlow = false;
    const between = (ports: SupervisorPorts): SupervisorPorts => {
      const get = ports.store.get.bind(ports.store);
      const slowly = async (identity: string) => {
        const stored = await get(identity);
        if (isSlow) {
          isSlow = false;
          await new Promise<void>((resolve) => (held = resolve));
        }
        return stored;
      };
      return { ...ports, store: Object.assign(ports.store, { get: slowly }) };
    };
    const world = new World({ between, behaviour: () => ({ runMs: 500 }) });
    await world.boot([job("a", "1 * * * *")]);
    await world.pass(DUE_AT - START - 6 * SECOND_MS);
    isSlow = true;
    // Somebody reads for ever, so nobody waits until all is done.
    const pass = async (seconds: number): Promise<void> => {
      for (let step = 0; step < seconds * 10; step++) {
        world.clock.advance(SECOND_MS / 10);
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await pass(2);
    await world.supervisor.runNow("a");
    await pass(2);
    (held ?? (() => expect.fail("nothing was read")))();
    await pass(4);
    expect(world.document("a").History.map(({ Source, PeriodID }) => Source ?? PeriodID)).toEqual([
      "manual",
      `${DUE}Z`,
    ]);
  });

  test("S20: what is woken seconds late is judged then", async () => {
    const world = new World();
    await world.boot([job("a", "1 * * * *", { policy: { deadline: "0s" } })]);
    await world.pass(UNTIL_READY_MS);
    world.clock.freeze(5 * SECOND_MS);
    await world.settle();
    expect(world.document("a")).toMatchObject({ LastOutcome: "missed", LastReason: "stalled" });
    expect(world.starts("a")).toEqual([]);
  });

  test("S26, S40: a run that an operator began keeps the period from starting under `forbid`", async () => {
    const world = new World({ behaviour: () => ({ runMs: 30_000 }) });
    await world.boot([job("a", "1 * * * *", { policy: { concurrency: "forbid" } })]);
    await world.pass(UNTIL_READY_MS);
    await world.supervisor.runNow("a");
    await world.pass(10 * SECOND_MS);
    expect(world.document("a")).toMatchObject({ LastOutcome: "skipped", LastReason: "concurrency_forbid" });
    expect(world.starts("a")).toHaveLength(1);
  });
});
