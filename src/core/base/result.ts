/** The outcome of reading something that may be wrong: bad input is a value, never an exception. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** What is wrong here ends what is being done. */
export function unwrap<T>(result: Result<T, Error>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

/** Closes a switch over a union: a new member that nobody handled becomes a type error. */
export function assertNever(value: never, what: string): never {
  throw new Error(`invariant broken: unexpected ${what}: ${JSON.stringify(value)}`);
}
