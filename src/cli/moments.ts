/** The one reader of instants and lengths of time on a command line, for every command. */
import type { Problem } from "../core/base/problem.js";
import { type EpochMs, formatInstant } from "../core/time/instant.js";
import { isZoned, type MomentFrame, readMoment } from "../core/time/moment.js";
import { parseSpan } from "../core/time/span.js";
import { type Zone, zoneOf } from "../core/time/zone.js";
import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";
import { formatWall } from "./format.js";
import type { CliIo } from "./io.js";

/** What `--tz` names, else the zone of whoever looks. */
export function viewerZone(args: ParsedArgs, io: CliIo): Zone {
  const named = args.text("tz");
  const zone = zoneOf(named ?? io.timeZone ?? "UTC");
  if (zone.ok) return zone.value;
  throw usageError(`${named === undefined ? "TZ" : "--tz"}: ${zone.error.message}`, zone.error.hint);
}

/** Of an option; undefined when it is not given. What depends on a zone is told on standard error. */
export async function momentArg(
  args: ParsedArgs,
  name: string,
  io: CliIo,
  toward: MomentFrame["toward"] = "ahead",
): Promise<EpochMs | undefined> {
  const text = args.text(name);
  return text === undefined ? undefined : momentOf(text, `--${name}`, toward, args, io);
}

/** `what` is how the text is called in messages, such as `--until`. */
export async function momentOf(
  text: string,
  what: string,
  toward: MomentFrame["toward"],
  args: ParsedArgs,
  io: CliIo,
): Promise<EpochMs> {
  const zone = viewerZone(args, io);
  const moment = readMoment(text, { now: io.now(), zone, toward });
  if (!moment.ok) throw refusal(what, moment.error);
  if (!isZoned(text))
    await io.err(`${what} ${text} is ${formatInstant(moment.value)} (${wallText(moment.value, zone)})\n`);
  return moment.value;
}

/** `2026-11-19 09:00:00 +01:00 Europe/Berlin`. */
export function wallText(at: EpochMs, zone: Zone): string {
  return `${formatWall(at, zone)} ${zone.id}`;
}

/** A length of time above zero, such as `7d` or `90s`. */
export function durationArg(args: ParsedArgs, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const duration = parseSpan(text);
  if (!duration.ok) throw refusal(`--${name}`, duration.error);
  if (duration.value === 0) throw usageError(`--${name}: must be longer than 0s`);
  return duration.value;
}

function refusal(what: string, { message, hint }: Problem): Error {
  return usageError(`${what}: ${message}`, hint);
}
