/** The planners of this daemon, as it was started: who looks at endpoints, at which model, and where its sessions lie. */
import { type Clock, systemClock } from "../../actors/clock.js";
import type { Environment } from "../../actors/dispatcher/secrets.js";
import { Analyst } from "../../actors/endpoints/analyst.js";
import type { PlannerChoice } from "../../core/job/choices.js";
import type { SecretRef } from "../../core/job/definition.js";
import type { Planners } from "../../operations/planner/planners.js";
import { SessionLog } from "../../operations/planner/session-log.js";
import { ChatPlanner } from "../../planner/chat/chat-planner.js";
import { createTransport } from "../../planner/chat/transport.js";
import { type DaemonLog, errorEvent } from "../log/log.js";

export interface PlannerOptions {
  /** Of endpoints that do not say it. */
  readonly usual: PlannerChoice;
  readonly chat: ChatOptions | null;
}

export interface ChatOptions {
  readonly baseUrl: URL;
  readonly model: string;
  /** null: the server wants none. Read for each request, and never told. */
  readonly key: SecretRef | null;
  readonly allowPrivate: boolean;
}

export interface DaemonPlanners {
  readonly analyst: Analyst;
  readonly known: Planners;
  /** Whatever is being asked ends, and nothing more is looked at. */
  breakOff(): void;
  close(): Promise<void>;
}

interface Place {
  readonly planner?: PlannerOptions;
  readonly env: Environment;
  readonly log: DaemonLog;
}

const NOBODY: PlannerOptions = { usual: "off", chat: null };
/** How long what has been broken off may take to end: what waits for a supervisor that hears nothing any more never does. */
const CLOSE_BOUND_MS = 2_000;

export function plannersOf({ planner = NOBODY, env, log }: Place, clock: Clock): DaemonPlanners {
  const ending = new AbortController();
  const analyst = new Analyst({
    clock,
    onFailure: (error, identity) => {
      if (ending.signal.aborted) return;
      const event = errorEvent(error, { component: "planner", operation: "look" }, systemClock.now());
      log.daemon({ ...event, level: "warn", fields: { ...event.fields, identity } });
    },
  });
  const chat = planner.chat === null ? null : chatOf(planner.chat, { env, log }, clock);
  const known: Planners = {
    usual: planner.usual,
    chat,
    sessions: new SessionLog(),
    signal: ending.signal,
    told: (identity, { id: session, by, fates, session: { outcome } }) => {
      const applied = fates.filter(({ result }) => result === "applied").length;
      const fields = { identity, session, by, outcome: outcome.code, proposals: fates.length, applied };
      log.daemon({ at: clock.now(), event: "planner_session", component: "planner", level: "info", fields });
    },
    changed: (identity) => analyst.forget(identity),
  };
  const close = async (): Promise<void> => {
    ending.abort();
    const bound = new Promise<void>((resolve) => void clock.after(CLOSE_BOUND_MS, resolve));
    await Promise.race([analyst.close(), bound]);
    await chat?.close();
  };
  return { analyst, known, breakOff: () => ending.abort(), close };
}

function chatOf({ model, ...server }: ChatOptions, { env, log }: Omit<Place, "planner">, clock: Clock) {
  const transport = createTransport({ ...server, env, clock });
  const onGivenUp = (message: string): void => {
    const fields = { model, message };
    log.daemon({ at: systemClock.now(), event: "planner_given_up", component: "planner", level: "warn", fields });
  };
  const planner = new ChatPlanner({ transport, model, clock, random: Math.random, onGivenUp });
  return { planner, model, close: () => transport.close() };
}
