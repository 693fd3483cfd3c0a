/**
 * What a daemon knows of the store that it shares with others before anything of it is looked after: its part in it, the time that
 * all nodes go by (C11), and the settings in force. It reads no files, because what is wanted stands in the store (C17).
 */
import { systemClock } from "../../actors/clock.js";
import { ClusterClock } from "../../actors/cluster/clock.js";
import { SHARED_DEFINITIONS } from "../../actors/cluster/shared-definitions.js";
import { ClusterTurns } from "../../actors/cluster/turns.js";
import type { Sealer } from "../../actors/dispatcher/seal.js";
import type { AddressPolicy } from "../../core/base/address.js";
import { SETTINGS_DEFAULTS, type Settings } from "../../core/config/settings.js";
import { settingsOfText } from "../../core/config/settings-text.js";
import { HOUR_MS, SECOND_MS } from "../../core/time/instant.js";
import { OperationError } from "../../operations/operation.js";
import type { StorePlace } from "../../persist/backends.js";
import type { ClockSample, ClusterMember } from "../../persist/cluster.js";
import type { StateReader } from "../../persist/store.js";
import type { DaemonLog } from "../log/log.js";
import { type DaemonConfiguration, permitted } from "./configuration.js";
import { cursorKeyOf, secretsOf } from "./shared-keys.js";

/** What there is of such a daemon beside what every one has. */
export interface Shared {
  readonly member: ClusterMember;
  readonly time: NodeTime;
  /** As the newest revision says them. */
  readonly settings: SettingsInForce;
  /** What nodes must not do at once. */
  readonly turns: ClusterTurns;
  readonly secrets: Sealer;
  /** By which each node knows the places in lists that another one has given out. */
  readonly cursorKey: Buffer;
}

interface SharedPlace {
  readonly log: DaemonLog;
  readonly permit?: Partial<AddressPolicy>;
  readonly stateDirectory: string;
}

/** C11: people are warned, because what they see on this machine is not what jobs go by. */
const WARNED_ABOVE_MS = 2 * SECOND_MS;
const WARNED_EVERY_MS = HOUR_MS;

/** The time of all nodes, and how far the clock of this machine is off. */
class NodeTime extends ClusterClock {
  readonly #log: DaemonLog;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(first: ClockSample, log: DaemonLog) {
    super(systemClock, first);
    this.#log = log;
  }

  get offsetMs(): number {
    return systemClock.now() - this.now();
  }

  override take(sample: ClockSample): void {
    super.take(sample);
    const { offsetMs } = this;
    const nowMs = this.monotonicMs();
    if (Math.abs(offsetMs) <= WARNED_ABOVE_MS || nowMs - this.#warnedMs < WARNED_EVERY_MS) return;
    this.#warnedMs = nowMs;
    const message = "the clock of this machine is off: jobs go by the time of the database, lines of this log do not";
    const fields = { offset_ms: offsetMs, message };
    this.#log.daemon({ at: systemClock.now(), event: "clock_offset", component: "scheduler", level: "warn", fields });
  }
}

/** Settings change with what is wanted, and whoever goes by them hears of it. */
class SettingsInForce {
  #listener: (settings: Settings) => void = () => undefined;

  constructor(public current: Settings) {}

  use(settings: Settings): void {
    this.current = settings;
    this.#listener(settings);
  }

  listen(listener: (settings: Settings) => void): void {
    this.#listener = listener;
  }
}

/** Whether a daemon that is started so has others beside it. */
export function isShared({ backend }: StorePlace): boolean {
  return backend.member !== null;
}

/** No files: what is wanted stands in the store. */
export function sharedConfiguration(settings: Settings = SETTINGS_DEFAULTS): DaemonConfiguration {
  const nothing = { files: [], findings: [], accepted: [], isIncomplete: false, manifest: null, located: null };
  return { ...nothing, wanted: "as-stored", settings, written: settings, keeps: () => false };
}

/** Before anything of the daemon is there that goes by the time. */
export async function sharedOf(
  member: ClusterMember,
  reader: StateReader,
  { log, permit = {}, stateDirectory }: SharedPlace,
): Promise<Shared> {
  const tz = await member.admitted();
  if (tz !== null) warnOutdated(log, tz);
  // Nothing is taken yet: nobody could look after it.
  const { time } = await member.pulse(false);
  const turns = new ClusterTurns({ member, clock: systemClock });
  return {
    member,
    turns,
    secrets: await secretsOf({ member, reader, turns }, stateDirectory),
    cursorKey: await cursorKeyOf({ member, reader }),
    time: new NodeTime(time, log),
    settings: new SettingsInForce(permitted(settingsOfText(await member.settings()), permit)),
  };
}

/** C18: it would decide otherwise than the others. */
function warnOutdated(log: DaemonLog, agreed: string): void {
  const message =
    "the zone data of this node are older than those of the others: it takes no jobs until it is upgraded";
  const fields = { tz: process.versions["tz"] ?? "", agreed, message };
  log.daemon({ at: systemClock.now(), event: "node_outdated", component: "scheduler", level: "warn", fields });
}

/** To whoever asks a node to read files. */
export function sharedDefinitions(): OperationError {
  return new OperationError("refused", SHARED_DEFINITIONS);
}
