/**
 * Every order in which leaders can meet over one period: each between any two requests of the others; crashes, caches that
 * know nothing yet, users that delete Jobs, Jobs that end and go. Exhaustive within a budget; what must not be, throws.
 */
import { NOTHING_KNOWN } from "../../../src/operator/plan/memory.js";
import { beginPass, folded, nextEffect, type Pass } from "../../../src/operator/plan/pass.js";
import { finished, type ModelState, modelOf, observe, perform, without } from "./model-api.js";
import { at, kronJob } from "./samples.js";

interface World {
  readonly api: ModelState;
  readonly leaders: readonly (Pass | null)[];
  readonly crashes: number;
  readonly deletions: number;
  readonly now: number;
  readonly steps: number;
}

export interface Budget {
  readonly leaders: number;
  readonly crashes: number;
  readonly deletions: number;
  readonly mayBeLate: boolean;
}

const PERIOD = "2026-03-01T00:05:00Z";
const DUE = at(PERIOD) + 200;
const LATE = at(PERIOD) + 10 * 60_000 + 500;

/** The status as the first look leaves it: what follows is about one period. */
function settledKronJob(): ModelState {
  let state = modelOf(kronJob({ schedule: "5 0 * * *", policy: { deadline: "30s" } }));
  const observed = observe(state);
  if (observed === null) throw new Error("no KronJob");
  let pass = beginPass(observed, NOTHING_KNOWN, at("2026-03-01T00:00:10Z"));
  for (let effect = nextEffect(pass); effect !== null; effect = nextEffect(pass)) {
    const [next, result] = perform(state, effect, pass.observed.kronJob, at("2026-03-01T00:00:10Z"));
    state = next;
    pass = folded(pass, result, at("2026-03-01T00:00:10Z"));
  }
  return state;
}

export type Perform = typeof perform;

function* successors(world: World, budget: Budget, carryOut: Perform): Generator<World> {
  const { api, leaders, now } = world;
  for (const [index, pass] of leaders.entries()) {
    const put = (next: Pass | null, state = api): World => ({
      ...world,
      api: state,
      leaders: leaders.map((other, place) => (place === index ? next : other)),
    });
    const effect = pass === null ? null : nextEffect(pass);
    if (pass === null || effect === null) {
      for (const cached of [api.jobs, {}]) {
        const observed = observe(api, cached);
        if (observed === null) continue;
        const begun = beginPass(observed, NOTHING_KNOWN, now);
        if (nextEffect(begun) !== null) yield put(begun);
      }
      continue;
    }
    const [state, result] = carryOut(api, effect, pass.observed.kronJob, now);
    const next = folded(pass, result, now);
    yield put(next.end === null ? next : null, state);
    // The request arrived, its answer did not: the leader is gone, or as good as.
    if (world.crashes < budget.crashes) {
      yield { ...put(null, state), crashes: world.crashes + 1 };
      yield { ...put(null), crashes: world.crashes + 1 };
    }
  }
  for (const [name, job] of Object.entries(api.jobs)) {
    const hasEnded = job.status?.conditions !== undefined;
    if (job.spec.suspend === false && !hasEnded) yield { ...world, api: finished(api, name) };
    if (hasEnded) yield { ...world, api: without(api, name) };
    if (world.deletions < budget.deletions) {
      yield { ...world, api: without(api, name), deletions: world.deletions + 1 };
    }
  }
  if (budget.mayBeLate && now === DUE) yield { ...world, now: LATE };
}

function keyOf({ api, leaders, crashes, deletions, now }: World): string {
  const passes = leaders.map((pass) =>
    pass === null
      ? null
      : [
          pass.observed.kronJob.metadata.resourceVersion,
          [...pass.observed.jobs],
          [...pass.observed.direct],
          pass.memory,
          pass.pending,
        ],
  );
  // Who is who does not matter.
  const sorted = passes.map((pass) => JSON.stringify(pass)).sort();
  return JSON.stringify([api, sorted, crashes, deletions, now]);
}

export function explore(budget: Budget, carryOut: Perform = perform): number {
  const leaders: readonly null[] = Array.from({ length: budget.leaders }, () => null);
  const first: World = { api: settledKronJob(), leaders, crashes: 0, deletions: 0, now: DUE, steps: 0 };
  const seen = new Set([keyOf(first)]);
  let frontier: World[] = [first];
  while (frontier.length > 0) {
    const next: World[] = [];
    for (const world of frontier) {
      let isAtRest = world.leaders.every((pass) => pass === null);
      for (const after of successors(world, budget, carryOut)) {
        if (after.leaders.some((pass) => pass !== null)) isAtRest = false;
        const key = keyOf(after);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(after);
      }
      judge(world, isAtRest);
    }
    frontier = next;
  }
  return seen.size;
}

function judge({ api, deletions, now }: World, isAtRest: boolean): void {
  const ran = api.ran[PERIOD] ?? [];
  const status = api.kronJob?.status;
  if (ran.length > 1) throw new Error(`ran ${ran.length} times: ${JSON.stringify(api)}`);
  const isHandled = status?.lastPeriodID === PERIOD;
  if (ran.length > 0 && (!isHandled || status.lastOutcome !== "executed")) throw new Error("a run off the record");
  const claimed = [...(status?.active ?? []), ...(status?.history ?? [])].some(({ periodID }) => periodID === PERIOD);
  if (ran.length > 0 && !claimed) throw new Error("a run off the record");
  if (!isAtRest) return;
  // Nobody has anything left to do: the period has its outcome, and what is recorded as executed did run.
  if (!isHandled) throw new Error(`at rest, and the period is open: ${JSON.stringify(api)}`);
  if (status.lastOutcome === "executed" && ran.length === 0 && deletions === 0 && now === DUE) {
    throw new Error(`executed, and nothing ran: ${JSON.stringify(api)}`);
  }
  const entry = [...(status.history ?? []), ...(status.active ?? [])].some(({ periodID }) => periodID === PERIOD);
  if (!entry) throw new Error(`no trace of the run: ${JSON.stringify(status)}`);
}
