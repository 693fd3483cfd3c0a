/**
 * How much of bodies is held at once, over all requests and of each tenant, or key of the host: what is read piece by piece is
 * kept until it is whole, and nobody may keep more of it in memory than is good for everybody.
 */
import { API_LIMITS } from "../limits.js";
import { HttpProblem, retryAfter } from "./problem.js";

const RETRY_MS = 1_000;

interface Bounds {
  readonly ofHolder: number;
  readonly ofAll: number;
}

export interface BodyPlace {
  /** Throws where that is more than there is room for. */
  add(bytes: number): void;
}

export class BodyRoom {
  readonly #bounds: Bounds;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(bounds: Bounds = API_LIMITS.bodiesBytes) {
    this.#bounds = bounds;
  }

  /** Whatever `read` adds is held until it has ended. */
  async within<T>(holder: string, read: (place: BodyPlace) => Promise<T>): Promise<T> {
    let own = 0;
    const add = (bytes: number): void => {
      this.#take(holder, bytes);
      own += bytes;
    };
    try {
      return await read({ add });
    } finally {
      this.#take(holder, -own);
    }
  }

  #take(holder: string, bytes: number): void {
    const held = (this.#heldBy.get(holder) ?? 0) + bytes;
    const { ofHolder, ofAll } = this.#bounds;
    if (bytes > 0 && held > ofHolder) throw tooMuch("rate-exceeded", `yours are larger than ${ofHolder} bytes`);
    if (bytes > 0 && this.#held + bytes > ofAll)
      throw tooMuch("bodies-exceeded", `bodies are larger than ${ofAll} bytes`);
    this.#held += bytes;
    if (held === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, held);
  }
}

/** What is still to come of the body would be taken for the next request. */
function tooMuch(code: "rate-exceeded" | "bodies-exceeded", what: string): HttpProblem {
  const headers = { ...retryAfter(RETRY_MS), Connection: "close" };
  return new HttpProblem(code, `together, those that are sent at once: ${what}`, { headers });
}
