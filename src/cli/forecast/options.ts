/** What a forecast is to cover, from the command line. Shared by `forecast` and `tune`. */
import { type Horizon, readHorizon } from "../../core/forecast/horizon.js";
import { DAY_MS, floorToSecond, MINUTE_MS } from "../../core/time/instant.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { durationArg, momentArg } from "../moments.js";

export async function horizonOf(args: ParsedArgs, io: CliIo): Promise<Horizon> {
  const now = (await momentArg(args, "at", io)) ?? floorToSecond(io.now());
  const fromAt = (await momentArg(args, "from", io)) ?? Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const givenTo = await momentArg(args, "to", io);
  const lengthMs = durationArg(args, "horizon");
  if (givenTo !== undefined && lengthMs !== undefined) {
    throw usageError("--to and --horizon say the same", "give one of them");
  }
  const toAt = givenTo ?? fromAt + (lengthMs ?? DAY_MS);
  const horizon = readHorizon(fromAt, toAt, durationArg(args, "bucket") ?? MINUTE_MS);
  if (horizon.ok) return horizon.value;
  throw new CliError(EXIT.usage, horizon.error.message, horizon.error.hint);
}

export function choiceArg<T extends string>(args: ParsedArgs, name: string, choices: readonly T[], fallback: T): T {
  const text = args.text(name);
  if (text === undefined) return fallback;
  const chosen = choices.find((choice) => choice === text);
  if (chosen !== undefined) return chosen;
  throw usageError(`--${name}: unknown "${text}"`, `it is one of ${choices.join(", ")}`);
}
