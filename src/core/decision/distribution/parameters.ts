/** Reads the parameters of a distribution. Numbers may come as texts, as the line format has them. */
import type { ErrorCode } from "../../base/errors/registry.js";
import type { Problem } from "../../base/problem.js";
import { parseDuration } from "../../time/duration.js";

export type RawParameters = Readonly<Record<string, unknown>>;

const NUMBER_TEXT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Notes what is wrong and goes on with the fallback, so that all problems are found. */
export class ParameterReader {
  readonly problems: Problem[] = [];
  readonly #raw: RawParameters;

  constructor(raw: RawParameters) {
    this.#raw = raw;
  }

  positive(key: string, fallback: number): number {
    const raw = this.#raw[key];
    if (raw === undefined) {
      return fallback;
    }
    const value = typeof raw === "string" && NUMBER_TEXT.test(raw) ? Number(raw) : raw;
    if (typeof value !== "number") {
      this.#note("distribution-parameter-invalid", key, `${key} must be a number, not ${quote(raw)}`);
      return fallback;
    }
    if (!(value > 0 && value < Infinity)) {
      this.#note("distribution-parameter-range", key, `${key} must be a finite number above 0, not ${value}`);
      return fallback;
    }
    return value;
  }

  choice<T extends string>(key: string, choices: readonly T[], fallback: T): T {
    const raw = this.#raw[key];
    if (raw === undefined) {
      return fallback;
    }
    const chosen = choices.find((choice) => choice === raw);
    if (chosen === undefined) {
      const message = `${key} must be one of ${choices.join(", ")}, not ${quote(raw)}`;
      this.#note("distribution-parameter-invalid", key, message);
    }
    return chosen ?? fallback;
  }

  /** Longer than nothing; null where it is absent, or is the text that records write for the default. */
  duration(key: string, defaultText: string): number | null {
    const raw = this.#raw[key];
    if (raw === undefined || raw === null || raw === defaultText) {
      return null;
    }
    if (typeof raw !== "string") {
      this.#note("distribution-parameter-invalid", key, `${key} must be a duration such as 10m, not ${quote(raw)}`);
      return null;
    }
    const duration = parseDuration(raw);
    if (!duration.ok) {
      this.problems.push({ ...duration.error, path: [key, ...duration.error.path] });
      return null;
    }
    if (duration.value === 0) {
      this.#note("distribution-parameter-range", key, `${key} must be longer than 0s`);
      return null;
    }
    return duration.value;
  }

  #note(code: ErrorCode, key: string, message: string): void {
    this.problems.push({ code, message, path: [key] });
  }
}

/** A value as a message shows it: short, on one line, whatever it is. */
export function quote(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : "an object";
  }
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
