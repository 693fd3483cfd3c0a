/**
 * The inspector stream as the daemon has it: observer, launcher and phase on the one side, clients on the other. It
 * is loaded only when it is asked for.
 */
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../actors/clock.js";
import type { Phase } from "../../actors/phase.js";
import type { Runner } from "../../actors/runner/port.js";
import type { ObserverSlot } from "../../actors/supervisor/run/observer.js";
import type { SupervisorSnapshot } from "../../machines/supervisor.machine.js";
import type { StateReader } from "../../persist/store.js";
import type { DaemonLog } from "../log/log.js";
import { redactedText } from "../log/redaction.js";
import type { OpenDoor } from "../monitor/http-listen.js";
import type { ListenAddress } from "../monitor/monitoring.js";
import { CHARTS } from "./charts.js";
import { InspectClient, Outgoing } from "./client.js";
import type { InspectFilter } from "./filter.js";
import {
  actorFrame,
  eventFrame,
  type PublicSnapshot,
  type Said,
  SUPERVISOR,
  snapshotFrame,
  snapshotOf,
} from "./frames.js";
import { InspectHub } from "./hub.js";
import { LauncherWatch } from "./launcher-watch.js";
import { Listing } from "./listing.js";
import { startInspectServer } from "./server.js";

export interface InspectOptions extends ListenAddress {
  /** Web pages of these origins may attach. */
  readonly origins: readonly string[];
}

export interface InspectionPorts {
  readonly clock: Clock;
  readonly phase: Phase;
  readonly store: StateReader;
  readonly runner: Runner;
  readonly log: DaemonLog;
}

/** Who does not answer for so long is gone, or takes nothing any more. */
const HEARTBEAT_MS = 30_000;
/** At the end: how long frames may still be made, and how long clients may take to say goodbye. */
const LAST_FRAMES_MS = 100;
const GOODBYE_MS = 500;
const GOING_AWAY = 1001;

export class Inspection {
  readonly observer: ObserverSlot;
  /** To be used in the place of the one that was given. */
  readonly runner: LauncherWatch;
  private readonly hub: InspectHub;
  private readonly sockets = new Map<WebSocket, InspectClient>();
  /** Those that have answered since they were asked last. */
  private readonly answered = new WeakSet<WebSocket>();
  private server: OpenDoor | null = null;
  private heartbeat: Timer | null = null;

  constructor(
    private readonly options: InspectOptions,
    private readonly ports: InspectionPorts,
  ) {
    const { clock, runner, phase } = ports;
    this.hub = new InspectHub(clock);
    this.observer = { current: this.hub };
    this.runner = new LauncherWatch(runner, this.hub, () => clock.now());
    phase.watcher = (event, snapshot) => {
      const [now, shown] = [clock.now(), supervisorSnapshot(snapshot)];
      const frames = [eventFrame(SUPERVISOR, null, event, now), snapshotFrame(SUPERVISOR, event, shown, now)];
      this.hub.say(frames.map((frame) => ({ kind: "supervisor", identity: null, frame })));
    };
  }

  /** The address that clients attach to. Rejects with a KronError. */
  async open(): Promise<string> {
    const { host, port, origins } = this.options;
    const accept = (socket: WebSocket, filter: InspectFilter): void => this.attach(socket, filter);
    const clientCount = (): number => this.sockets.size;
    this.server = await startInspectServer({ host, port, origins, clientCount, accept });
    const url = urlOf(this.server);
    if (!isLoopback(this.server.host)) this.warn(url);
    this.beat();
    return url;
  }

  /** Clients hear the last frames and are told goodbye. Nothing is read from the store any more. */
  async close(): Promise<void> {
    this.heartbeat?.cancel();
    this.ports.phase.watcher = null;
    this.hub.flush(LAST_FRAMES_MS);
    const goodbyes = [...this.sockets].map(([socket, client]) => {
      client.closed();
      return goodbye(socket);
    });
    const isLate = new Promise<void>((resolve) => {
      this.heartbeat = this.ports.clock.after(GOODBYE_MS, resolve);
    });
    await Promise.race([Promise.all(goodbyes), isLate]);
    this.heartbeat?.cancel();
    for (const socket of this.sockets.keys()) socket.terminate();
    await this.server?.close();
  }

  private attach(socket: WebSocket, filter: InspectFilter): void {
    const { clock, store } = this.ports;
    const client = new InspectClient(socket, filter, () => clock.now());
    this.sockets.set(socket, client);
    this.answered.add(socket);
    socket.on("pong", () => this.answered.add(socket));
    socket.on("close", () => {
      this.sockets.delete(socket);
      this.hub.detach(client);
    });
    this.hub.attach(client);
    client.offer(new Outgoing(this.presentSupervisor()));
    client.offer(new Outgoing(this.runner.present()));
    new Listing({ clock, hub: this.hub, store }, client).run().catch((error: unknown) => {
      const message = redactedText(error instanceof Error ? error.message : String(error));
      client.note({ type: "LISTING_FAILED", message });
    });
  }

  private presentSupervisor(): Said {
    const { clock, phase } = this.ports;
    const snapshot = supervisorSnapshot(phase.snapshot);
    const about = { name: SUPERVISOR, sessionId: SUPERVISOR, parentId: null, definition: CHARTS.supervisor };
    return { kind: "supervisor", identity: null, frame: actorFrame({ ...about, snapshot }, clock.now()) };
  }

  private beat(): void {
    this.heartbeat = this.ports.clock.after(HEARTBEAT_MS, () => {
      for (const socket of this.sockets.keys()) {
        if (this.answered.delete(socket)) socket.ping();
        else socket.terminate();
      }
      this.beat();
    });
  }

  private warn(inspect: string): void {
    const message = "the inspector stream is open to other machines, and asks nobody who they are";
    const fields = { message, inspect };
    const at = this.ports.clock.now();
    this.ports.log.daemon({ at, event: "inspector_exposed", component: "api", level: "warn", fields });
  }
}

function supervisorSnapshot({ value, context, status }: SupervisorSnapshot): PublicSnapshot {
  return snapshotOf(status === "done" ? "done" : "active", value, { ...context, pid: process.pid });
}

function goodbye(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
    socket.close(GOING_AWAY, "the daemon has stopped");
  });
}

function urlOf({ host, port }: Pick<OpenDoor, "host" | "port">): string {
  return `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
