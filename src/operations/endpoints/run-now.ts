/** An endpoint run now, beside its schedule; whoever wants to know what came of it may wait a while. */
import { z } from "zod";
import type { RunNowResult } from "../../actors/supervisor/port.js";
import { ERRORS } from "../../core/base/errors/registry.js";
import { knownInstant, SECOND_MS } from "../../core/time/instant.js";
import { type Caller, OperationError, tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { time } from "../shapes/words.js";
import { endpointOf } from "./change.js";
import { identityIn } from "./records.js";
import { placeOf, readRunId, runAnswer, runIdOf } from "./run-view.js";
import { runAt } from "./runs.js";
import { endpointId, RUN_ANSWER, type RunAnswer, runId } from "./shapes.js";

/** Longer than this nobody keeps a request open. */
const MOST_WAIT_SECONDS = 60;
const SOURCE = "manual";
/** Where several nodes share the endpoints. */
const LOOKED_EVERY_MS = 250;

const TRIGGERED = z.strictObject({
  runId,
  slot: time,
  /** Once it has ended, if that was waited for; null: not asked for, or not yet. */
  run: RUN_ANSWER.nullable(),
});
type Triggered = z.output<typeof TRIGGERED>;

export const RUN_ENDPOINT = tenantOperation({
  name: "endpoints.run",
  summary: "runs an endpoint now, beside its schedule, and says by which id the run is found",
  http: {
    method: "POST",
    path: "/endpoints/:endpointId/run",
    makes: true,
    isPending: ({ run }: Triggered, { wait }: { readonly wait: number }) => wait > 0 && run === null,
    query: ["wait"],
  },
  isDestructive: true,
  reachesOut: true,
  access: "operate",
  beginsSomething: true,
  input: z.strictObject({
    endpointId,
    ifIdle: z.boolean().default(false),
    wait: z
      .number()
      .min(0)
      .max(MOST_WAIT_SECONDS)
      .default(0)
      .meta({ description: "For so many seconds the answer waits for the end of the run, and has it then." }),
  }),
  output: TRIGGERED,
  run: async (request, ports, caller): Promise<Triggered> => {
    const { tenant } = caller;
    const endpoint = await endpointOf(ports, tenant, request.endpointId);
    const started = await ports.supervisor.runNow(identityIn(tenant, endpoint), request.ifIdle);
    if (!started.ok) throw await notStarted(ports, caller, started);
    const { slot } = started;
    const { id, jobId } = endpoint;
    return { runId: runIdOf({ jobId, endpointId: id, at: knownInstant(slot), source: SOURCE }), slot, run: null };
  },
  waitFor: async (triggered, { wait }, ports, caller): Promise<Triggered> => {
    if (wait === 0) return triggered;
    return { ...triggered, run: await endOf(ports, caller, triggered, wait) };
  },
});

/** null: it goes on. Nothing is asked of it again, and whoever asked may be gone by then. */
async function endOf(
  ports: Acting,
  { tenant, gone }: Caller,
  { runId: id, slot }: Triggered,
  waitSeconds: number,
): Promise<RunAnswer | null> {
  const of = readRunId(id);
  if (of === null) throw new Error("invariant broken: a run that was begun has no name");
  const place = placeOf(tenant, of);
  const ended = async (): Promise<RunAnswer | null> => {
    const entry = await runAt(ports.reader, place);
    return entry === null || entry.ending === null ? null : runAnswer(of, entry);
  };
  const run = { identity: place.identity, periodId: slot, source: SOURCE };
  // It may end on another node, which tells nobody here: what is on record does.
  const atOnceMs = ports.among === null ? waitSeconds * SECOND_MS : LOOKED_EVERY_MS;
  for (let leftMs = waitSeconds * SECOND_MS; ; leftMs -= atOnceMs) {
    // Listened for before it is looked for: an end is told when it is on record.
    const isOver = ports.runEnds.of(run);
    try {
      const there = await ended();
      if (there !== null || leftMs <= 0 || gone?.aborted === true) return there;
      if (!(await isOver.within(Math.min(atOnceMs, leftMs), gone))) return await ended();
    } finally {
      isOver.leave();
    }
  }
}

async function notStarted(
  { quotas, now }: Acting,
  { tenant, keyId }: Caller,
  refused: Extract<RunNowResult, { readonly ok: false }>,
): Promise<OperationError> {
  const refusal = refused.isBusy === true ? null : await quotas.refusal(tenant);
  if (refusal !== null)
    return new OperationError("exhausted", refused.message, undefined, { retryAfterMs: refusal.retryAt - now() });
  return new OperationError("refused", keyId === null ? refused.message : plainly(refused));
}

/** Without what only the host is to know: what its resolver has found, where its files lie, how it was started. */
function plainly({ code, message }: Extract<RunNowResult, { readonly ok: false }>): string {
  return code === undefined ? message : ERRORS[code].meaning;
}
