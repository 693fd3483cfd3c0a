/**
 * What a planner gets to know of an endpoint: its schedule, bounds, hints and health, and for a model what is beside it in the
 * same job. Nothing of its request, and nothing of any other tenant.
 */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { turnOfLoop } from "../../actors/turns.js";
import { DEFAULT_DST } from "../../core/cron/schedule.js";
import { scheduleOf } from "../../core/decision/compile.js";
import { governedOf } from "../../core/endpoint/baseline.js";
import { oneLine } from "../../core/endpoint/ended-run.js";
import { shortestIntervalMs } from "../../core/endpoint/quota.js";
import { isPlanners } from "../../core/governor/author.js";
import { formatDuration } from "../../core/time/duration.js";
import { type EpochMs, instantOrNull, knownInstant } from "../../core/time/instant.js";
import { PLANNER_LIMITS } from "../../planner/limits.js";
import type { Author, Baseline, EndpointSituation, Sibling, Situation } from "../../planner/model.js";
import type { SessionKind } from "../../planner/session.js";
import { type EndpointRecord, identityIn, membersOf, readEndpoint } from "../endpoints/records.js";
import type { Acting } from "../ports.js";
import { readHints } from "../records/hints.js";

/** Periods that are looked at for how far apart they usually are. */
const PERIODS = 9;
/** Read before everything else has its turn. */
const SIBLINGS_PER_TURN = 4;

export async function situationOf(
  ports: Acting,
  tenant: string,
  endpoint: EndpointRecord,
  kind: SessionKind,
): Promise<Situation> {
  const now = ports.now();
  const identity = identityIn(tenant, endpoint);
  const [status = null] = await ports.supervisor.list({ identities: [identity] });
  return {
    now,
    endpoint: await endpointSituation(ports, tenant, endpoint, status, now),
    health: await ports.health.read(identity),
    // The rules do not look at them.
    siblings: kind === "chat" ? await siblingsOf(ports, tenant, endpoint) : [],
  };
}

async function endpointSituation(
  ports: Acting,
  tenant: string,
  endpoint: EndpointRecord,
  status: JobStatus | null,
  now: EpochMs,
): Promise<EndpointSituation> {
  const { spec, id } = endpoint;
  const { limits } = await ports.quotas.use(tenant);
  const hints = await readHints(ports.reader, identityIn(tenant, endpoint), now);
  const { interval = null, oneshot = null } = hints ?? {};
  const until = instantOrNull(status?.pausedUntil);
  return {
    id,
    name: oneLine(spec.name, PLANNER_LIMITS.nameChars),
    baseline: baselineOf(endpoint, now),
    minIntervalMs: shortestIntervalMs(limits, spec.minIntervalMs),
    maxIntervalMs: spec.maxIntervalMs,
    hints: {
      interval: interval === null ? null : { intervalMs: interval.interval_ms, ...inForce(interval) },
      oneshot: oneshot === null ? null : { nextRunAt: knownInstant(oneshot.next_run_at), ...inForce(oneshot) },
    },
    pausedUntil:
      until === null || until <= now
        ? null
        : { until, by: authorIn(status?.pausedBy ?? null), reason: shown(status?.pauseReason ?? "") },
    fasterOnErrors: spec.fasterOnErrors,
  };
}

function inForce({ expires_at, by, reason }: { readonly expires_at: string; by: string | null; reason: string }) {
  return { expiresAt: knownInstant(expires_at), by: authorIn(by), reason: shown(reason) };
}

function authorIn(by: string | null): Author {
  return isPlanners(by ?? undefined) ? "planner" : "person";
}

function shown(reason: string): string {
  return oneLine(reason, PLANNER_LIMITS.shownReasonChars);
}

function baselineOf({ spec }: EndpointRecord, now: EpochMs): Baseline {
  const { timezone } = spec;
  const { baselineCron = null, baselineIntervalMs = null } = governedOf(spec);
  if (baselineIntervalMs !== null) {
    return { text: `every ${formatDuration(baselineIntervalMs)}`, intervalMs: baselineIntervalMs };
  }
  const text = oneLine(`${baselineCron ?? ""} (${timezone})`, PLANNER_LIMITS.nameChars);
  return { text, intervalMs: baselineCron === null ? null : usualIntervalMs(baselineCron, timezone, now) };
}

/** Half of the next periods are no farther apart; null: there are none any more. */
function usualIntervalMs(schedule: string, timezone: string, now: EpochMs): number | null {
  const compiled = scheduleOf({ schedule, timezone, dst: DEFAULT_DST });
  if (!compiled.ok) return null;
  const instants: EpochMs[] = [];
  for (let at = compiled.value.next(now); at !== null && instants.length < PERIODS; at = compiled.value.next(at)) {
    instants.push(at);
  }
  const apart = instants.slice(1).map((at, index) => at - (instants[index] ?? at));
  return apart.sort((one, other) => one - other)[Math.floor((apart.length - 1) / 2)] ?? null;
}

async function siblingsOf(ports: Acting, tenant: string, { id, jobId }: EndpointRecord): Promise<Sibling[]> {
  const prefix = membersOf(tenant, jobId);
  const found = await ports.reader.objects({ prefix, limit: PLANNER_LIMITS.siblings + 1 });
  const ids = found.map(({ key }) => key.slice(prefix.length)).filter((other) => other !== id);
  const siblings: Sibling[] = [];
  for (const other of ids.slice(0, PLANNER_LIMITS.siblings)) {
    const endpoint = await readEndpoint(ports.reader, tenant, other);
    if (endpoint !== null) siblings.push(await siblingOf(ports, tenant, endpoint));
    if (siblings.length % SIBLINGS_PER_TURN === 0) await turnOfLoop();
  }
  return siblings;
}

async function siblingOf(ports: Acting, tenant: string, endpoint: EndpointRecord): Promise<Sibling> {
  const identity = identityIn(tenant, endpoint);
  const { windows, streak } = await ports.health.read(identity);
  const hints = await readHints(ports.reader, identity, ports.now());
  return {
    name: oneLine(endpoint.spec.name, PLANNER_LIMITS.nameChars),
    successRate: windows["1h"].successRate,
    failures: streak.failures,
    intervalMs: hints?.interval?.interval_ms ?? endpoint.spec.baselineIntervalMs,
  };
}
