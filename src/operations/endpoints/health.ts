/** How endpoints have been doing, and what their tenant may use. */
import { z } from "zod";
import { NO_LIMITS, TENANT_LIMITS } from "../../actors/endpoints/tenant-limits.js";
import { troubleOnRecord } from "../../actors/messenger/notices.js";
import { WINDOW_NAMES } from "../../core/endpoint/health.js";
import { KRON } from "../../core/governor/author.js";
import type { Trouble } from "../../core/notify/trouble.js";
import { DAY_MS, floorToSecond, formatInstant } from "../../core/time/instant.js";
import { daemonOperation, tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { statusesOf } from "../records/attended-status.js";
import { dryRun, REHEARSED } from "../rehearsal.js";
import { count, listOf, time } from "../shapes/words.js";
import { tenantName } from "../tenant.js";
import { changeLimits, endpointOf } from "./change.js";
import { identityIn } from "./records.js";
import { endpointId } from "./shapes.js";

const duration = z.number().nullable();

const WINDOW = z.strictObject({
  from: time,
  runs: count,
  successes: count,
  errors: count,
  /** Successful runs that said there was nothing to do. */
  idle: count,
  /** null: there were none, which is not the same as 0. */
  successRate: z.number().nullable(),
  p50Ms: duration,
  p95Ms: duration,
});

const HEALTH_ANSWER = z.strictObject({
  windows: z.strictObject({ "1h": WINDOW, "4h": WINDOW, "24h": WINDOW, "30d": WINDOW }),
  streak: z.strictObject({ failures: count, successes: count, since: time.nullable() }),
  /** Why Kron itself has paused it, if it has. */
  stopped: z.string().nullable(),
  /** What people were told, or are to be told, that it is in, and not yet that it is over. */
  trouble: z
    .strictObject({
      kind: z.enum(["failure", "missed", "late"]),
      since: time,
      /** false: nobody was told yet, for they wait for more failures in a row. */
      isTold: z.boolean(),
    })
    .nullable(),
  /** Messages about it that nobody has taken yet, and why the last try failed. */
  undelivered: z.strictObject({ count, error: z.string().nullable() }),
  lastErrors: listOf(z.strictObject({ at: time, code: z.string(), status: z.int().nullable(), message: z.string() })),
});
export type HealthAnswer = z.output<typeof HEALTH_ANSWER>;

export const HEALTH = tenantOperation({
  name: "endpoints.health",
  summary: "how an endpoint has been doing within the last hour, four hours, day and month",
  http: { method: "GET", path: "/endpoints/:endpointId/health" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ endpointId }),
  output: HEALTH_ANSWER,
  run: async (request, ports, { tenant }): Promise<HealthAnswer> => {
    const endpoint = await endpointOf(ports, tenant, request.endpointId);
    const identity = identityIn(tenant, endpoint);
    const { windows, streak, lastErrors } = await ports.health.read(identity);
    const [status] = await statusesOf(ports, [identity]);
    const told = WINDOW_NAMES.map((name) => {
      const { fromAt, ...window } = windows[name];
      return [name, { from: formatInstant(fromAt), ...window }] as const;
    });
    const { failures, successes, sinceAt } = streak;
    return {
      windows: Object.fromEntries(told) as HealthAnswer["windows"],
      streak: { failures, successes, since: sinceAt === null ? null : formatInstant(sinceAt) },
      stopped: status?.pausedBy === KRON ? status.pauseReason : null,
      trouble: troubleTold(await troubleOnRecord(ports.reader, identity)),
      undelivered: await undeliveredOf(ports, identity),
      lastErrors: lastErrors.map(({ at, ...error }) => ({ at: formatInstant(at), ...error })),
    };
  },
});

/** Whoever looks after the endpoint brings people what they are to be told of it. */
async function undeliveredOf({ among, messenger }: Acting, identity: string): Promise<HealthAnswer["undelivered"]> {
  const all = [messenger.undeliveredOf(identity), ...((await among?.undelivered(identity)) ?? [])];
  const [first = null] = all.flatMap(({ error }) => error ?? []);
  return { count: all.reduce((sum, { count: waiting }) => sum + waiting, 0), error: first };
}

function troubleTold(trouble: Trouble | null): HealthAnswer["trouble"] {
  if (trouble === null) return null;
  const { kind, sinceAt, counted } = trouble;
  return {
    kind,
    since: formatInstant(floorToSecond(sinceAt)),
    isTold: counted === undefined || counted.told.length > 0,
  };
}

export const LIMITS_ANSWER = z.strictObject({
  tenant: tenantName,
  limits: TENANT_LIMITS,
  used: z.strictObject({
    endpoints: count,
    executionsThisMonth: count,
    plannerCallsToday: count,
    plannerTokensToday: count,
  }),
  /** When the month, and the day, begin anew. */
  resets: z.strictObject({ month: time, day: time }),
  ...REHEARSED,
});
export type LimitsAnswer = z.output<typeof LIMITS_ANSWER>;

export const LIMITS_OF_CALLER = tenantOperation({
  name: "limits.get",
  summary: "what a tenant may use, and has used",
  http: { method: "GET", path: "/limits" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({}),
  output: LIMITS_ANSWER,
  run: (_request, ports, { tenant }) => limitsOf(ports, tenant),
});

/** A pace has some burst or other: where nobody says which, it is the usual one. */
const executionBurst = TENANT_LIMITS.shape.executionBurst
  .unwrap()
  .nullable()
  .default(null)
  .meta({ description: `How many of them may come at once; null: ${NO_LIMITS.executionBurst}.` });

export const SET_LIMITS = daemonOperation({
  name: "limits.set",
  summary: "says what a tenant may use; what is not named has no bound",
  http: { method: "PUT", path: "/tenants/:tenant/limits", query: ["dryRun"] },
  access: "admin",
  beginsSomething: true,
  input: z.strictObject({ tenant: tenantName, dryRun, ...TENANT_LIMITS.shape, executionBurst }),
  output: LIMITS_ANSWER,
  run: async ({ tenant, dryRun: isRehearsal, executionBurst: burst, ...others }, ports) => {
    const limits = { ...others, executionBurst: burst ?? NO_LIMITS.executionBurst };
    await changeLimits(ports, tenant, limits, isRehearsal);
    const answer = await limitsOf(ports, tenant);
    return isRehearsal ? { ...answer, limits } : answer;
  },
});

export async function limitsOf(ports: Acting, tenant: string): Promise<LimitsAnswer> {
  const { limits, state } = await ports.quotas.use(tenant);
  const now = new Date(ports.now());
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const isThisMonth = state.month === year * 12 + month;
  const isToday = state.day === Math.floor(ports.now() / DAY_MS);
  return {
    tenant,
    limits: { ...limits },
    used: {
      endpoints: await ports.quotas.endpoints(tenant),
      executionsThisMonth: isThisMonth ? state.executions : 0,
      plannerCallsToday: isToday ? state.plannerCalls : 0,
      plannerTokensToday: isToday ? state.plannerTokens : 0,
    },
    resets: { month: formatInstant(Date.UTC(year, month + 1, 1)), day: formatInstant(Date.UTC(year, month, date + 1)) },
  };
}
