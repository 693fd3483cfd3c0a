/** `Retry-After` of an answer: how long whoever sent it wants to be left alone. */
import { type EpochMs, SECOND_MS } from "../../core/time/instant.js";
import type { AnswerHeaders } from "./port.js";

/** `Date.parse` reads much more than dates. */
const HTTP_DATE = /^[A-Z][a-z]{2}.* GMT$/;

/** null: it does not say, or not so that it can be understood. */
export function retryAfterMsOf(value: AnswerHeaders[string], now: EpochMs): number | null {
  if (typeof value !== "string") return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND_MS;
  const at = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
