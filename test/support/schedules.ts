import { parseKronCron } from "../../src/core/cron/kron-dialect.js";
import { compileSchedule, type Schedule } from "../../src/core/cron/schedule.js";
import type { DstRule } from "../../src/core/time/dst.js";
import { formatInstant, parseInstant } from "../../src/core/time/instant.js";
import { requireOk } from "./results.js";
import { zone } from "./zones.js";

export function at(text: string): number {
  return requireOk(parseInstant(text));
}

export function text(instant: number | null): string {
  return instant === null ? "none" : formatInstant(instant);
}

export function schedule(expression: string, zoneId = "UTC", dst?: DstRule): Schedule {
  return compileSchedule(requireOk(parseKronCron(expression)), zone(zoneId), dst);
}

/** `count` times `next`, from `after`. */
export function following(from: Schedule, after: string, count: number): string[] {
  const found: string[] = [];
  for (let cursor = from.next(at(after)); found.length < count; cursor = cursor === null ? null : from.next(cursor)) {
    found.push(text(cursor));
  }
  return found;
}
