/** The words of a request: its headers, what tells it from every other one, and its signature. */
import { createHash, createHmac } from "node:crypto";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { type EpochMs, SECOND_MS } from "../../core/time/instant.js";
import type { RequestArm } from "./port.js";

const VISIBLE = /^[\x21-\x7e]+$/;
const SHOWN_SECRET = 4;

/** The same for every attempt of a period or slot: whoever receives it twice knows it for one. */
export function idempotencyKeyOf(identity: string, periodId: string): string {
  return createHash("sha256").update(`${identity}\n${periodId}`).digest("hex");
}

export function headersOf(
  { identity, periodId, scheduledFor, attemptId, target }: RequestArm,
  secretHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    "user-agent": `kron/${ENGINE_VERSION}`,
    ...lowerCased(target.headers),
    ...lowerCased(secretHeaders),
    "idempotency-key": idempotencyKeyOf(identity, periodId),
    "x-kron-identity": VISIBLE.test(identity) ? identity : encodeURI(identity),
    "x-kron-period-id": periodId,
    "x-kron-scheduled-for": scheduledFor,
    "x-kron-attempt": attemptId,
  };
}

/** Standard Webhooks: of the id, the second and the body. */
export function signatureOf(key: Buffer, id: string, now: EpochMs, body: string): Record<string, string> {
  const timestamp = String(Math.floor(now / SECOND_MS));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** What is kept of an answer: readable, and without the secrets that a server may have sent back. */
export function excerptOf(chunks: readonly Buffer[], most: number, secrets: readonly string[]): string | null {
  if (most === 0) return null;
  const bytes = Buffer.concat(chunks);
  const text = bytes
    .subarray(0, most)
    .toString("utf8")
    .replace(/\uFFFD$/, "");
  const shown = redacted(text, secrets);
  return bytes.length < most ? shown : withoutBeginnings(shown, secrets);
}

/** What was cut may end in the middle of a secret. */
function withoutBeginnings(text: string, secrets: readonly string[]): string {
  for (const secret of secrets) {
    for (let chars = Math.min(secret.length - 1, text.length); chars >= SHOWN_SECRET; chars -= 1) {
      if (text.endsWith(secret.slice(0, chars))) return `${text.slice(0, -chars)}[redacted]`;
    }
  }
  return text;
}

export function redacted(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHOWN_SECRET)
    .reduce((shown, secret) => shown.replaceAll(secret, "[redacted]"), text);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
