/** What a forecast is to cover, from the command line. Shared by `forecast` and `tune`. */
import { type Horizon, readHorizon } from "../../core/forecast/horizon.js";
import { parseDuration } from "../../core/time/duration.js";
import { DAY_MS, floorToSecond, MINUTE_MS } from "../../core/time/instant.js";
import { instantArg, type ParsedArgs } from "../args.js";
import { CliError, EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";

export function horizonOf(args: ParsedArgs, io: CliIo): Horizon {
  const now = instantArg(args, "at") ?? floorToSecond(io.now());
  const fromAt = instantArg(args, "from") ?? Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const givenTo = instantArg(args, "to");
  const lengthMs = durationArg(args, "horizon");
  if (givenTo !== undefined && lengthMs !== undefined) {
    throw usageError("--to and --horizon say the same", "give one of them");
  }
  const toAt = givenTo ?? fromAt + (lengthMs ?? DAY_MS);
  const horizon = readHorizon(fromAt, toAt, durationArg(args, "bucket") ?? MINUTE_MS);
  if (horizon.ok) return horizon.value;
  throw new CliError(EXIT.usage, horizon.error.message, horizon.error.hint);
}

/** A duration above zero. */
export function durationArg(args: ParsedArgs, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  if (!duration.ok) throw usageError(`--${name}: ${duration.error.message}`, duration.error.hint);
  if (duration.value === 0) throw usageError(`--${name}: must be longer than 0s`);
  return duration.value;
}

export function choiceArg<T extends string>(args: ParsedArgs, name: string, choices: readonly T[], fallback: T): T {
  const text = args.text(name);
  if (text === undefined) return fallback;
  const chosen = choices.find((choice) => choice === text);
  if (chosen !== undefined) return chosen;
  throw usageError(`--${name}: unknown "${text}"`, `it is one of ${choices.join(", ")}`);
}
