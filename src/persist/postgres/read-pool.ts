/** Connections for reading: none of them is that of the commits or of the heartbeats, so that no page holds up a lease (C20). */
import { unreadable } from "../failures.js";
import { Connection, type Credentials, type Queries } from "./connection.js";
import { patiently } from "./retry.js";

const CONNECTIONS = 2;
/** A server that is started again is back by then. */
const READ_FOR_MS = 30_000;

interface Lane {
  readonly connection: Connection;
  underWay: number;
}

export class Reads implements Queries {
  readonly #lanes: readonly Lane[];
  readonly #mayGoOn: () => void;
  #isClosed = false;

  constructor(credentials: Credentials, answerWithinMs: number, mayGoOn: () => void) {
    this.#lanes = Array.from({ length: CONNECTIONS }, () => {
      return { connection: new Connection(credentials, answerWithinMs), underWay: 0 };
    });
    this.#mayGoOn = mayGoOn;
  }

  /** Without trying again: whoever opens a store wants to know what is wrong. */
  readonly once: Queries = { rows: (text, values) => this.#on(this.#idlest(), text, values) };

  async rows<R extends Readonly<Record<string, unknown>>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly R[]> {
    try {
      const patience = { withinMs: READ_FOR_MS, mayGoOn: this.#mayGoOn };
      return await patiently(patience, () => this.#on<R>(this.#idlest(), text, values));
    } catch (error) {
      throw unreadable("read", "the store cannot be read", error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#lanes.map(({ connection }) => connection.close()));
  }

  #idlest(): Lane {
    if (this.#isClosed) throw new Error("invariant broken: a closed store was read");
    return this.#lanes.reduce((best, lane) => (lane.underWay < best.underWay ? lane : best));
  }

  async #on<R extends Readonly<Record<string, unknown>>>(
    lane: Lane,
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly R[]> {
    lane.underWay += 1;
    try {
      return await lane.connection.rows<R>(text, values);
    } finally {
      lane.underWay -= 1;
    }
  }
}
