import { z } from "zod";
import type { JobStatus } from "../../actors/supervisor/port.js";
import { ALL_JOBS, BY_NAME, type ListFilter, type ListOrder } from "../../actors/supervisor/rows/job-query.js";
import { compileRule } from "../../core/decision/compile.js";
import type { CompiledRule } from "../../core/decision/model.js";
import { DAY_MS, type EpochMs, formatInstant, instantOrNull } from "../../core/time/instant.js";
import { withEndpointNames } from "../endpoints/names.js";
import { decisionsAhead, upcomingOf } from "../jobs/ahead.js";
import { inForce, rowOf } from "../jobs/looks-ahead.js";
import { daemonOperation, OperationError } from "../operation.js";
import type { Acting, EndedElsewhere } from "../ports.js";
import { NOW_ANSWER, type NowAnswer } from "../shapes/now.js";
import { withLostTime } from "./lost-time.js";

const MOST_ROWS = 50;
/** Of jobs that start within a day. */
const LANES = 16;
/** Among which they are found: many of those that come next start all the time. */
const CANDIDATES = 48;
/** Of jobs that nothing is started of, for as long. */
const HELD_LANES = 5;
/** Starts that a lane shows one by one. */
const STARTS_OF_A_LANE = 48;

type Lane = NowAnswer["lanes"][number];

export const NOW = daemonOperation({
  name: "now",
  summary: "how things are: what needs a look, what runs, what has just ended, and what starts next",
  http: { method: "GET", path: "/now" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({}),
  output: NOW_ANSWER,
  run: async (_, ports): Promise<NowAnswer> => {
    const { now, reader, recent } = ports;
    const at = now();
    // Where other nodes are asked too, they are asked all of it at once.
    const [failing, running, next, held, jobs, elsewhere] = await Promise.all([
      found(ports, { ...ALL_JOBS, isFailing: true }, { sort: "failures", isReversed: false }),
      found(ports, { ...ALL_JOBS, isRunning: true }, BY_NAME),
      found(ports, { ...ALL_JOBS, dueBy: at + DAY_MS }, { sort: "next", isReversed: false }, CANDIDATES),
      found(ports, { ...ALL_JOBS, standings: ["paused", "suspended"] }, BY_NAME, HELD_LANES),
      countOf(ports),
      ports.among?.ended() ?? NOWHERE_ELSE,
    ]);
    const lanesOf = (rows: readonly JobStatus[]) => Promise.all(rows.map((row) => laneOf(row, ports, at)));
    const comes = new Set(next.rows.map(({ identity }) => identity));
    const heldOnly = held.rows.filter(({ identity }) => !comes.has(identity));
    const lanes = [...seldomFirst(await lanesOf(next.rows)), ...(await lanesOf(heldOnly))];
    const silent = new Set([...elsewhere.absent, ...[failing, running, next, held].flatMap(({ absent }) => absent)]);
    return {
      at: formatInstant(at),
      ...(silent.size === 0 ? {} : { absent: [...silent].sort() }),
      counts: { jobs, running: running.total, failing: failing.total, held: held.total },
      ...(ports.among === null ? { outcomes: recent.outcomes(at) } : {}),
      problems: await withEndpointNames(reader, await withLostTime(reader, failing.rows)),
      running: await withEndpointNames(reader, running.rows),
      ended: await withEndpointNames(reader, recent.newest(elsewhere.events)),
      lanes: await withEndpointNames(reader, lanes),
    };
  },
});

const NOWHERE_ELSE: EndedElsewhere = { events: [], absent: [] };

interface Found {
  readonly rows: readonly JobStatus[];
  readonly total: number;
  readonly absent: readonly string[];
}

async function countOf({ among, supervisor }: Acting): Promise<number> {
  if (among === null) return supervisor.status().jobs;
  return (await among.statuses()).reduce((sum, { jobs }) => sum + (jobs ?? 0), 0);
}

async function found({ jobs }: Acting, filter: ListFilter, order: ListOrder, limit = MOST_ROWS): Promise<Found> {
  const { rows, total, absent = [] } = await jobs.find({ filter, order, from: { offset: 0 }, limit });
  return { rows, total: total ?? rows.length, absent };
}

async function laneOf({ identity, standing, pausedUntil, lastRunAt }: JobStatus, { reader }: Acting, at: EpochMs) {
  const starts = await startsOfJob(reader, identity, instantOrNull(lastRunAt), at);
  const isFrequent = starts.length > STARTS_OF_A_LANE;
  const lane: Lane = { identity, standing, pausedUntil, isFrequent, starts: isFrequent ? [] : starts };
  return lane;
}

/** What starts once a day has one place to be seen; what starts all the time is one lane with a count. */
function seldomFirst(lanes: readonly Lane[]): readonly Lane[] {
  const single = lanes.filter(({ isFrequent }) => !isFrequent);
  const shown = new Set([...single].sort((one, other) => one.starts.length - other.starts.length).slice(0, LANES));
  return lanes.filter((lane) => lane.isFrequent || shown.has(lane));
}

/** Of one that is gone, or cannot be read, nothing is ahead. */
async function startsOfJob(reader: Acting["reader"], identity: string, lastRunAt: EpochMs | null, at: EpochMs) {
  try {
    return startsOf(compileRule(await inForce(reader, identity)), lastRunAt, at);
  } catch (error) {
    if (error instanceof OperationError) return [];
    throw error;
  }
}

/** One more than are shown, so that it is known whether there are more. */
function startsOf(compiled: CompiledRule, lastRunAt: EpochMs | null, at: EpochMs): Lane["starts"] {
  const starts: Lane["starts"][number][] = [];
  for (const each of upcomingOf(compiled, decisionsAhead(compiled, at), lastRunAt, at)) {
    if (each.at > at + DAY_MS || starts.length > STARTS_OF_A_LANE) break;
    const { nominal, windowStart, windowEnd, chosen } = rowOf(each);
    starts.push({ nominal, windowStart, windowEnd, chosen });
  }
  return starts;
}
