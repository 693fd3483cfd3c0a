/**
 * The inspector stream as the daemon has it: observer, launcher and phase on the one side, whoever looks on at the other.
 * It is loaded only when somebody could look on, and takes its place at the window only while somebody does.
 */
import type { Clock, Timer } from "../../actors/clock.js";
import type { Phase } from "../../actors/phase.js";
import type { Runner } from "../../actors/runner/port.js";
import type { Supervisor } from "../../actors/supervisor/port.js";
import type { ObserverSlot } from "../../actors/supervisor/run/observer.js";
import { messageOf } from "../../core/base/errors/message.js";
import { ok, type Result } from "../../core/base/result.js";
import type { SupervisorSnapshot } from "../../machines/supervisor.machine.js";
import type { SupervisorEvent } from "../../machines/supervisor-logic.js";
import { redactedText } from "../../operations/redaction.js";
import type { Onlooker, Watching } from "../../operations/watching.js";
import type { StateReader } from "../../persist/store.js";
import type { DaemonLog } from "../log/log.js";
import { CHARTS } from "./charts.js";
import { InspectClient, Outgoing } from "./client.js";
import { type InspectFilter, parseFilter } from "./filter.js";
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
import type { InspectOptions, InspectSockets } from "./sockets.js";

export interface InspectionPorts {
  readonly clock: Clock;
  readonly phase: Phase;
  readonly store: StateReader;
  readonly runner: Runner;
  readonly log: DaemonLog;
}

/** At the end: how long frames may still be made, and how long clients may take to say goodbye. */
const LAST_FRAMES_MS = 100;
const GOODBYE_MS = 500;

export class Inspection implements Watching {
  readonly observer: ObserverSlot = { current: null };
  /** To be used in the place of the one that was given. */
  readonly runner: LauncherWatch;
  readonly #hub: InspectHub;
  readonly #onlookers = new Map<Onlooker, InspectClient>();
  readonly #options: InspectOptions | null;
  readonly #ports: InspectionPorts;
  #jobs: Pick<Supervisor, "live"> | null = null;
  #sockets: InspectSockets | null = null;

  /** `options`: its own port; null: it is reached by other doors alone. */
  constructor(options: InspectOptions | null, ports: InspectionPorts) {
    this.#options = options;
    this.#ports = ports;
    const { clock, runner } = ports;
    this.#hub = new InspectHub(clock);
    this.runner = new LauncherWatch(runner, this.#hub, () => clock.now());
  }

  /** Whose jobs are looked at. */
  of(jobs: Pick<Supervisor, "live">): void {
    this.#jobs = jobs;
  }

  /** The address that clients attach to; null: it has none of its own. Rejects with a KronError. */
  async open(): Promise<string | null> {
    if (this.#options === null) return null;
    const { InspectSockets } = await import("./sockets.js");
    const attach = (onlooker: Onlooker, filter: InspectFilter): (() => void) => this.#attach(onlooker, filter);
    this.#sockets = new InspectSockets(this.#options, { ...this.#ports, attach });
    return this.#sockets.open();
  }

  watch(wanted: URLSearchParams, onlooker: Onlooker): Result<() => void, string> {
    const filter = parseFilter(wanted);
    return filter.ok ? ok(this.#attach(onlooker, filter.value)) : filter;
  }

  /** Clients hear the last frames and are told goodbye. Nothing is read from the store any more. */
  async close(): Promise<void> {
    const { clock, phase } = this.#ports;
    phase.watcher = null;
    this.#hub.flush(LAST_FRAMES_MS);
    const goodbyes = [...this.#onlookers].map(([onlooker, client]) => {
      client.closed();
      return onlooker.goodbye();
    });
    let timer: Timer | null = null;
    const isLate = new Promise<void>((resolve) => {
      timer = clock.after(GOODBYE_MS, resolve);
    });
    await Promise.race([Promise.all(goodbyes), isLate]);
    (timer as Timer | null)?.cancel();
    await this.#sockets?.close();
  }

  #attach(onlooker: Onlooker, filter: InspectFilter): () => void {
    const { clock, store } = this.#ports;
    if (this.#onlookers.size === 0) this.#lookOn();
    const client = new InspectClient(onlooker, filter, () => clock.now());
    this.#onlookers.set(onlooker, client);
    this.#hub.attach(client);
    client.offer(new Outgoing(this.#presentSupervisor()));
    client.offer(new Outgoing(this.runner.present()));
    new Listing({ clock, hub: this.#hub, store }, client).run().catch((error: unknown) => {
      const message = redactedText(messageOf(error));
      client.note({ type: "LISTING_FAILED", message });
    });
    return () => this.#detach(onlooker, client);
  }

  #detach(onlooker: Onlooker, client: InspectClient): void {
    if (!this.#onlookers.delete(onlooker)) return;
    this.#hub.detach(client);
    if (this.#onlookers.size === 0) this.#lookAway();
  }

  /** What lives already is asked for; from here on it is told. */
  #lookOn(): void {
    const { clock, phase } = this.#ports;
    for (const { definition, activation } of this.#jobs?.live() ?? []) {
      this.#hub.activated(definition, activation, clock.now());
    }
    this.observer.current = this.#hub;
    phase.watcher = (event, snapshot) => this.#tellPhase(event, snapshot);
  }

  #lookAway(): void {
    this.observer.current = null;
    this.#ports.phase.watcher = null;
    this.#hub.forget();
  }

  #tellPhase(event: SupervisorEvent, snapshot: SupervisorSnapshot): void {
    const [now, shown] = [this.#ports.clock.now(), supervisorSnapshot(snapshot)];
    const frames = [eventFrame(SUPERVISOR, null, event, now), snapshotFrame(SUPERVISOR, event, shown, now)];
    this.#hub.say(frames.map((frame) => ({ kind: "supervisor", identity: null, frame })));
  }

  #presentSupervisor(): Said {
    const { clock, phase } = this.#ports;
    const snapshot = supervisorSnapshot(phase.snapshot);
    const about = { name: SUPERVISOR, sessionId: SUPERVISOR, parentId: null, definition: CHARTS.supervisor };
    return { kind: "supervisor", identity: null, frame: actorFrame({ ...about, snapshot }, clock.now()) };
  }
}

function supervisorSnapshot({ value, context, status }: SupervisorSnapshot): PublicSnapshot {
  return snapshotOf(status === "done" ? "done" : "active", value, { ...context, pid: process.pid });
}
