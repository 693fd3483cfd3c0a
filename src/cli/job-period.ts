import { type EpochMs, parseInstant } from "../core/time/instant.js";
import { usageError } from "./exit.js";

export interface JobPeriod {
  readonly identity: string;
  /** null: none was named. */
  readonly periodAt: EpochMs | null;
}

/** `JOB@PERIOD`, the period as RFC 3339; seconds may be left out. An @ of the identity itself does no harm. */
export function parseJobPeriod(text: string): JobPeriod {
  const at = text.lastIndexOf("@");
  const written = at < 0 ? "" : text.slice(at + 1);
  if (!/^\d{4}-/.test(written)) return { identity: text, periodAt: null };
  const period = parseInstant(written.replace(/(T\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/, "$1:00$2"));
  if (period.ok) return { identity: text.slice(0, at), periodAt: period.value };
  throw usageError(`"${written}" is no period: ${period.error.message}`, "write it like 2026-03-01T00:00:00Z");
}
