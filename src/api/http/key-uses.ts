/** When keys were last used, written down now and then: no request waits for it. */
import type { Clock, Timer } from "../../actors/clock.js";
import type { EpochMs } from "../../core/time/instant.js";
import { useWrite } from "../../operations/keys/record.js";
import type { Acting } from "../../operations/ports.js";

const WRITTEN_EVERY_MS = 60_000;

export class KeyUses {
  readonly #used = new Map<string, EpochMs>();
  #timer: Timer | null = null;
  readonly #clock: Clock;
  readonly #write: Acting["write"];
  readonly #onFailure: (error: unknown) => void;

  constructor(clock: Clock, write: Acting["write"], onFailure: (error: unknown) => void) {
    this.#clock = clock;
    this.#write = write;
    this.#onFailure = onFailure;
  }

  note(keyId: string, at: EpochMs): void {
    this.#used.set(keyId, at);
    this.#timer ??= this.#clock.after(WRITTEN_EVERY_MS, () => {
      this.#timer = null;
      this.flush().catch(this.#onFailure);
    });
  }

  async flush(): Promise<void> {
    const writes = [...this.#used].map(([keyId, usedAt]) => useWrite(keyId, usedAt));
    this.#used.clear();
    if (writes.length > 0) await this.#write(writes);
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.flush();
  }
}
