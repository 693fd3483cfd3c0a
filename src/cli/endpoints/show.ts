/** One endpoint, for people; or as the file that would make it what it is. */
import { plainLines, plainText } from "../../core/base/plain-text.js";
import { KRON } from "../../core/governor/author.js";
import { FOR_GOOD_AT } from "../../core/period/policy.js";
import { formatDuration } from "../../core/time/duration.js";
import { formatInstant } from "../../core/time/instant.js";
import { formatDistance, plural } from "../format.js";
import { type Paint, renderPairs } from "../style.js";
import { FIELD_NAMES } from "./fields.js";
import type { NamedEndpoint } from "./names.js";
import { scheduleText } from "./texts.js";

type Pair = readonly [name: string, value: string];

export function endpointText({ label, endpoint }: NamedEndpoint, now: number, paint: Paint): string {
  const { description } = endpoint;
  const about = description === "" ? "" : `: ${plainLines(description)}`;
  return `${paint.bold(plainText(label))}${about}\n${renderPairs([...whatItIs(endpoint), ...whereItStands(endpoint, now)], paint)}`;
}

type Endpoint = NamedEndpoint["endpoint"];

function whatItIs(endpoint: Endpoint): readonly Pair[] {
  const { id, url, method, minIntervalMs, maxIntervalMs, retry, tags, body } = endpoint;
  const bounds = [
    ...(minIntervalMs === null ? [] : [`at least ${formatDuration(minIntervalMs)}`]),
    ...(maxIntervalMs === null ? [] : [`at most ${formatDuration(maxIntervalMs)}`]),
  ];
  return [
    ["id", id],
    ["request", `${method} ${url}${body === null ? "" : `, ${Buffer.byteLength(body)} bytes`}`],
    ...Object.entries(endpoint.headers).map(([name, value]): Pair => ["header", `${name}: ${value}`]),
    ...endpoint.secretHeaders.map((name): Pair => ["header", `${name}: (kept sealed)`]),
    ["schedule", scheduleText(endpoint)],
    ...optional("bounds", bounds.join(", ")),
    ["limits", `${formatDuration(endpoint.timeoutMs)}, ${endpoint.maxResponseSizeKb}KiB`],
    ["success", `${endpoint.successStatuses.join(", ")}${bodyText(endpoint.successBody)}`],
    ...optional("retries", retry === null ? "" : `${retry.limit}, the first after ${formatDuration(retry.backoffMs)}`),
    ...optional("stops", stopText(endpoint)),
    ...tellsPairs(endpoint.notify),
    ...optional("sent by", endpoint.by === "krond" ? "" : "a worker that claims the run"),
    ...optional("tags", tags.join(", ")),
  ];
}

function bodyText(rule: Endpoint["successBody"]): string {
  if (rule === null) return "";
  if ("contains" in rule) return `, and the body contains ${JSON.stringify(rule.contains)}`;
  return `, and the body has ${JSON.stringify(rule.equals)} at ${JSON.stringify(rule.pointer)}`;
}

export function tellsPairs(rules: Endpoint["notify"]): readonly Pair[] {
  if (rules === null) return [];
  if (rules.length === 0) return [["tells", "nobody"]];
  return rules.map(({ url, on, afterFailures, lateMs, signingSecret }) => {
    const words = [
      ...on.filter((word) => word !== "late" || lateMs === null),
      ...(lateMs === null ? [] : [`late after ${formatDuration(lateMs)}`]),
      ...(afterFailures === 1 ? [] : [`after ${afterFailures} failures in a row`]),
      ...(signingSecret === undefined ? [] : ["signed"]),
    ];
    return ["tells", `${url}: ${words.join(", ")}`];
  });
}

function stopText({ autoPause, maxRuns, endAt }: Endpoint): string {
  const words = [
    ...(autoPause === null ? [] : [`after ${plural(autoPause.afterFailures, "failure")} in a row`]),
    ...(maxRuns === null ? [] : [`after ${plural(maxRuns, "run")}`]),
    ...(endAt === null ? [] : [`at ${endAt}`]),
  ];
  return words.join(", ");
}

function whereItStands(endpoint: Endpoint, now: number): readonly Pair[] {
  const { nextRunAt, nextSource, lastRunAt, lastStatus, failureCount, running, trouble, hints } = endpoint;
  const failures = failureCount === 0 ? "" : `, ${failureCount} in a row have failed`;
  const when = (at: string): string => `${at} (${formatDistance(now, Date.parse(at))})`;
  const about = ({ expiresAt, reason, by }: { expiresAt: string; reason: string; by: string | null }): string =>
    `until ${expiresAt}${reason === "" ? "" : ` (${plainText(reason)})`}${byText(by)}`;
  return [
    ["status", statusText(endpoint)],
    ...optional("trouble", trouble ?? ""),
    ...optional("running", running === 0 ? "" : String(running)),
    ["next run", nextRunAt === null ? "-" : `${when(nextRunAt)}, ${nextSource}`],
    ["last run", lastRunAt === null ? "-" : `${when(lastRunAt)}, ${lastStatus ?? "not ended"}${failures}`],
    ...(hints.oneshot === null
      ? []
      : [["hint", `once at ${hints.oneshot.nextRunAt}, ${about(hints.oneshot)}`] as const]),
    ...(hints.interval === null
      ? []
      : [["hint", `every ${formatDuration(hints.interval.intervalMs)} ${about(hints.interval)}`] as const]),
    ["version", `${endpoint.version}, of ${endpoint.updatedAt}`],
  ];
}

/** Of whoever wanted it; nothing is said of the host's own. */
function byText(by: string | null): string {
  return by === null ? "" : `, by ${by}`;
}

function statusText({ status, pausedUntil, pauseReason, pausedBy }: Endpoint): string {
  if (status === "held") return "held by its job, which is paused or archived";
  if (status === "active") return status;
  if (pausedBy === KRON) return `paused by kron until it is resumed: ${plainText(pauseReason ?? "")}`;
  const until = pausedUntil === formatInstant(FOR_GOOD_AT) ? "it is resumed" : pausedUntil;
  return `paused until ${until}${pauseReason ? ` (${plainText(pauseReason)})` : ""}${byText(pausedBy)}`;
}

function optional(name: string, value: string): readonly Pair[] {
  return value === "" ? [] : [[name, value]];
}

/** Secrets are named, and kept by whoever applies it. */
export function specOf({ endpoint }: NamedEndpoint, job: string): Readonly<Record<string, unknown>> {
  const fields = FIELD_NAMES.map((name) => [name, endpoint[name]] as const);
  const secretHeaders = Object.fromEntries(endpoint.secretHeaders.map((name) => [name, null]));
  return { job, ...Object.fromEntries(fields), secretHeaders };
}
