import type { Result } from "../../src/core/base/result.js";

/** The value of a reading that must have gone well. */
export function requireOk<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`expected a value, got ${JSON.stringify(result.error)}`);
  return result.value;
}

/** The problem of a reading that must have failed. */
export function requireErr<E>(result: Result<unknown, E>): E {
  if (result.ok) throw new Error(`expected a problem, got ${JSON.stringify(result.value)}`);
  return result.error;
}
