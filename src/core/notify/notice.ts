/** A message as it is kept until somebody has it: JSON with everything that a delivery needs, and no secret in it. */
import type { JobDefinition, NotifyOccasion, NotifyTarget } from "../job/definition.js";
import type { EpochMs } from "../time/instant.js";
import { formatSecond } from "../time/instant.js";
import type { Happening, Trouble } from "./trouble.js";

/** What is sent; the names are published. */
export interface Message {
  readonly id: string;
  readonly event: NotifyOccasion | "group";
  readonly at: string;
  readonly identity: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly schedule?: string;
  readonly timezone?: string;
  readonly period_id?: string;
  readonly source?: string;
  readonly attempt_id?: string;
  /** In words. */
  readonly result?: string;
  readonly outcome?: string;
  readonly reason?: string | null;
  readonly periods?: number;
  /** When the trouble began that goes on or is over. */
  readonly since?: string;
  readonly last_success?: string;
  readonly [ending: string]: unknown;
}

export interface Notice {
  readonly message: Message;
  readonly target: NotifyTarget;
  /** What a run has printed, for the body of a mail. */
  readonly outputPath: string | null;
}

type About = Pick<JobDefinition, "identity" | "description" | "tags" | "schedule" | "timezone">;

function head(id: string, event: NotifyOccasion, at: EpochMs, job: About): Message {
  const { identity, description, tags, schedule, timezone } = job;
  return {
    id,
    event,
    at: formatSecond(at),
    identity,
    ...(description === "" ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    schedule,
    timezone,
  };
}

export function messageOf(
  id: string,
  event: NotifyOccasion,
  job: About,
  happening: Happening,
  trouble: Trouble | null,
): Message {
  const { at, periodId, source, attemptId, result, outcome, reason, count, ending } = happening;
  return {
    ...head(id, event, at, job),
    period_id: periodId,
    ...(source === null ? {} : { source }),
    ...(attemptId === null ? {} : { attempt_id: attemptId }),
    ...(result === null ? {} : { result }),
    ...(outcome === null ? {} : { outcome }),
    ...(reason === null ? {} : { reason }),
    ...(count === null ? {} : { periods: count }),
    ...ending,
    ...(trouble === null ? {} : { since: formatSecond(trouble.sinceAt) }),
  };
}

/** The dead man's switch: `sinceAt` is the last success, or when the job was first asked for one. */
export function lateMessage(id: string, job: About, at: EpochMs, sinceAt: EpochMs): Message {
  return { ...head(id, "late", at, job), result: "late", since: formatSecond(sinceAt) };
}

/** How many messages a grouped one spells out; the rest are counted. */
const SPELT_OUT = 50;
/** Alerts are ended one by one: whoever keeps them must hear of each. */
const SPELT_OUT_ALERTS = 10_000;

/** Many in one, told instead of each. What was a group already is taken apart: its age is that of the oldest. */
export function groupOf(id: string, messages: readonly Message[], target: NotifyTarget): Message {
  const all = messages.flatMap((message) => (message.event === "group" ? (message["events"] as Message[]) : [message]));
  const lost = messages.reduce((sum, { left_out = 0 }) => sum + Number(left_out), 0);
  const most = target.kind === "webhook" && target.format === "alertmanager" ? SPELT_OUT_ALERTS : SPELT_OUT;
  const events = all.slice(0, most);
  const at = messages.reduce((oldest, message) => (message.at < oldest ? message.at : oldest), messages[0]?.at ?? "");
  const count = all.length + lost;
  return { id, event: "group", at, identity: "", count, left_out: count - events.length, events };
}

export function noticeText({ message, target, outputPath }: Notice): string {
  return JSON.stringify({ message, target, ...(outputPath === null ? {} : { output: outputPath }) });
}

/** null: not one that this version can tell. */
export function readNotice(text: string): Notice | null {
  try {
    const {
      message,
      target,
      output = null,
    } = JSON.parse(text) as {
      readonly message?: Message;
      readonly target?: NotifyTarget;
      readonly output?: string | null;
    };
    const isWhole = typeof message?.id === "string" && typeof target?.kind === "string";
    return isWhole && message !== undefined && target !== undefined ? { message, target, outputPath: output } : null;
  } catch {
    return null;
  }
}

/** Those to one place are told one after the other, and share its limit. */
export function placeOf(target: NotifyTarget): string {
  switch (target.kind) {
    case "command":
      return `command ${JSON.stringify(target.argv)}`;
    case "mail":
      return `mail ${target.to.join(",")}`;
    default:
      return `webhook ${target.http.method} ${target.http.url} ${JSON.stringify(target.http.headers)}`;
  }
}
