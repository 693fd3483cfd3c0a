/**
 * Reads a decision record back into the rule and the nominal time it states. Unknown fields are passed over: a newer
 * program may have added some. Every field that is missing or unreadable is named.
 */

import { type Fields, isFields } from "../base/fields.js";
import { checkIdentity, checkSalt } from "../base/identity.js";
import { LIMITS } from "../base/limits.js";
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { isOnce } from "../cron/at.js";
import { parseKronCron } from "../cron/kron-dialect.js";
import { parseOnce } from "../cron/once.js";
import type { DstRule } from "../time/dst.js";
import { parseDuration } from "../time/duration.js";
import { type EpochMs, parseInstant } from "../time/instant.js";
import { SUPPORTED_INSTANTS, zoneOf } from "../time/zone.js";
import { checkClauseCount, parseConstraintText } from "./constraints.js";
import { parseDistribution } from "./distributions.js";
import type { Clause, Distribution, SchedulingRule, SeedRule, WindowRule } from "./rule.js";

/** One field of a record that is not what it should be. */
export interface RecordDifference {
  /** Path of the field, such as `dist_params.shape`. */
  readonly field: string;
  readonly kind: "missing" | "unreadable" | "not-nominal" | "different";
  /** As the record has it; undefined when it is missing. */
  readonly recorded: unknown;
  /** What was computed; null when nothing could be. */
  readonly expected: unknown;
  readonly message: string;
}

export interface RecordedDecision {
  readonly rule: SchedulingRule;
  readonly nominalAt: EpochMs;
}

export function readDecisionRecord(record: unknown): Result<RecordedDecision, readonly RecordDifference[]> {
  if (!isFields(record)) {
    const message = "a decision record is a JSON object";
    return err([{ field: "", kind: "unreadable", recorded: record, expected: null, message }]);
  }
  const reader = new RecordReader(record);
  const read = { rule: reader.rule(), nominalAt: reader.nominalAt() };
  return reader.differences.length === 0 ? ok(read) : err(reader.differences);
}

/** Goes on after a wrong field with a stand-in, so that all of them are found; the result is then thrown away. */
class RecordReader {
  readonly differences: RecordDifference[] = [];
  readonly #record: Fields;

  constructor(record: Fields) {
    this.#record = record;
  }

  rule(): SchedulingRule {
    const window = this.#window();
    return {
      identity: this.#checked("identity", (text) => check(text, checkIdentity(text, true)), ""),
      schedule: this.#checked("schedule", scheduleText, ""),
      timezone: this.#checked("timezone", zoneId, ""),
      dst: this.#dst(),
      window,
      distribution: this.#distribution(window),
      seed: this.#seed(),
      constraints: this.#constraints(),
    };
  }

  nominalAt(): EpochMs {
    const at = this.#checked("nominal_time", parseInstant, 0);
    if (at < SUPPORTED_INSTANTS.fromAt || at >= SUPPORTED_INSTANTS.untilAt) {
      this.#unreadable("nominal_time", "nominal times lie in the years 1970 to 2199");
    }
    return at;
  }

  #dst(): DstRule {
    const gap = this.#choice("dst.gap", ["skip", "next"] as const);
    return { gap, overlap: this.#choice("dst.overlap", ["both", "first", "last"] as const) };
  }

  #window(): WindowRule {
    const mode = this.#choice("window_mode", ["after", "around", "before"] as const);
    const durationMs = this.#checked("window_duration", parseDuration, 0);
    if (durationMs > LIMITS.windowMs) {
      this.#unreadable("window_duration", "longer than the longest window");
    }
    return { mode, durationMs };
  }

  #distribution(window: WindowRule): Distribution {
    const name = this.#text("distribution");
    const params = this.#record["dist_params"];
    if (!isFields(params)) {
      this.#wrongType("dist_params", params, "an object");
    }
    const read = parseDistribution(name ?? "uniform", isFields(params) && name !== null ? params : {}, window.mode);
    if (read.ok) {
      return read.value;
    }
    for (const { path, message } of read.error) {
      this.#unreadable(path[0] === "name" ? "distribution" : ["dist_params", ...path].join("."), message);
    }
    return { name: "uniform" };
  }

  #seed(): SeedRule {
    const strategy = this.#choice("seed_strategy", ["stable", "daily", "weekly"] as const);
    return { strategy, salt: this.#checked("salt", (text) => check(text, checkSalt(text)), "") };
  }

  #constraints(): SchedulingRule["constraints"] {
    const only = this.#clauses("constraints_applied.only");
    const constraints = { only, avoid: this.#clauses("constraints_applied.avoid") };
    const tooMany = checkClauseCount(constraints);
    if (tooMany !== null) {
      this.#unreadable("constraints_applied", tooMany.message);
    }
    return constraints;
  }

  #clauses(field: string): readonly Clause[] {
    const read = parseConstraintText(this.#text(field) ?? "");
    if (read.ok) {
      return read.value;
    }
    for (const { message } of read.error) {
      this.#unreadable(field, message);
    }
    return [];
  }

  #checked<T>(field: string, read: (text: string) => Result<T, Problem>, standIn: T): T {
    const text = this.#text(field);
    if (text === null) {
      return standIn;
    }
    const result = read(text);
    if (result.ok) {
      return result.value;
    }
    this.#unreadable(field, result.error.message);
    return standIn;
  }

  #choice<T extends string>(field: string, choices: readonly [T, ...T[]]): T {
    const value = this.#at(field);
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) {
      this.#wrongType(field, value, `one of ${choices.join(", ")}`);
    }
    return chosen ?? choices[0];
  }

  #text(field: string): string | null {
    const value = this.#at(field);
    if (typeof value === "string") {
      return value;
    }
    this.#wrongType(field, value, "a text");
    return null;
  }

  #at(field: string): unknown {
    return field.split(".").reduce<unknown>((value, key) => (isFields(value) ? value[key] : undefined), this.#record);
  }

  #wrongType(field: string, recorded: unknown, wanted: string): void {
    const kind = recorded === undefined ? "missing" : "unreadable";
    const message = recorded === undefined ? `${field} is missing` : `${field} must be ${wanted}`;
    this.differences.push({ field, kind, recorded, expected: null, message });
  }

  #unreadable(field: string, message: string): void {
    this.differences.push({ field, kind: "unreadable", recorded: this.#at(field), expected: null, message });
  }
}

function check(text: string, problem: Problem | null): Result<string, Problem> {
  return problem === null ? ok(text) : err(problem);
}

function scheduleText(text: string): Result<string, Problem> {
  if (isOnce(text)) {
    const time = parseOnce(text);
    return time.ok ? ok(time.value.text) : time;
  }
  const fields = parseKronCron(text);
  return fields.ok ? ok(fields.value.text) : fields;
}

function zoneId(text: string): Result<string, Problem> {
  const zone = zoneOf(text);
  return zone.ok ? ok(zone.value.id) : zone;
}
