/** `kron/worker`: for programs that carry out runs of endpoints themselves. */
export {
  type ClaimResult,
  createWorker,
  type EndpointClaim,
  type EndpointWorker,
  type RunOptions,
  type WorkerOptions,
} from "./worker.js";
