/** Looking on while machines take their steps: what a door can offer, and what it has to bring. */
import type { Result } from "../core/base/result.js";

/** A client's end, as far as it is needed here. */
export interface Wire {
  /** Bytes that were sent and not taken yet. */
  readonly bufferedAmount: number;
  send(text: string, onSent: () => void): void;
}

export interface Onlooker extends Wire {
  /** The daemon ends: nothing more is sent. Resolves when the client knows. */
  goodbye(): Promise<void>;
}

export interface Watching {
  /** `wanted`: which frames, as a query string says it. Gives what ends it, or what is wrong, in words for the client. */
  watch(wanted: URLSearchParams, onlooker: Onlooker): Result<() => void, string>;
}
