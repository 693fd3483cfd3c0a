import { describe, expect, test } from "vitest";
import { identityOf, TENANT_PER_MINUTE, TenantPaces, tenantOf } from "../../../src/actors/messenger/tenants.js";
import type { Message } from "../../../src/core/notify/notice.js";
import { MINUTE_MS } from "../../../src/core/time/instant.js";

const IDENTITY = `endpoint:acme/job_${"0".repeat(16)}/ep_${"0".repeat(16)}`;
const MESSAGE: Message = { id: "m", event: "failure", at: "2026-03-01T00:00:00Z", identity: IDENTITY };

describe("whose a message is", () => {
  test.each<[name: string, message: Message, tenant: string | null]>([
    ["of an endpoint, its tenant's", MESSAGE, "acme"],
    ["of a job of the configuration, the host's", { ...MESSAGE, identity: "prod/backup" }, null],
    ["of a group, that of its first", { ...MESSAGE, identity: "", event: "group", events: [MESSAGE] }, "acme"],
    ["of nothing, the host's", { ...MESSAGE, identity: "" }, null],
  ])("%s", (_, message, tenant) => {
    expect(tenantOf(message)).toBe(tenant);
    expect(identityOf(message)).toBe(
      message.identity === "" && message.events !== undefined ? IDENTITY : message.identity,
    );
  });
});

describe("S52: messages of a tenant", () => {
  const NOW = 10 * MINUTE_MS;

  function tried(paces: TenantPaces, tenant: string, from: number): void {
    for (let count = 0; count < TENANT_PER_MINUTE; count++) paces.tried(tenant, from + count);
  }

  test("go so many in a minute, over all places; those of another tenant and of the host do not wait for them", () => {
    const paces = new TenantPaces();
    tried(paces, "acme", NOW);
    const later = NOW + TENANT_PER_MINUTE;
    expect(paces.waitsUntil("acme", later)).toBe(NOW + MINUTE_MS);
    expect([paces.waitsUntil("beta", later), paces.waitsUntil(null, later)]).toEqual([null, null]);
    expect(paces.waitsUntil("acme", NOW + MINUTE_MS)).toBe(null);
  });

  test("are not silenced by a clock that goes back, and nothing is kept of a tenant that is silent", () => {
    const paces = new TenantPaces();
    tried(paces, "acme", NOW);
    expect(paces.waitsUntil("acme", NOW - MINUTE_MS)).toBe(null);
    paces.sweep(NOW + 2 * MINUTE_MS);
    expect(paces.waitsUntil("acme", NOW + 1)).toBe(null);
  });
});
