/** A client's end that the test holds: what was sent, and whether it is taken. */
import { InspectClient } from "../../../src/krond/inspect/client.js";
import { parseFilter } from "../../../src/krond/inspect/filter.js";
import type { Frame } from "../../../src/krond/inspect/frames.js";
import type { Wire } from "../../../src/operations/watching.js";

export class TestWire implements Wire {
  bufferedAmount = 0;
  isStalled = false;
  readonly frames: Frame[] = [];
  #waiting: { readonly bytes: number; readonly onSent: () => void }[] = [];

  send(text: string, onSent: () => void): void {
    this.frames.push(JSON.parse(text) as Frame);
    this.bufferedAmount += text.length;
    this.#waiting.push({ bytes: text.length, onSent });
    if (!this.isStalled) this.take();
  }

  /** The client takes what waits. */
  take(): void {
    for (const { bytes, onSent } of this.#waiting.splice(0)) {
      this.bufferedAmount -= bytes;
      onSent();
    }
  }

  events(type: string): readonly Frame[] {
    return this.frames.filter((frame) => frame.type === "@xstate.event" && frame.event.type === type);
  }
}

export function clientOn(wire: Wire, query = ""): InspectClient {
  const filter = parseFilter(new URLSearchParams(query));
  if (!filter.ok) throw new Error(filter.error);
  return new InspectClient(wire, filter.value, () => 0);
}
