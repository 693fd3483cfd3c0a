/** What tenants are called, and who speaks for them. */
import { z } from "zod";
import type { Caller } from "./operation.js";

const TENANT_CHARS = 64;

/** It is part of names in the store. */
export const tenantName = z
  .string()
  .max(TENANT_CHARS)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, "must be small letters, digits and, between them, hyphens");

/** Whoever runs the daemon may speak for any tenant. */
export function hostAs(tenant: string): Caller {
  return { tenant, keyId: null, scope: "admin" };
}
