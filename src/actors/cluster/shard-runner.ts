/**
 * The runner of a node as one of its supervisors has it: from the moment it is let go of, that supervisor hears nothing more
 * of it, and nothing of the supervisor is kept for its sake. Trouble that is about no run is the node's, and told once.
 */
import type { Runner } from "../runner/port.js";

interface ShardRunner {
  readonly runner: Runner;
  letGo(): void;
}

export function shardRunner(runner: Runner): ShardRunner {
  const stops = new Set<() => void>();
  const subscribe: Runner["subscribe"] = (listener) => {
    const stop = runner.subscribe((event) => {
      if (event.kind !== "trouble") listener(event);
    });
    stops.add(stop);
    return () => {
      stops.delete(stop);
      stop();
    };
  };
  const shared: Runner = {
    get capacity() {
      return runner.capacity;
    },
    arm: (request) => runner.arm(request),
    go: (armed, latestAt) => runner.go(armed, latestAt),
    abort: (armed) => runner.abort(armed),
    adopt: (request) => runner.adopt(request),
    terminate: (attemptId, graceMs) => runner.terminate(attemptId, graceMs),
    subscribe,
    // It is the node's.
    close: async () => undefined,
  };
  const letGo = (): void => {
    for (const stop of stops) stop();
    stops.clear();
  };
  return { runner: shared, letGo };
}
