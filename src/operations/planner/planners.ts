/** The planners that a daemon has, and which of them looks at an endpoint. */
import { plannerNamed } from "../../core/governor/author.js";
import type { PlannerChoice } from "../../core/job/choices.js";
import type { Planner } from "../../planner/port.js";
import type { SessionKind } from "../../planner/session.js";
import type { SessionLog, SessionRecord } from "./session-log.js";

export interface Planners {
  /** Of endpoints that do not say it. */
  readonly usual: PlannerChoice;
  /** null: there is no model, and the rules take its place. */
  readonly chat: { readonly planner: Planner; readonly model: string } | null;
  readonly sessions: SessionLog;
  /** Aborted when the daemon ends: whatever is being asked ends with it. */
  readonly signal: AbortSignal;
  /** A session is on record, with what became of it. */
  told(identity: string, record: SessionRecord): void;
  /** An endpoint was changed, or is gone: what was found of it before holds no more. */
  changed(identity: string): void;
}

/** null: nobody looks at it. */
export function planningKind({ usual, chat }: Planners, choice: PlannerChoice | null): SessionKind | null {
  const wanted = choice ?? usual;
  if (wanted === "off") return null;
  return wanted === "chat" && chat !== null ? "chat" : "rules";
}

/** Whose the proposals of a session are. */
export function authorOfSession({ chat }: Planners, kind: SessionKind): string {
  return plannerNamed(kind === "chat" && chat !== null ? chat.model : "rules");
}
