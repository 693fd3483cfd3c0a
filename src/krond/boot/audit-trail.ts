/** Who has changed what, of what is asked for, and of what jobs do to themselves (S51). */
import type { Clock } from "../../actors/clock.js";
import type { Phase } from "../../actors/phase.js";
import { KRON } from "../../core/governor/author.js";
import { mayStart } from "../../machines/supervisor-phase.js";
import { type AuditPorts, AuditTrail } from "../../operations/audit/trail.js";
import type { StateReader } from "../../persist/store.js";
import type { EventFeed } from "./event-feed.js";

interface Parts {
  readonly clock: Clock;
  readonly events: EventFeed;
  readonly phase: Phase;
  readonly store: StateReader;
}

export function auditTrail({ clock, events, phase, store }: Parts, write: AuditPorts["write"]): AuditTrail {
  const trail = new AuditTrail({ reader: store, write, now: () => clock.now() });
  events.subscribe(({ event, identity, fields }) => {
    if (event !== "paused" || identity === undefined || fields?.["by"] !== KRON) return;
    trail.noteStop(identity).catch((error: unknown) => {
      // A daemon that ends writes nothing any more; the pause itself is on the job's record.
      if (mayStart(phase.snapshot)) phase.fail(error);
    });
  });
  return trail;
}
