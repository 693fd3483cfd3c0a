/**
 * What one node may ask of another: the commands of a supervisor, each with the shape of what it takes and gives. A letter is
 * read by these shapes like anything that comes from outside: another version of the program may have written it.
 */
import { z } from "zod";
import { type ErrorCode, isErrorCode } from "../../core/base/errors/registry.js";
import { HINT_KINDS } from "../../core/governor/hint.js";
import { storedDefinition } from "../../core/job/stored.js";
import { OUTCOMES } from "../../core/state/document.js";
import { HOLDER_KINDS, readEnding } from "../../core/state/ending.js";
import type { ShardHolder } from "../../persist/cluster.js";
import type { JobPage, JobQuery, JobStatus, RunNowResult, Supervisor } from "../supervisor/port.js";
import { INDEX_SORTS, STANDINGS } from "../supervisor/rows/job-query.js";
import type { EndAnswer } from "../supervisor/run/away.js";
import type { AwayRuns } from "./away-runs.js";
import { type Answer, foreign } from "./mailbox.js";

/** What the jobs of one node are asked together. */
export type Jobs = Pick<Supervisor, "list" | "find">;

export interface Command<To, Input, Output> {
  readonly name: string;
  /** Done twice it is as if it were done once: whoever does not know whether it was done asks again. */
  readonly isRepeatable: boolean;
  readonly output: z.ZodType<Output>;
  run(to: To, input: Input): Promise<Output>;
}

/** As a letter asks for it. */
export interface Servable<To> {
  readonly name: string;
  /** null: what is asked cannot be read. */
  serve(to: To, input: unknown): Promise<unknown> | null;
}

interface Said<To, Input, Output> extends Pick<Command<To, Input, Output>, "name" | "isRepeatable" | "output" | "run"> {
  readonly input: z.ZodType<Input>;
}

export function command<To, Input, Output>({ input: shape, ...said }: Said<To, Input, Output>) {
  const serve = (to: To, asked: unknown): Promise<unknown> | null => {
    const read = shape.safeParse(asked);
    return read.success ? said.run(to, read.data) : null;
  };
  return { ...said, serve } satisfies Command<To, Input, Output> & Servable<To>;
}

const identity = z.string().min(1).max(4_096);
const instant = z.int();
const by = z.string().max(1_000).nullable();
const text = z.string().max(100_000);

export const RUN_NOW = command({
  name: "run",
  input: z.strictObject({ identity, onlyIfIdle: z.boolean() }),
  output: z.union([
    z.strictObject({
      ok: z.literal(true),
      slot: z.string(),
      attemptId: z.string(),
      pid: z.int(),
      holder: z.enum(HOLDER_KINDS),
    }),
    z.strictObject({
      ok: z.literal(false),
      message: z.string(),
      isBusy: z.literal(true).exactOptional(),
      code: z.custom<ErrorCode>((code) => typeof code === "string" && isErrorCode(code)).exactOptional(),
    }),
  ]),
  isRepeatable: false,
  run: (to: Supervisor, input): Promise<RunNowResult> => to.runNow(input.identity, input.onlyIfIdle),
});

export const PAUSE = command({
  name: "pause",
  input: z.strictObject({ identity, untilAt: instant, reason: text, catchesUp: z.boolean(), by }),
  output: z.boolean(),
  isRepeatable: true,
  run: (to: Supervisor, input) =>
    to.pause(input.identity, input.untilAt, input.reason, input.catchesUp, ...author(input.by)),
});

export const RESUME = command({
  name: "resume",
  input: z.strictObject({ identity, by }),
  output: z.boolean(),
  isRepeatable: true,
  run: (to: Supervisor, input) => to.resume(input.identity, ...author(input.by)),
});

const HINT_ABOUT = { expiresAt: instant, reason: text, by: z.string().max(1_000).exactOptional() };

export const HINT = command({
  name: "hint",
  input: z.strictObject({
    identity,
    hint: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("interval"), intervalMs: z.number().positive(), ...HINT_ABOUT }),
      z.strictObject({ kind: z.literal("oneshot"), nextRunAt: instant, ...HINT_ABOUT }),
    ]),
  }),
  output: z.enum(["set", "used", "held", "unknown"]),
  isRepeatable: false,
  run: (to: Supervisor, input) => to.hint(input.identity, input.hint),
});

export const UNHINT = command({
  name: "unhint",
  input: z.strictObject({ identity, kind: z.enum(["all", ...HINT_KINDS]), by }),
  output: z.boolean(),
  isRepeatable: true,
  run: (to: Supervisor, input) => to.clearHints(input.identity, input.kind, ...author(input.by)),
});

export const CANCEL = command({
  name: "cancel",
  input: z.strictObject({ identity, periodId: z.string().nullable() }),
  output: z.int(),
  isRepeatable: false,
  run: (to: Supervisor, input) => to.cancel(input.identity, ...(input.periodId === null ? [] : [input.periodId])),
});

