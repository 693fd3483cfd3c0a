/** Codes that open the page once, for whoever may ask the daemon for one. Only their hashes are kept, and nowhere but here. */
import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../actors/clock.js";
import type { Scope } from "../scope.js";

/** As many as nobody guesses: 160 bits. */
const CODE_BYTES = 20;
const VALID_MS = 60_000;
/** Of those that nobody has used; the oldest make way. */
const MOST_CODES = 64;

/** What a code opens. */
interface Opened {
  readonly scope: Scope;
  /** Of the key that has asked for it, which what it opens is as good as; null: whoever runs the daemon has. */
  readonly keyId: string | null;
}

interface Issued extends Opened {
  readonly untilMs: number;
}

interface LoginCode {
  readonly code: string;
  readonly validMs: number;
}

export class LoginCodes {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #issued = new Map<string, Issued>();
  /** Where the page is; null: nowhere. */
  #page: string | null = null;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  get page(): string | null {
    return this.#page;
  }

  /** The door of the page is open there; null: there is none. */
  servedAt(page: string | null): void {
    this.#page = page;
  }

  issue(scope: Scope, keyId: string | null): LoginCode {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    this.#issued.set(hashOf(code), { scope, keyId, untilMs: this.#clock.monotonicMs() + VALID_MS });
    for (const oldest of this.#issued.keys()) {
      if (this.#issued.size <= MOST_CODES) break;
      this.#issued.delete(oldest);
    }
    return { code, validMs: VALID_MS };
  }

  /** What it opens, once; null: nothing. */
  redeem(code: string): Opened | null {
    const hash = hashOf(code);
    const issued = this.#issued.get(hash);
    this.#issued.delete(hash);
    if (issued === undefined || issued.untilMs < this.#clock.monotonicMs()) return null;
    return { scope: issued.scope, keyId: issued.keyId };
  }
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
