/** Seconds at which many jobs without a window fall due at once. */
import type { CompiledRule } from "../../decision/model.js";
import { DAY_MS, type EpochMs, formatInstant } from "../../time/instant.js";
import type { LintWarning } from "./warning.js";

/** More jobs than this on one second are worth a word. */
const HOT_SPOT_JOBS = 20;
const HOT_SPOT_HORIZON_MS = 35 * DAY_MS;
/** Nominal times counted for one schedule, and for all; schedules of the most jobs come first. */
const HOT_SPOT_TIMES_PER_SCHEDULE = 1500;
const HOT_SPOT_TIMES = 2_000_000;
/** Jobs that are named. */
const NAMED_JOBS = 5;

interface Group {
  readonly jobs: CompiledRule[];
}

/** At most one warning: the worst second, and how many others there are. Jobs with constraints are not counted. */
export function hotSpots(jobs: readonly CompiledRule[], at: EpochMs): readonly LintWarning[] {
  const groups = groupsOf(jobs.filter((job) => job.frame.durationMs === 0 && job.accepts === null));
  const total = groups.reduce((sum, group) => sum + group.jobs.length, 0);
  if (total <= HOT_SPOT_JOBS) return [];
  const counts = countTimes(groups, at);
  const hot = [...counts].filter(([, count]) => count > HOT_SPOT_JOBS);
  const [worst] = hot.sort(([atA, a], [atB, b]) => b - a || atA - atB);
  return worst === undefined ? [] : [warningOf(worst[0], worst[1], hot.length - 1, groups)];
}

function groupsOf(jobs: readonly CompiledRule[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const job of jobs) {
    const { schedule, timezone, dst } = job.rule;
    const key = [schedule, timezone, dst.gap, dst.overlap].join("\n");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { jobs: [job] });
    else group.jobs.push(job);
  }
  return [...groups.values()].sort((a, b) => b.jobs.length - a.jobs.length);
}

function countTimes(groups: readonly Group[], at: EpochMs): ReadonlyMap<EpochMs, number> {
  const counts = new Map<EpochMs, number>();
  let budget = HOT_SPOT_TIMES;
  for (const { jobs } of groups) {
    for (const nominalAt of timesOf(jobs[0], at, Math.min(budget, HOT_SPOT_TIMES_PER_SCHEDULE))) {
      counts.set(nominalAt, (counts.get(nominalAt) ?? 0) + jobs.length);
      budget--;
    }
  }
  return counts;
}

function* timesOf(job: CompiledRule | undefined, at: EpochMs, max: number): Generator<EpochMs> {
  let nominalAt = job?.schedule.next(at) ?? null;
  for (let i = 0; i < max && nominalAt !== null && nominalAt <= at + HOT_SPOT_HORIZON_MS; i++) {
    yield nominalAt;
    nominalAt = job?.schedule.next(nominalAt) ?? null;
  }
}

function warningOf(at: EpochMs, count: number, others: number, groups: readonly Group[]): LintWarning {
  const due = groups.filter(({ jobs }) => jobs[0]?.schedule.matches(at) === true).flatMap(({ jobs }) => jobs);
  const identities = due.slice(0, NAMED_JOBS).map(({ rule }) => rule.identity);
  const more = others === 0 ? "" : `, and more than ${HOT_SPOT_JOBS} at ${others} other times`;
  const message = `${count} jobs without a window are due at ${formatInstant(at)}${more}`;
  return { kind: "hot-spot", identities, message, hint: "give them a window: each job gets its own second in it" };
}
