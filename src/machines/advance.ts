/**
 * One event through one chart: the next snapshot, and the effects as data. Nothing is executed. Does what XState's pure
 * `transition` does, but for charts without children and delays: those need no actor of their own to stand in for them,
 * and making one costs more than the step.
 */
import { type AnyStateMachine, createEmptyActor, type EventFromLogic, type InputFrom, type SnapshotFrom } from "xstate";
import type { Effect } from "./effects.js";

export interface Advance<Snapshot> {
  readonly snapshot: Snapshot;
  readonly effects: readonly Effect[];
}

export function advance<Machine extends AnyStateMachine>(
  machine: Machine,
  snapshot: SnapshotFrom<Machine>,
  event: EventFromLogic<Machine>,
): Advance<SnapshotFrom<Machine>> {
  const effects: Effect[] = [];
  const next = machine.transition(snapshot, event, scopeFor(effects));
  return { snapshot: next as SnapshotFrom<Machine>, effects };
}

/** The first snapshot, with the effects of entering it. */
export function begin<Machine extends AnyStateMachine>(
  machine: Machine,
  ...[input]: undefined extends InputFrom<Machine> ? [input?: InputFrom<Machine>] : [input: InputFrom<Machine>]
): Advance<SnapshotFrom<Machine>> {
  const effects: Effect[] = [];
  const first = machine.getInitialSnapshot(scopeFor(effects), input);
  return { snapshot: first as SnapshotFrom<Machine>, effects };
}

type InertScope = Parameters<AnyStateMachine["transition"]>[2];

let bystander: ReturnType<typeof createEmptyActor> | null = null;

/** Collects what would be executed; everything an actor could be asked for besides does nothing. */
function scopeFor(effects: Effect[]): InertScope {
  bystander ??= createEmptyActor();
  return {
    self: bystander as unknown as InertScope["self"],
    system: bystander.system,
    id: "",
    sessionId: "",
    logger: () => {},
    defer: () => {},
    emit: () => {},
    stopChild: () => {},
    // The charts that are driven this way name no actions but effects and assignments, and assignments are resolved.
    actionExecutor: ({ type, params }) => void effects.push({ type, params } as Effect),
  };
}
