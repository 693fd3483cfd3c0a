import { afterEach } from "vitest";
import { createDecisionPool } from "../../../../src/actors/pool/decision-pool.js";
import type { DecisionPool, DecisionPoolOptions } from "../../../../src/actors/pool/types.js";

/** Pools that are closed after each test. */
export function pools(entry: () => string): (options: DecisionPoolOptions) => DecisionPool {
  const made: DecisionPool[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((pool) => pool.close()));
  });
  return (options) => {
    const pool = createDecisionPool({ entry: entry(), ...options });
    made.push(pool);
    return pool;
  };
}
