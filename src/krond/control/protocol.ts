/** What comes over the control socket, as the daemon reads it: a line is an operation and its input. */

import { z } from "zod";
import type { Problem } from "../../core/base/problem.js";
import { DEFAULT_TENANT } from "../../core/endpoint/endpoint-name.js";
import { type Asked, readOperation } from "../../operations/answer.js";
import { OperationError } from "../../operations/operation.js";
import { tenantName } from "../../operations/tenant.js";

/** Whoever can open the socket is the host, and may speak for any tenant. */
const ENVELOPE = z.strictObject({
  id: z.int().min(0),
  tenant: tenantName.default(DEFAULT_TENANT),
  request: z.unknown(),
});

type ReadRequest =
  | { readonly ok: true; readonly id: number; readonly asked: Asked; readonly tenant: string }
  | { readonly ok: false; readonly id: number; readonly message: string; readonly problems: readonly Problem[] };

export function readRequest(line: string): ReadRequest {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch {
    return { ok: false, id: 0, message: "the request is not JSON", problems: [] };
  }
  const read = ENVELOPE.safeParse(raw);
  if (!read.success) {
    const issue = read.error.issues[0];
    const message = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "cannot be read"}`;
    return { ok: false, id: idOf(raw), message, problems: [] };
  }
  const { id, tenant, request } = read.data;
  try {
    return { ok: true, id, tenant, asked: readOperation(request) };
  } catch (error) {
    if (error instanceof OperationError) {
      const { message, problems } = error;
      return { ok: false, id, message, problems };
    }
    throw error;
  }
}

function idOf(raw: unknown): number {
  const id = typeof raw === "object" && raw !== null && "id" in raw ? raw.id : 0;
  return typeof id === "number" && Number.isSafeInteger(id) ? id : 0;
}