const objects = z.array(z.strictObject({ identity, key: z.string(), text: z.string().nullable() })).max(100);

/** S47: a job that no set of definitions names; what is kept of it becomes durable with it. */
export const DEFINE = command({
  name: "define",
  input: z.strictObject({ identity, definition: z.string(), objects }),
  output: z.literal(true),
  isRepeatable: true,
  run: async (to: Supervisor, { definition: canonical, objects: along }) => {
    const definition = storedDefinition(canonical);
    if (definition === null) throw new Error("this version cannot read the definition");
    await to.define(definition, along);
    return true as const;
  },
});

/** Asked again, it is gone, and what was to be written with it is. */
export const REMOVE = command({
  name: "remove",
  input: z.strictObject({ identity, objects }),
  output: z.boolean(),
  isRepeatable: true,
  run: (to: Supervisor, input) => to.remove(input.identity, input.objects),
});

/** What another node of ours tells of its jobs is shown as it came, and nothing is decided by it. */
const row = z.custom<JobStatus>((value) => {
  return typeof value === "object" && value !== null && "identity" in value && typeof value.identity === "string";
});

export const STATUSES = command({
  name: "statuses",
  input: z.strictObject({ identities: z.array(identity).max(100_000) }),
  output: z.array(row),
  isRepeatable: true,
  run: (to: Jobs, { identities }): Promise<readonly JobStatus[]> => to.list({ identities }),
});

const words = z.array(z.string().max(4_096)).max(1_000);

export const FIND = command({
  name: "find",
  input: z.strictObject({
    filter: z.strictObject({
      identities: words,
      standings: z.array(z.enum(STANDINGS)),
      tags: words,
      search: z.string().optional(),
      called: z.array(z.string().max(4_096)).max(100_000).readonly().optional(),
      isFailing: z.boolean().optional(),
      isRunning: z.boolean().optional(),
      outcomes: z.array(z.enum(OUTCOMES)).readonly().optional(),
      dueBy: instant.optional(),
    }),
    order: z.strictObject({ sort: z.enum(INDEX_SORTS), isReversed: z.boolean() }),
    from: z.union([z.strictObject({ after: identity.nullable() }), z.strictObject({ offset: z.int().min(0) })]),
    limit: z.int().min(1),
  }),
  output: z.object({
    rows: z.array(row),
    total: z.int().nullable(),
    next: z.string().nullable(),
    absent: z.array(z.string()).exactOptional(),
    shards: z.array(z.string()).exactOptional(),
  }),
  isRepeatable: true,
  run: (to: Jobs, input: JobQuery): Promise<JobPage> => to.find(input),
});

/** An ending goes as it is published. */
export const ENDED = command({
  name: "ended",
  input: z.strictObject({
    identity,
    attemptId: z.string(),
    ending: z.record(z.string(), z.unknown()),
    hasBegun: z.boolean(),
  }),
  output: z.enum(["taken", "unknown"]),
  isRepeatable: true,
  run: (to: Supervisor, { identity: name, attemptId, ending, hasBegun }): Promise<EndAnswer> =>
    to.ended(name, { attemptId, ending: readEnding(ending), hasBegun }),
});

/** Of a run that goes on there, whoever looks after its job. */
export const TERMINATE = command({
  name: "terminate",
  input: z.strictObject({ attemptId: z.string(), graceMs: z.int().min(0) }),
  output: z.strictObject({ survivors: z.array(z.int()), wasKilled: z.boolean() }),
  isRepeatable: true,
  run: async (to: Pick<AwayRuns, "terminate">, { attemptId, graceMs }) => {
    const { survivors, wasKilled } = await to.terminate(attemptId, graceMs);
    return { survivors: [...survivors], wasKilled };
  },
});

/** Of one job, which is named in it. */
export const JOB_COMMANDS: readonly Servable<Supervisor>[] = [
  RUN_NOW,
  PAUSE,
  RESUME,
  HINT,
  UNHINT,
  CANCEL,
  ENDED,
  DEFINE,
  REMOVE,
];
/** After them the job is another one, or none. */
export const CHANGING: ReadonlySet<string> = new Set([DEFINE.name, REMOVE.name]);
export const NODE_COMMANDS: readonly Servable<Jobs>[] = [STATUSES, FIND];

function author(by: string | null): [] | [string] {
  return by === null ? [] : [by];
}

export function readAnswer<To, Input, Output>(
  from: ShardHolder,
  { output }: Command<To, Input, Output>,
  answer: Exclude<Answer, { readonly is: "failed" }>,
): Output {
  const read = answer.is === "done" ? output.safeParse(answer.value) : null;
  if (read?.success !== true) throw foreign(from);
  return read.data;
}
