/** `kron/testing`: virtual time, stores that fail, processes that die, traces, and the checker that judges them. */

export { memoryStore } from "../stores/memory.js";
export type { LivenessLimits } from "./check/liveness.js";
export { PROPERTY_IDS, type PropertyId, type Violation } from "./check/violation.js";
export { checkTrace, withEnvironment } from "./check-trace.js";
export {
  type ControlledRun,
  type ControlledTask,
  controlledTask,
  type Outcome,
} from "./controlled-task.js";
export {
  type CrashableOptions,
  type CrashMode,
  type CreateScheduler,
  crash,
  crashable,
  hasCrashed,
} from "./crash.js";
export { type FaultyStore, faultyStore, InjectedStoreError, type TransactionPoint } from "./faulty-store.js";
export { type TraceRecorder, traceRecorder } from "./recorder.js";
export {
  describeAction,
  formatTrace,
  type Stamp,
  type Trace,
  type TraceAction,
  type TraceActionKind,
  type TraceTask,
} from "./trace.js";
export { type InstantLike, type VirtualTime, type VirtualTimeOptions, virtualTime } from "./virtual-time.js";
