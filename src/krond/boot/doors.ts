/** The ways in that are not the daemon's own, opened one after another and closed together. */
import { systemClock } from "../../actors/clock.js";
import type { DoorOpener, DoorPorts, NamedDoor } from "../../operations/door.js";
import { type DaemonLog, errorEvent } from "../log/log.js";

export class Doors {
  readonly #openers: readonly DoorOpener[];
  readonly #log: DaemonLog;
  readonly #open: NamedDoor[] = [];

  constructor(openers: readonly DoorOpener[], log: DaemonLog) {
    this.#openers = openers;
    this.#log = log;
  }

  /** Gives their addresses. */
  async open(ports: Omit<DoorPorts, "report">): Promise<Readonly<Record<string, string>>> {
    const addresses: Record<string, string> = {};
    for (const opener of this.#openers) {
      const door = await opener.open({ ...ports, report: (error, about) => this.#report(error, about) });
      this.#open.push(door);
      addresses[opener.name] = door.address;
    }
    return addresses;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((door) => door.close()));
  }

  #report(error: unknown, { operation, instance }: Parameters<DoorPorts["report"]>[1]): void {
    const event = errorEvent(error, { component: "api", operation }, systemClock.now());
    const fields = instance === undefined ? event.fields : { ...event.fields, instance };
    this.#log.daemon({ ...event, ...(fields === undefined ? {} : { fields }) });
  }
}
