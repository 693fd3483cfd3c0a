/**
 * Turns among all nodes of a store: one after another under each name, whichever node asks. Whoever has a turn keeps it for as
 * long as its session lasts, and nothing of a session is written after its end: so what is read in a turn is still so when it
 * is written changed.
 */
import { randomUUID } from "node:crypto";
import type { ClusterMember } from "../../persist/cluster.js";
import type { Clock } from "../clock.js";
import { NamedTurns } from "../named-turns.js";
import { UnderWay } from "../under-way.js";

/** How often it is looked whether another node has passed a turn on. */
const LOOK_MS = 25;
const LATER_LOOK_MS = 250;
const SOON_LOOKS = 40;

interface TurnsPorts {
  readonly member: Pick<ClusterMember, "takeTurn" | "passTurn" | "turnsTaken">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after">;
}

export class ClusterTurns {
  readonly #ports: TurnsPorts;
  /** Of this node, who come to the others as one. */
  readonly #here = new NamedTurns();

  constructor(ports: TurnsPorts) {
    this.#ports = ports;
  }

  take<T>(name: string, act: () => Promise<T>): Promise<T> {
    const { member } = this.#ports;
    return this.#here.take(name, async () => {
      for (let looks = 0; !(await member.takeTurn(name)); looks += 1) await this.#pause(looks);
      try {
        return await act();
      } finally {
        await member.passTurn(name);
      }
    });
  }

  /** Resolves when nobody has a turn any more that somebody has now, of those that begin so. */
  async over(prefix: string): Promise<void> {
    const { member } = this.#ports;
    let left = await member.turnsTaken(prefix);
    for (let looks = 0; left.length > 0; looks += 1) {
      await this.#pause(looks);
      const taken = new Set(await member.turnsTaken(prefix));
      left = left.filter((name) => taken.has(name));
    }
  }

  async #pause(looks: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#ports.clock.after(looks < SOON_LOOKS ? LOOK_MS : LATER_LOOK_MS, resolve);
    });
  }
}

/** What is under way on any node: each of them has a turn of its own for as long as it takes. */
export class ClusterUnderWay extends UnderWay {
  readonly #turns: ClusterTurns;

  constructor(turns: ClusterTurns) {
    super();
    this.#turns = turns;
  }

  override during<T>(name: string, act: () => Promise<T>): Promise<T> {
    return this.#turns.take(`${placeOf(name)}${randomUUID()}`, act);
  }

  override over(name: string): Promise<void> {
    return this.#turns.over(placeOf(name));
  }
}

function placeOf(name: string): string {
  return `under-way/${name}/`;
}
