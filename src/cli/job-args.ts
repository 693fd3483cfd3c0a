import { parseDuration } from "../core/time/duration.js";
import { type EpochMs, floorToSecond, parseInstant } from "../core/time/instant.js";
import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";

export function oneJob(args: ParsedArgs, verb: string): string {
  const [identity, ...more] = args.positionals;
  if (identity === undefined || more.length > 0) throw usageError(`${verb} takes one job`, `kron ${verb} JOB`);
  return identity;
}

/** An instant, or a duration from now, to the second. */
export function momentArg(args: ParsedArgs, name: string, io: CliIo): EpochMs | undefined {
  const written = args.text(name);
  if (written === undefined) return undefined;
  const instant = parseInstant(written);
  if (instant.ok) return instant.value;
  const duration = parseDuration(written);
  if (duration.ok && duration.value > 0) return floorToSecond(io.now()) + duration.value;
  throw usageError(`--${name}: "${written}" is neither an instant nor a duration`, "write 2h or 2026-03-01T00:00:00Z");
}
