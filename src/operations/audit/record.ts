/** What was changed, as it is kept: an object of its own for each change, named so that the newest comes first. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { EpochMs } from "../../core/time/instant.js";
import { SCOPES } from "../scope.js";
import { instant, listOf } from "../shapes/words.js";

/** Counted back from it, names sort from the newest to the oldest. */
const LAST_INSTANT = 253_402_300_799_999;
const INSTANT_DIGITS = 15;
/** Changes of one millisecond, in their order. */
const ORDER_DIGITS = 6;
const MOST_ORDER = 10 ** ORDER_DIGITS - 1;
const RANDOM_BYTES = 4;

/** Names of what a change was about. What it was changed to may be a secret, and is no part of it. */
export const SUBJECTS = [
  "jobId",
  "endpointId",
  "runId",
  "claimId",
  "identity",
  "id",
  "tenant",
  "name",
  "kind",
] as const;
type Subject = (typeof SUBJECTS)[number];

const RECORD = z.object({
  at: instant,
  operation: z.string(),
  /** null: whoever runs the daemon; `kron`: nobody, the job has done it itself (S51). */
  keyId: z.string().nullable(),
  scope: z.enum(SCOPES),
  about: z.partialRecord(z.enum(SUBJECTS), z.string()),
  /** Named in the request, whatever they were set to. */
  fields: listOf(z.string()),
  /** What it is since. */
  version: z.int().nullable(),
});
export type AuditRecord = z.output<typeof RECORD>;
export type AuditSubjects = Readonly<Partial<Record<Subject, string>>>;

/** Whose it is: a tenant's, or, with null, the host's. */
export function auditOf(tenant: string | null): string {
  return tenant === null ? "audit/host/" : `audit/tenant/${tenant}/`;
}

export const AUDIT_PLACE = /^\d{15}-\d{6}[0-9a-f]{8}$/;

/** `number`: it is the how manieth. Of two changes neither takes the place of the other, also where a clock was set back. */
export function auditPlace(at: EpochMs, number: number): string {
  const order = String(MOST_ORDER - (number % (MOST_ORDER + 1))).padStart(ORDER_DIGITS, "0");
  return `${countedBack(at)}-${order}${randomBytes(RANDOM_BYTES).toString("hex")}`;
}

/** Behind it lies what is older. */
export function placeBefore(at: EpochMs): string {
  return `${countedBack(at - 1)}-`;
}

/** null: it cannot be read. */
export function auditIn(text: string, isIntact: boolean): AuditRecord | null {
  if (!isIntact) return null;
  try {
    const read = RECORD.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function countedBack(at: EpochMs): string {
  return String(LAST_INSTANT - at).padStart(INSTANT_DIGITS, "0");
}
