/** API keys: made, listed, replaced and taken back. A key is shown once, when it is made. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Problem } from "../../core/base/problem.js";
import { DAY_MS, type EpochMs } from "../../core/time/instant.js";
import { OPERATION_LIMITS } from "../limits.js";
import { daemonOperation, OperationError } from "../operation.js";
import type { Acting } from "../ports.js";
import { dryRun, REHEARSED } from "../rehearsal.js";
import { SCOPES } from "../scope.js";
import { instant, listOf } from "../shapes/words.js";
import { tenantName } from "../tenant.js";
import { KEYS_PREFIX, type KeyRecord, keyIn, keyWrite, lastUseOf, RATE, standingOf, storedKey } from "./record.js";
import { newKey } from "./secret.js";

const NO_KEY = "";
const MOST_GRACE_MS = 30 * DAY_MS;

const id = z.string().regex(/^[a-z2-7]{8}$/, "must be the id of a key: the eight characters behind kron_");
const name = z
  .string()
  .max(100)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must have no control characters");

const KEY_FIELDS = {
  id,
  name,
  tenant: tenantName.nullable(),
  scope: z.enum(SCOPES),
  rate: RATE.nullable(),
  standing: z.enum(["active", "expired", "revoked"]),
  createdAt: instant,
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
  rotatedTo: z.string().nullable(),
  /** To the minute. */
  lastUsedAt: instant.nullable(),
};

const KEY_ANSWER = z.strictObject({ ...KEY_FIELDS, ...REHEARSED });
export type KeyAnswer = z.output<typeof KEY_ANSWER>;

/** `key`: empty where there is none, because nothing was made. */
const NEW_KEY_ANSWER = z.strictObject({ ...KEY_FIELDS, key: z.string(), ...REHEARSED });
export type NewKeyAnswer = z.output<typeof NEW_KEY_ANSWER>;

const KEYS_ANSWER = z.strictObject({ rows: listOf(KEY_ANSWER), next: z.string().nullable() });
export type KeysAnswer = z.output<typeof KEYS_ANSWER>;

export const CREATE_KEY = daemonOperation({
  name: "keys.create",
  summary: "makes an API key, which is shown once",
  http: { method: "POST", path: "/keys", makes: true, isShownOnce: true, query: ["dryRun"] },
  access: "admin",
  beginsSomething: true,
  input: z.strictObject({
    /** null: a key of the host. */
    tenant: tenantName.nullable().default(null),
    scope: z.enum(SCOPES),
    name: name.default(""),
    expiresAt: instant.nullable().default(null),
    rate: RATE.nullable().default(null),
    dryRun,
  }),
  output: NEW_KEY_ANSWER,
  run: async ({ dryRun: isRehearsal, ...wish }, ports): Promise<NewKeyAnswer> => {
    const createdAt = ports.now();
    if (wish.expiresAt !== null && wish.expiresAt <= createdAt) throw hasExpired();
    const { keyId, key, hash } = await unusedKey(ports);
    const record = { id: keyId, hash, ...wish, createdAt, revokedAt: null, rotatedTo: null };
    if (isRehearsal) return { ...answerOf(record, null, createdAt), key: NO_KEY };
    await ports.write([keyWrite(record)]);
    return { ...answerOf(record, null, createdAt), key };
  },
});

export const LIST_KEYS = daemonOperation({
  name: "keys.list",
  summary: "the API keys of the host and its tenants, without what their holders have",
  http: { method: "GET", path: "/keys", isPaged: true },
  access: "admin",
  beginsSomething: false,
  input: z.strictObject({
    cursor: id.nullable(),
    limit: z.int().min(1).max(OPERATION_LIMITS.listRows),
  }),
  output: KEYS_ANSWER,
  run: async ({ cursor, limit }, { reader, now }): Promise<KeysAnswer> => {
    const behind = cursor === null ? {} : { after: KEYS_PREFIX + cursor };
    const found = await reader.objects({ prefix: KEYS_PREFIX, ...behind, limit: limit + 1 });
    const records = found.slice(0, limit).map(keyIn);
    const rows = records.map(async (record) => answerOf(record, await lastUseOf(reader, record.id), now()));
    return { rows: await Promise.all(rows), next: found.length > limit ? (records.at(-1)?.id ?? null) : null };
  },
});

