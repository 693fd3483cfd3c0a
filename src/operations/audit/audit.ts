/** Who has changed what: of a tenant, for its admins, and of the host. */
import { z } from "zod";
import { OPERATION_LIMITS } from "../limits.js";
import { daemonOperation, tenantOperation } from "../operation.js";
import type { Acting } from "../ports.js";
import { SCOPES } from "../scope.js";
import { instant, listOf } from "../shapes/words.js";
import { AUDIT_PLACE, auditIn, auditOf, placeBefore, SUBJECTS } from "./record.js";

const place = z.string().regex(AUDIT_PLACE);

const INPUT = z.strictObject({
  cursor: place.nullable(),
  limit: z.int().min(1).max(OPERATION_LIMITS.listRows),
  /** Nothing that is younger. */
  until: instant.optional(),
});
type Asked = z.output<typeof INPUT>;

const AUDIT_ANSWER = z.strictObject({
  rows: listOf(
    z.strictObject({
      at: instant,
      operation: z.string(),
      keyId: z.string().nullable(),
      scope: z.enum(SCOPES),
      about: z.strictObject(Object.fromEntries(SUBJECTS.map((name) => [name, z.string().optional()]))),
      fields: listOf(z.string()),
      version: z.int().nullable(),
    }),
  ),
  next: place.nullable(),
});
type AuditAnswer = z.output<typeof AUDIT_ANSWER>;

export const AUDIT = tenantOperation({
  name: "audit.list",
  summary: "who has changed what of a tenant, newest first",
  http: { method: "GET", path: "/audit", isPaged: true },
  access: "admin",
  beginsSomething: false,
  input: INPUT,
  output: AUDIT_ANSWER,
  run: (asked, ports, { tenant }) => recordsOf(auditOf(tenant), asked, ports),
});

export const AUDIT_OF_HOST = daemonOperation({
  name: "audit.host",
  summary: "who has changed what of the host: schedules, keys, limits of tenants, the daemon itself; newest first",
  http: { method: "GET", path: "/system/audit", isPaged: true },
  access: "admin",
  beginsSomething: false,
  input: INPUT,
  output: AUDIT_ANSWER,
  run: (asked, ports) => recordsOf(auditOf(null), asked, ports),
});

async function recordsOf(prefix: string, { cursor, limit, until }: Asked, { reader }: Acting): Promise<AuditAnswer> {
  const from = cursor ?? (until === undefined ? null : placeBefore(until + 1));
  const behind = from === null ? {} : { after: prefix + from };
  const found = await reader.objects({ prefix, ...behind, limit: limit + 1 });
  const page = found.slice(0, limit);
  const rows = page.flatMap(({ text, isIntact }) => auditIn(text, isIntact) ?? []);
  const last = found.length > limit ? page.at(-1)?.key.slice(prefix.length) : undefined;
  return { rows, next: last ?? null };
}
