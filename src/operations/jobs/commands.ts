/** What may be done to a job: run it, end its runs, hold it, let it run otherwise for a while. */
import { z } from "zod";
import type { RunNowResult, Supervisor } from "../../actors/supervisor/port.js";
import type { Problem } from "../../core/base/problem.js";
import { HINT_KINDS, readHint } from "../../core/governor/hint.js";
import { formatInstant } from "../../core/time/instant.js";
import { daemonOperation, OperationError } from "../operation.js";
import { type HintsAnswer, isUsedUp, withHint, withoutHints } from "../records/hints.js";
import { DONE, dryRun } from "../rehearsal.js";
import { HINTS_ANSWERED, STARTED } from "../shapes/job.js";
import { anyInstant, count, identity, instant } from "../shapes/words.js";
import { done, mustExist, noJob } from "./existing.js";
import { hintsOf } from "./records.js";

type Started = Extract<RunNowResult, { readonly ok: true }>;

export const RUN = daemonOperation({
  name: "run",
  summary: "starts a job now, beside its schedule",
  http: { method: "POST", path: "/schedules/:identity/run" },
  isDestructive: true,
  reachesOut: true,
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ identity, ifIdle: z.boolean().optional() }),
  output: STARTED,
  run: async (request, { supervisor, reader }): Promise<Started> => {
    await mustExist(reader, request.identity);
    const started = await supervisor.runNow(request.identity, request.ifIdle === true);
    if (started.ok) return started;
    if (started.isBusy === true) throw await runningAlready(supervisor, request.identity);
    throw new OperationError("refused", started.message);
  },
});

/** Refused by the supervisor, which alone can tell; what runs is looked up only to be named, and may be over by now. */
async function runningAlready(supervisor: Supervisor, of: string): Promise<OperationError> {
  const [row] = await supervisor.list({ identities: [of] });
  const busy = row?.active[0];
  const what = busy?.holder === undefined ? `PID ${busy?.pid}` : `a ${busy.holder}`;
  const message = `${of} is running already${busy === undefined ? "" : `: ${what}, since ${busy.startedAt}`}`;
  return new OperationError("refused", message, "run it without --if-idle to start another one beside it");
}

export const CANCEL = daemonOperation({
  name: "cancel",
  summary: "ends what runs of a job, or the run of one period",
  http: { method: "POST", path: "/schedules/:identity/cancel" },
  isDestructive: true,
  access: "operate",
  beginsSomething: false,
  input: z.strictObject({ identity, periodAt: instant.nullable() }),
  output: z.strictObject({ ended: count }),
  run: async (request, { supervisor, reader }) => {
    const { periodAt } = request;
    await mustExist(reader, request.identity);
    const period = periodAt === null ? [] : ([formatInstant(periodAt)] as const);
    return { ended: await supervisor.cancel(request.identity, ...period) };
  },
});

export const PAUSE = daemonOperation({
  name: "pause",
  summary: "starts nothing of a job until then",
  http: { method: "POST", path: "/schedules/:identity/pause", query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    identity,
    untilAt: instant,
    reason: z.string().max(1_000),
    catchUp: z.boolean().default(false),
    dryRun,
  }),
  output: DONE,
  run: async (request, { supervisor, now, reader }) => {
    const { untilAt, reason, catchUp: catchesUp } = request;
    if (untilAt <= now()) throw refusedFor([inThePast()]);
    if (request.dryRun) return mustExist(reader, request.identity);
    return done(await supervisor.pause(request.identity, untilAt, reason, catchesUp), request.identity);
  },
});

export const RESUME = daemonOperation({
  name: "resume",
  summary: "lets a paused job go on",
  http: { method: "POST", path: "/schedules/:identity/resume", query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ identity, dryRun }),
  output: DONE,
  run: async (request, { supervisor, reader }) => {
    if (request.dryRun) return mustExist(reader, request.identity);
    return done(await supervisor.resume(request.identity), request.identity);
  },
});

export const HINT = daemonOperation({
  name: "hint",
  summary: "lets a job run otherwise for a while",
  http: { method: "POST", path: "/schedules/:identity/hints", query: ["dryRun"] },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    identity,
    intervalMs: z.number().nullable(),
    nextRunAt: anyInstant.nullable(),
    ttlMs: z.number().nullable(),
    reason: z.string(),
    dryRun,
  }),
  output: HINTS_ANSWERED,
  /** Judged here, whatever sent it: one that is refused changes nothing. */
  run: async (request, ports): Promise<HintsAnswer> => {
    const read = readHint(request, ports.now());
    if (!read.ok) throw refusedFor(read.error, fieldMessage);
    if (request.dryRun) {
      const hints = await hintsOf(ports, request.identity);
      if (await isUsedUp(ports.reader, request.identity, read.value)) throw usedBefore();
      return withHint(hints, read.value, ports.now());
    }
    const answer = await ports.supervisor.hint(request.identity, read.value);
    if (answer === "unknown") throw noJob(request.identity);
    if (answer === "used") throw usedBefore();
    return hintsOf(ports, request.identity);
  },
});

export const UNHINT = daemonOperation({
  name: "unhint",
  summary: "takes hints of a job back",
  http: { method: "DELETE", path: "/schedules/:identity/hints" },
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({ identity, kind: z.enum(["all", ...HINT_KINDS]).default("all"), dryRun }),
  output: HINTS_ANSWERED,
  run: async (request, ports): Promise<HintsAnswer> => {
    if (request.dryRun) return withoutHints(await hintsOf(ports, request.identity), request.kind);
    done(await ports.supervisor.clearHints(request.identity, request.kind), request.identity);
    return hintsOf(ports, request.identity);
  },
});

function usedBefore(): OperationError {
  return new OperationError("refused", "nextRunAt: a run for this instant, or a later one, was hinted before");
}

/** With the fields, for whoever can show them. */
function refusedFor(problems: readonly Problem[], told = ({ message }: Problem): string => message): OperationError {
  return new OperationError("refused", problems.map(told).join("; "), undefined, { problems });
}

function inThePast(): Problem {
  return { code: "instant-range", message: "the end of the pause lies in the past", path: ["untilAt"] };
}

function fieldMessage({ path, message }: Problem): string {
  return `${path.join(".")}: ${message}`;
}
