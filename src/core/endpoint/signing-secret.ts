/** Secrets by which messages and requests are signed, as Standard Webhooks have them. */

/** Says that the rest is in base64. */
const ENCODED = "whsec_";
/** With the letters of either alphabet, padded or not. */
const BASE64 = /^[A-Za-z0-9+/_-]{2,}={0,2}$/;

export const KEY_FORM = "behind 'whsec_' it has to be base64, of a byte or more; anything else is taken as it is";

/** null: it is no secret at all, and anybody could sign with what would come of it. */
export function signingKeyOf(secret: string): Buffer | null {
  const text = secret.trim();
  if (!text.startsWith(ENCODED)) return text === "" ? null : Buffer.from(secret);
  const encoded = text.slice(ENCODED.length);
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}
