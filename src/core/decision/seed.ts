/**
 * From a period to its seed. The only file of the core that uses a platform function: SHA-256 is a pure function of its
 * input.
 */
import * as crypto from "node:crypto";
import { assertNever } from "../base/result.js";
import { isoWeekOfDays } from "../time/civil.js";
import { DAY_MS, type EpochMs, formatInstant } from "../time/instant.js";
import type { Zone } from "../time/zone.js";
import type { SeedStrategy } from "./rule.js";

const DATE_CHARS = "YYYY-MM-DD".length;

/** What the draw is keyed by: periods that share a key (and identity and salt) share their draws. */
export function periodKey(strategy: SeedStrategy, nominalAt: EpochMs, zone: Zone): string {
  switch (strategy) {
    case "stable":
      return formatInstant(nominalAt);
    case "daily":
      return formatInstant(nominalAt + zone.offsetMsAt(nominalAt)).slice(0, DATE_CHARS);
    case "weekly":
      return formatWeek(Math.floor((nominalAt + zone.offsetMsAt(nominalAt)) / DAY_MS));
    default:
      return assertNever(strategy, "seed strategy");
  }
}

/** Exactly the text that is hashed. Unambiguous, because S37 keeps line breaks out of its parts. */
export function seedInput(identity: string, key: string, salt: string): string {
  return `${identity}\n${key}\n${salt}`;
}

/** Lowercase hex SHA-256 of the UTF-8 bytes of `input`. */
export const sha256Hex: (input: string) => string =
  // Four times as fast as createHash, but some builds and early releases lack it.
  typeof crypto.hash === "function"
    ? (input) => crypto.hash("sha256", input, "hex")
    : (input) => crypto.createHash("sha256").update(input, "utf8").digest("hex");

export function seedHash(identity: string, key: string, salt: string): string {
  return sha256Hex(seedInput(identity, key, salt));
}

function formatWeek(days: number): string {
  const { year, week } = isoWeekOfDays(days);
  return `${String(year).padStart(4, "0")}-W${String(week).padStart(2, "0")}`;
}
