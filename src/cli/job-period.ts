/** `JOB@PERIOD` on a command line: the period by its name, or by a time of day that is near it. */
import { type EpochMs, formatInstant, parseInstant } from "../core/time/instant.js";
import { isZoned, readMoment } from "../core/time/moment.js";
import type { WhyAnswer } from "../core/why/facts.js";
import type { ParsedArgs } from "./args.js";
import { askOrRun } from "./daemon.js";
import { CliError, usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { momentOf, viewerZone } from "./moments.js";

interface JobPeriod {
  readonly identity: string;
  /** null: none was named. */
  readonly periodAt: EpochMs | null;
}

/** Nobody's job is called like one of these, as far as we can tell: a time of day, a date, a day and a time. */
const MOMENT =
  /^(?:\d{1,2}:\d{2}(?::\d{2})?|\d{4}-\d{2}-\d{2}.*|(?:[a-z]+|\d{4}-\d{2}-\d{2}) \d{1,2}:\d{2}(?::\d{2})?)$/i;

/**
 * The period as RFC 3339; seconds may be left out. A time of day stands for the nearest period at or before it, and that for
 * the last time it was so late. An @ of the identity itself does no harm.
 */
export async function jobPeriodOf(text: string, args: ParsedArgs, io: CliIo): Promise<JobPeriod> {
  const at = text.lastIndexOf("@");
  const written = at < 0 ? "" : text.slice(at + 1);
  if (!MOMENT.test(written)) return { identity: text, periodAt: null };
  const identity = text.slice(0, at);
  const period = parseInstant(written.replace(/(T\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/, "$1:00$2"));
  if (period.ok) return { identity, periodAt: period.value };
  const moment = readMoment(written, { now: io.now(), zone: viewerZone(args, io), toward: "back" });
  if (!moment.ok || isZoned(written)) {
    const message = moment.ok ? period.error.message : moment.error.message;
    throw usageError(`"${written}" is no period: ${message}`, PERIOD_FORM);
  }
  const near = await momentOf(written, "@", "back", args, io);
  return { identity, periodAt: await periodNear(identity, near, args, io) };
}

/** A period that is named so to the second, else the one that was current then. */
async function periodNear(identity: string, at: EpochMs, args: ParsedArgs, io: CliIo): Promise<EpochMs> {
  const exact = await whyAnswer({ identity, periodAt: at, at: null }, args, io);
  if (exact.kind !== "not_a_period") return at;
  const current = await whyAnswer({ identity, periodAt: null, at }, args, io);
  const period = parseInstant(current.period_id);
  if (!period.ok) throw usageError(`${identity} has no period at or before ${formatInstant(at)}`);
  return period.value;
}

interface WhyQuestion {
  readonly identity: string;
  readonly periodAt: EpochMs | null;
  /** As if it were asked then; null: now. */
  readonly at: EpochMs | null;
}

export function whyAnswer(question: WhyQuestion, args: ParsedArgs, io: CliIo): Promise<WhyAnswer> {
  return askOrRun(args, io, { op: "why", ...question });
}

/** Where there is no job of that name: what stands behind an @ may have been meant as a period, and is none. */
export function unreadPeriod(error: unknown, { identity, periodAt }: JobPeriod): unknown {
  const at = identity.lastIndexOf("@");
  const isUnknown = error instanceof CliError && error.message === `no job "${identity}"`;
  if (!isUnknown || periodAt !== null || at < 0) return error;
  const written = identity.slice(at + 1);
  const what = written === "" ? "there is no period behind the @" : `"${written}" is no period`;
  return usageError(`${what}, and no job is called "${identity}"`, PERIOD_FORM);
}

const PERIOD_FORM = "write a period like 2026-03-01T00:00:00Z, or 09:00";
