/** Time spans as systemd writes them: `5min 20s`, `1.5h`, `2 weeks`, a plain number of seconds. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../time/instant.js";

const UNITS: readonly { readonly names: readonly string[]; readonly ms: number }[] = [
  { names: ["usec", "us", "µs", "μs"], ms: 0.001 },
  { names: ["msec", "ms"], ms: 1 },
  { names: ["seconds", "second", "sec", "s", ""], ms: SECOND_MS },
  { names: ["minutes", "minute", "min", "m"], ms: MINUTE_MS },
  { names: ["hours", "hour", "hr", "h"], ms: HOUR_MS },
  { names: ["days", "day", "d"], ms: DAY_MS },
  { names: ["weeks", "week", "w"], ms: 7 * DAY_MS },
  { names: ["months", "month", "M"], ms: 30.4375 * DAY_MS },
  { names: ["years", "year", "y"], ms: 365.25 * DAY_MS },
];

const SPAN_CHARS = 256;

/** Whole milliseconds, Infinity for `infinity`; null for what is no time span. */
export function parseTimeSpan(text: string): number | null {
  const written = text.trim();
  if (written === "infinity") return Number.POSITIVE_INFINITY;
  if (written === "" || written.length > SPAN_CHARS) return null;
  let total = 0;
  let at = 0;
  for (const part of written.matchAll(/\s*(\d+(?:\.\d+)?)\s*([A-Za-zµμ]*)/gy)) {
    const [whole, amount = "", name = ""] = part;
    const unit = UNITS.find(({ names }) => names.includes(name));
    if (unit === undefined) return null;
    total += Number(amount) * unit.ms;
    at += whole.length;
  }
  return at === written.length ? Math.round(total) : null;
}
