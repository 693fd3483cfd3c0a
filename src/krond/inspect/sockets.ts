/** The stream's own port: WebSockets for inspectors of others, asked now and then whether they are still there. */
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../actors/clock.js";
import type { OpenDoor } from "../../actors/doors/listen.js";
import type { Onlooker } from "../../operations/watching.js";
import type { DaemonLog } from "../log/log.js";
import type { ListenAddress } from "../monitor/monitoring.js";
import type { InspectFilter } from "./filter.js";
import { startInspectServer } from "./server.js";

export interface InspectOptions extends ListenAddress {
  /** Web pages of these origins may attach. */
  readonly origins: readonly string[];
}

interface InspectSocketPorts {
  readonly clock: Clock;
  readonly log: DaemonLog;
  /** Gives what ends it. */
  attach(onlooker: Onlooker, filter: InspectFilter): () => void;
}

/** Who does not answer for so long is gone, or takes nothing any more. */
const HEARTBEAT_MS = 30_000;
const GOING_AWAY = 1001;

export class InspectSockets {
  readonly #sockets = new Set<WebSocket>();
  /** Those that have answered since they were asked last. */
  readonly #answered = new WeakSet<WebSocket>();
  #server: OpenDoor | null = null;
  #heartbeat: Timer | null = null;
  readonly #options: InspectOptions;
  readonly #ports: InspectSocketPorts;

  constructor(options: InspectOptions, ports: InspectSocketPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** The address that clients attach to. Rejects with a KronError. */
  async open(): Promise<string> {
    const { host, port, origins } = this.#options;
    const accept = (socket: WebSocket, filter: InspectFilter): void => this.#accept(socket, filter);
    const clientCount = (): number => this.#sockets.size;
    this.#server = await startInspectServer({ host, port, origins, clientCount, accept });
    const url = urlOf(this.#server);
    if (!isLoopback(this.#server.host)) this.#warn(url);
    this.#beat();
    return url;
  }

  /** Whoever was told goodbye and is still there is shown out. */
  async close(): Promise<void> {
    this.#heartbeat?.cancel();
    for (const socket of this.#sockets) socket.terminate();
    await this.#server?.close();
  }

  #accept(socket: WebSocket, filter: InspectFilter): void {
    this.#sockets.add(socket);
    this.#answered.add(socket);
    socket.on("pong", () => this.#answered.add(socket));
    const detach = this.#ports.attach(onlookerOn(socket), filter);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      detach();
    });
  }

  #beat(): void {
    this.#heartbeat = this.#ports.clock.after(HEARTBEAT_MS, () => {
      for (const socket of this.#sockets) {
        if (this.#answered.delete(socket)) socket.ping();
        else socket.terminate();
      }
      this.#beat();
    });
  }

  #warn(inspect: string): void {
    const message = "the inspector stream is open to other machines, and asks nobody who they are";
    const fields = { message, inspect };
    const at = this.#ports.clock.now();
    this.#ports.log.daemon({ at, event: "inspector_exposed", component: "api", level: "warn", fields });
  }
}

function onlookerOn(socket: WebSocket): Onlooker {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (text, onSent) => socket.send(text, onSent),
    goodbye: () =>
      new Promise((resolve) => {
        socket.once("close", () => resolve());
        socket.close(GOING_AWAY, "the daemon has stopped");
      }),
  };
}

function urlOf({ host, port }: Pick<OpenDoor, "host" | "port">): string {
  return `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