export const REVOKE_KEY = daemonOperation({
  name: "keys.revoke",
  summary: "takes an API key back: from now on it opens nothing",
  http: { method: "DELETE", path: "/keys/:id" },
  access: "admin",
  beginsSomething: false,
  input: z.strictObject({ id, dryRun }),
  output: KEY_ANSWER,
  run: (request, ports): Promise<KeyAnswer> =>
    changingOrRemoving(request, ports, async (record) => {
      const now = ports.now();
      const revoked = { ...record, revokedAt: record.revokedAt ?? now };
      if (!request.dryRun) await ports.write([keyWrite(revoked)]);
      return answerOf(revoked, await lastUseOf(ports.reader, record.id), now);
    }),
});

export const ROTATE_KEY = daemonOperation({
  name: "keys.rotate",
  summary: "makes a key in the place of another, which goes on for a while",
  http: { method: "POST", path: "/keys/:id/rotate", makes: true, isShownOnce: true, query: ["dryRun"] },
  access: "admin",
  beginsSomething: true,
  input: z.strictObject({ id, graceMs: z.int().min(0).max(MOST_GRACE_MS).default(DAY_MS), dryRun }),
  output: NEW_KEY_ANSWER,
  run: (request, ports): Promise<NewKeyAnswer> =>
    changing(request.id, ports, async (record) => {
      const now = ports.now();
      mayRotate(record, now);
      const { keyId, key, hash } = await unusedKey(ports);
      const { expiresAt, createdAt } = record;
      // It lives as long as the one before it was meant to.
      const lifetime = { createdAt: now, expiresAt: expiresAt === null ? null : now + (expiresAt - createdAt) };
      const next = { ...record, ...lifetime, id: keyId, hash };
      const endsAt = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, now + request.graceMs);
      if (request.dryRun) return { ...answerOf(next, null, now), key: NO_KEY };
      await ports.write([keyWrite(next), keyWrite({ ...record, expiresAt: endsAt, rotatedTo: keyId })]);
      return { ...answerOf(next, null, now), key };
    }),
});

function changing<T>(keyId: string, ports: Acting, change: (record: KeyRecord) => Promise<T>): Promise<T> {
  return ports.inTurn(KEYS_PREFIX + keyId, async () => {
    const record = await storedKey(ports.reader, keyId);
    if (record === null) throw new OperationError("not-found", `no key "${keyId}"`, "'kron keys list' shows them");
    return change(record);
  });
}

/** What cannot be read cannot be told of either: it goes. */
async function changingOrRemoving<T>(
  { id: keyId, dryRun: isRehearsal }: { readonly id: string; readonly dryRun: boolean },
  ports: Acting,
  change: (record: KeyRecord) => Promise<T>,
): Promise<T> {
  try {
    return await changing(keyId, ports, change);
  } catch (error) {
    if (!(error instanceof KronError && error.code === "object-unreadable")) throw error;
    if (!isRehearsal) await ports.write([{ key: KEYS_PREFIX + keyId, text: null }]);
    const what = isRehearsal ? "cannot be read, and would be removed" : "could not be read, and was removed";
    throw new OperationError("not-found", `the key ${keyId} ${what}`);
  }
}

/** Ids are short: once in a long while one is taken already. */
async function unusedKey({ reader }: Acting): Promise<ReturnType<typeof newKey>> {
  for (;;) {
    const made = newKey(randomBytes);
    if ((await reader.object(KEYS_PREFIX + made.keyId)) === undefined) return made;
  }
}

function mayRotate(record: KeyRecord, now: EpochMs): void {
  const standing = standingOf(record, now);
  if (standing !== "active") throw new OperationError("refused", `the key ${record.id} is ${standing}: make a new one`);
  if (record.rotatedTo === null) return;
  throw new OperationError("refused", `the key ${record.id} was replaced already, by ${record.rotatedTo}`);
}

function hasExpired(): OperationError {
  const message = "the key would have expired already";
  const problem: Problem = { code: "instant-range", message, path: ["expiresAt"] };
  return new OperationError("refused", message, undefined, { problems: [problem] });
}

function answerOf({ hash: _hash, ...record }: KeyRecord, lastUsedAt: EpochMs | null, now: EpochMs): KeyAnswer {
  return { ...record, standing: standingOf({ hash: _hash, ...record }, now), lastUsedAt };
}
