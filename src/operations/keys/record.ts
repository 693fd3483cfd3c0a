/** An API key as it is kept: who may do what with it and until when, and the hash of what its holder has. */

import { z } from "zod";
import { KronError } from "../../core/base/errors/kron-error.js";
import { jsonIn } from "../../core/base/fields.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ObjectWrite, StateReader, StoredObject } from "../../persist/store.js";
import { SCOPES } from "../scope.js";
import { instant } from "../shapes/words.js";

export const KEYS_PREFIX = "keys/";
/** Apart from the keys: a use is noted without reading what may be changing. */
const USES_PREFIX = "keys-used/";

export const RATE = z.strictObject({
  /** Requests a second, in the long run. */
  perSecond: z.number().min(0.01).max(10_000),
  /** How many may come at once. */
  burst: z.int().min(1).max(100_000),
});
export type Rate = z.output<typeof RATE>;

const RECORD = z.object({
  id: z.string(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string(),
  /** null: it is the host's. */
  tenant: z.string().nullable(),
  scope: z.enum(SCOPES),
  rate: RATE.nullable(),
  createdAt: instant,
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
  /** The key that takes its place. */
  rotatedTo: z.string().nullable(),
});
export type KeyRecord = z.output<typeof RECORD>;

type KeyStanding = "active" | "expired" | "revoked";

export function standingOf({ expiresAt, revokedAt }: KeyRecord, now: EpochMs): KeyStanding {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

export function keyWrite(record: KeyRecord): ObjectWrite {
  return { key: KEYS_PREFIX + record.id, text: JSON.stringify(record) };
}

/** null: there is no such key. */
export async function storedKey(reader: StateReader, keyId: string): Promise<KeyRecord | null> {
  const stored = await reader.object(KEYS_PREFIX + keyId);
  return stored === undefined ? null : keyIn(stored);
}

/** A key that cannot be read opens nothing: whoever looks for it is told. */
export function keyIn({ key, text, isIntact }: StoredObject): KeyRecord {
  const read = isIntact ? RECORD.safeParse(jsonIn(text)) : null;
  if (read?.success === true) return read.data;
  const hint = `'kron keys revoke ${key.slice(KEYS_PREFIX.length)}' removes it`;
  throw new KronError("object-unreadable", `${key} cannot be read`, { component: "api", operation: "read", hint });
}

export function useWrite(keyId: string, usedAt: EpochMs): ObjectWrite {
  return { key: USES_PREFIX + keyId, text: `${usedAt}` };
}

/** null: it was never used, or not for long. */
export async function lastUseOf(reader: StateReader, keyId: string): Promise<EpochMs | null> {
  const stored = await reader.object(USES_PREFIX + keyId);
  const usedAt = Number(stored?.text ?? Number.NaN);
  return Number.isSafeInteger(usedAt) ? usedAt : null;
}
