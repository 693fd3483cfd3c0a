/**
 * What a scheduler takes from its host when nothing else is injected: clock, zone, sleep, identifiers, a place to
 * complain. Nothing here is touched before it is needed.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { zoneOf } from "../core/time/zone.js";
import type { SchedulerClock, SchedulerLogger, Sleeper } from "./types.js";

const LOCAL_TIME_FILE = "/etc/localtime";
const ZONE_OF_FILE = /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/;

function linkedZone(file: string): string | null {
  try {
    const id = ZONE_OF_FILE.exec(fs.realpathSync(file))?.[1];
    return id !== undefined && zoneOf(id).ok ? id : null;
  } catch {
    return null;
  }
}

/**
 * The zone of the host as it is now. Node keeps the zone it saw first, so a host that travels is only noticed by looking
 * at the system's own link again. A `TZ` variable wins, as it does everywhere.
 */
export function hostTimeZone(localTimeFile = LOCAL_TIME_FILE): string {
  const linked = process.env["TZ"] === undefined ? linkedZone(localTimeFile) : null;
  return linked ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export const hostClock: SchedulerClock = { now: () => Date.now(), timeZone: () => hostTimeZone() };

/** Sleeps by one timer at a time; `wake` ends the sleep under way and does nothing when there is none. */
export function hostSleeper(): Sleeper {
  let end: (() => void) | null = null;
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => end?.(), ms);
      end = () => {
        clearTimeout(timer);
        end = null;
        resolve();
      };
    });
  return { sleep, wake: () => end?.() };
}

/** Lets timers and I/O have their turn. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function hostId(): string {
  return randomUUID();
}

/** Silent but for what an operator must hear of. */
export const hostLogger: SchedulerLogger = {
  debug: () => {},
  info: () => {},
  warn: (fields, message) => console.warn(`kron scheduler: ${message}`, fields),
  error: (fields, message) => console.error(`kron scheduler: ${message}`, fields),
};
