/** What is told of a job that nobody looks after now, from what is on record of it alone. */
import { compileRule } from "../../../core/decision/compile.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { periodOf } from "../../../core/period/occasion.js";
import { aheadOf } from "../../../core/restart/outlook.js";
import { type StateDocument, standingOf } from "../../../core/state/document.js";
import type { EpochMs } from "../../../core/time/instant.js";
import type { JobStatus } from "../port.js";
import { statusOf } from "./job-status.js";

export function recordedStatus(definition: JobDefinition, document: StateDocument, now: EpochMs): JobStatus {
  const compiled = compileRule(definition);
  const rule = { compiled, isSuspended: definition.policy.suspend };
  const liveAt = periodOf(aheadOf(rule, standingOf(document), now));
  return statusOf({ identity: definition.identity, definition, isRemoved: false, liveAt }, document, now);
}
