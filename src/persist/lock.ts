/**
 * The lock yields a term.
 *
 * A store has at most one holder at a time (S33). Whoever acquires its lock gets a `LockTerm`, and every write to the store
 * asks for that term: code that never acquired the lock has no value to pass, and code that lost it is caught at its next
 * write. A term that can end by itself says so through `lost`; those of directories end with `release()` or with the process,
 * so nothing here needs a lease, a clock or a heartbeat.
 *
 * A state directory is one such place, whatever path, link or mount leads to it.
 * The lock is an flock(2) on our own descriptor of the directory. It belongs to the open file description: the helper
 * that places it exits at once and we keep it; no child inherits it (close-on-exec); the kernel frees it the moment the
 * holder dies, SIGKILL included, although children live on; and there is no lock file that could be deleted. A link as
 * the last component is refused, so is a foreign or open directory (S31).
 *
 * It never waits, and it protects against other processes only: within one process the supervisor is the one writer.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { KronError } from "../core/base/errors/kron-error.js";
import { messageOf } from "../core/base/errors/message.js";
import { err, ok, type Result } from "../core/base/result.js";
import { openPrivateDirectory } from "./private-files.js";

declare const LOCK_TERM: unique symbol;

/** Proof that its holder is the only one who may write at `place`. Opaque: only acquiring makes one. */
export interface LockTerm {
  readonly [LOCK_TERM]: true;
  /** What is held: a directory, absolute and without a trailing slash, or whatever else names a store. */
  readonly place: string;
  readonly isReleased: boolean;
  /** Resolves when the term has ended without having been given back: what its holder does from then on, it may not do. */
  readonly lost: Promise<KronError>;
  /** Until when, by the monotonic clock, nobody else has it for sure (C4, C8); it grows as long as all is well. */
  readonly trustedUntilMs: number;
  /** Gives the lock back: from the call on nothing can be written, and whoever asks when it resolves can have it. */
  release(): Promise<void>;
}

class HeldTerm {
  declare readonly [LOCK_TERM]: true;
  readonly place: string;
  readonly lost: Promise<KronError>;
  readonly #onRelease: () => void | Promise<void>;
  readonly #lease: Lease;
  #released: Promise<void> | null = null;

  constructor(place: string, onRelease: () => void | Promise<void>, lease: Lease) {
    this.place = place;
    this.lost = lease.lost;
    this.#lease = lease;
    this.#onRelease = onRelease;
  }

  get trustedUntilMs(): number {
    return this.#lease.trustedUntilMs;
  }

  get isReleased(): boolean {
    return this.#released !== null;
  }

  release(): Promise<void> {
    // What needs no waiting is done when the call returns.
    this.#released ??= Promise.resolve(this.#onRelease());
    return this.#released;
  }
}

/** What a term lasts by. */
type Lease = Pick<LockTerm, "lost" | "trustedUntilMs">;

/** The kernel takes no lock away. */
function forGood(): Lease {
  return { lost: new Promise<never>(() => undefined), trustedUntilMs: Number.POSITIVE_INFINITY };
}

/** For those who have become the only one who may write at `place`, by whatever means. */
export function heldTerm(place: string, onRelease: () => void | Promise<void>, lease: Lease = forGood()): LockTerm {
  return new HeldTerm(place, onRelease, lease);
}

/** util-linux and busybox both leave with this status when somebody else holds the lock. */
const FLOCK_CONFLICT_STATUS = 1;
/** Absolute first: the helper must not depend on the caller's PATH. */
const FLOCK_HELPERS = ["/usr/bin/flock", "/bin/flock", "flock"];

function lockError(code: "lock-held" | "lock-unavailable", message: string, hint?: string): KronError {
  return new KronError(code, message, {
    component: "persist",
    operation: "lock",
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Locks the open file description behind `descriptor`, which the helper gets as its descriptor 3. */
function placeLock(descriptor: number, directory: string, helpers: readonly string[]): Result<void, KronError> {
  for (const helper of helpers) {
    const { status, error } = spawnSync(helper, ["-n", "-x", "3"], {
      stdio: ["ignore", "ignore", "ignore", descriptor],
    });
    if (status === 0) return ok(undefined);
    if (status === FLOCK_CONFLICT_STATUS) {
      return err(lockError("lock-held", `another process holds ${directory}`, "stop it, or name another directory"));
    }
    if (error === undefined) return err(lockError("lock-unavailable", `${helper} failed on ${directory}: ${status}`));
    if (!("code" in error) || error.code !== "ENOENT") {
      return err(lockError("lock-unavailable", `cannot run ${helper}: ${error.message}`));
    }
  }
  return err(lockError("lock-unavailable", "the flock command is missing", "install util-linux"));
}

/** Between open and lock the name may have come to mean another directory; then we hold the wrong one. */
function isStillNamed(descriptor: number, directory: string): boolean {
  const held = fs.fstatSync(descriptor);
  const named = fs.lstatSync(directory, { throwIfNoEntry: false });
  return named !== undefined && named.dev === held.dev && named.ino === held.ino;
}

function lockDescriptor(descriptor: number, directory: string, helpers: readonly string[]): Result<void, KronError> {
  try {
    const placed = placeLock(descriptor, directory, helpers);
    if (!placed.ok || isStillNamed(descriptor, directory)) return placed;
    return err(lockError("lock-unavailable", `${directory} was replaced while it was being locked`));
  } catch (error) {
    return err(lockError("lock-unavailable", `cannot lock ${directory}: ${messageOf(error)}`));
  }
}

/**
 * Becomes the only holder of a state directory, creating it (0700) when it is missing. Fails at once, with `lock-held`,
 * when somebody else holds it.
 */
export function acquireDirectoryLock(
  directory: string,
  helpers: readonly string[] = FLOCK_HELPERS,
): Result<LockTerm, KronError> {
  // Resolving also removes a trailing slash, behind which O_NOFOLLOW would follow a link.
  const absolute = path.resolve(directory);
  const opened = openPrivateDirectory(absolute);
  if (!opened.ok) return opened;
  const locked = lockDescriptor(opened.value, absolute, helpers);
  if (!locked.ok) {
    fs.closeSync(opened.value);
    return locked;
  }
  return ok(heldTerm(absolute, () => fs.closeSync(opened.value)));
}

const heldPlaces = new WeakSet<object>();

/** The same promise for state that lives in memory only: one term at a time for one `place`. */
export function acquireMemoryLock(place: object, name = "memory"): Result<LockTerm, KronError> {
  if (heldPlaces.has(place)) return err(lockError("lock-held", `another store holds ${name}`));
  const term = heldTerm(name, () => void heldPlaces.delete(place));
  heldPlaces.add(place);
  return ok(term);
}

/** Every write begins with this. A released or foreign term is a bug of ours, not a condition to handle. */
export function assertHeld(term: LockTerm, place: string): void {
  if (term.isReleased) throw new Error(`invariant broken: a write with a released lock term of ${place}`);
  if (term.place !== place) {
    throw new Error(`invariant broken: a write to ${place} with the lock term of ${term.place}`);
  }
}
