/**
 * Who is logged in on the page. A session has two halves: a cookie, which no script can read, and one that the page keeps
 * and sends as a header. Cookies know no ports: a server of somebody else on this machine is sent them too, and has nothing
 * without the other half. Only the hash of both together is kept, and nowhere but here.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../actors/clock.js";
import type { Scope } from "../../operations/scope.js";

const HALF_BYTES = 32;
/** Of links of `kron open`, which keys cannot put an end to. */
const MOST_BY_LINKS = 1_000;
const MOST_OF_A_KEY = 20;
const IDLE_MS = 2 * 3_600_000;
const LONGEST_MS = 12 * 3_600_000;

export interface Session {
  /** By which it is told from others; it opens nothing. */
  readonly id: string;
  readonly scope: Scope;
  /** null: the host's. */
  readonly tenant: string | null;
  /** Of the key that has opened it, or has asked for the link that has; null: whoever runs the daemon has. */
  readonly keyId: string | null;
}

export interface Halves {
  readonly cookie: string;
  readonly page: string;
}

/** A session as it is told to others. */
export interface SessionTold extends Session {
  readonly openForMs: number;
  readonly idleForMs: number;
  /** If nobody asks anything by it. */
  readonly endsInMs: number;
}

interface Kept {
  readonly session: Session;
  readonly untilMs: number;
  idleUntilMs: number;
}

export class Sessions {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  open(of: Omit<Session, "id">): { readonly session: Session; readonly halves: Halves } {
    const halves = { cookie: newHalf(), page: newHalf() };
    const name = nameOf(halves);
    const session = { ...of, id: name.slice(0, 16) };
    const nowMs = this.#clock.monotonicMs();
    this.#kept.set(name, { session, untilMs: nowMs + LONGEST_MS, idleUntilMs: nowMs + IDLE_MS });
    this.#forget(session.keyId, nowMs);
    return { session, halves };
  }

  /** null: they open nothing, or not any more. */
  find(halves: Halves): Session | null {
    const name = nameOf(halves);
    const kept = this.#kept.get(name);
    const nowMs = this.#clock.monotonicMs();
    if (kept === undefined) return null;
    if (isOver(kept, nowMs)) {
      this.#kept.delete(name);
      return null;
    }
    kept.idleUntilMs = nowMs + IDLE_MS;
    return kept.session;
  }

  /** False: they open nothing, or not any more. */
  close(halves: Halves): boolean {
    return this.#kept.delete(nameOf(halves));
  }

  /** The newest first. */
  list(): readonly SessionTold[] {
    const nowMs = this.#clock.monotonicMs();
    const open = [...this.#kept.values()].filter((kept) => !isOver(kept, nowMs));
    return open.map((kept) => toldOf(kept, nowMs)).reverse();
  }

  /** False: there is none. */
  end(id: string): boolean {
    for (const [name, { session }] of this.#kept) if (session.id === id) return this.#kept.delete(name);
    return false;
  }

  /** Those that are over, and of too many that one key or all links have opened the oldest of its own. */
  #forget(keyId: string | null, nowMs: number): void {
    const own: string[] = [];
    for (const [name, kept] of this.#kept) {
      if (isOver(kept, nowMs)) this.#kept.delete(name);
      else if (kept.session.keyId === keyId) own.push(name);
    }
    const most = keyId === null ? MOST_BY_LINKS : MOST_OF_A_KEY;
    for (const name of own.slice(0, -most)) this.#kept.delete(name);
  }
}

function isOver({ untilMs, idleUntilMs }: Kept, nowMs: number): boolean {
  return Math.min(untilMs, idleUntilMs) <= nowMs;
}

function toldOf({ session, untilMs, idleUntilMs }: Kept, nowMs: number): SessionTold {
  const openForMs = Math.round(nowMs - (untilMs - LONGEST_MS));
  const idleForMs = Math.round(nowMs - (idleUntilMs - IDLE_MS));
  return { ...session, openForMs, idleForMs, endsInMs: Math.round(Math.min(untilMs, idleUntilMs) - nowMs) };
}

function newHalf(): string {
  return randomBytes(HALF_BYTES).toString("base64url");
}

/** Whoever looks for it with one half wrong looks elsewhere: nothing is compared that could be guessed bit by bit. */
function nameOf({ cookie, page }: Halves): string {
  return createHash("sha256").update(`${cookie}.${page}`).digest("hex");
}
