import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { SeedStrategy } from "../../../src/core/decision/rule.js";
import { periodKey, seedHash, seedInput, sha256Hex } from "../../../src/core/decision/seed.js";
import { zoneOf } from "../../../src/core/time/zone.js";
import { at, SEEDED } from "./rules.js";

function keyOf(strategy: SeedStrategy, nominal: string, timezone: string): string {
  const zone = zoneOf(timezone);
  if (!zone.ok) throw new Error(zone.error.message);
  return periodKey(strategy, at(nominal), zone.value);
}

describe("SPEC seed strategies: the period key", () => {
  test.each([
    { strategy: "stable", nominal: "2026-03-01T00:00:00Z", zone: "UTC", key: "2026-03-01T00:00:00Z" },
    { strategy: "stable", nominal: "2026-03-01T00:00:00Z", zone: "Asia/Tokyo", key: "2026-03-01T00:00:00Z" },
    { strategy: "daily", nominal: "2026-03-01T00:00:00Z", zone: "UTC", key: "2026-03-01" },
    { strategy: "daily", nominal: "2026-03-01T00:30:00Z", zone: "America/Los_Angeles", key: "2026-02-28" },
    { strategy: "daily", nominal: "2026-12-31T15:00:00Z", zone: "Asia/Tokyo", key: "2027-01-01" },
    { strategy: "daily", nominal: "2026-03-29T22:00:00Z", zone: "Europe/Berlin", key: "2026-03-30" },
    { strategy: "daily", nominal: "2011-12-30T10:00:00Z", zone: "Pacific/Apia", key: "2011-12-31" },
    { strategy: "daily", nominal: "2011-12-30T09:59:00Z", zone: "Pacific/Apia", key: "2011-12-29" },
    { strategy: "weekly", nominal: "2026-03-01T00:00:00Z", zone: "UTC", key: "2026-W09" },
    { strategy: "weekly", nominal: "2026-03-02T00:00:00Z", zone: "UTC", key: "2026-W10" },
    { strategy: "weekly", nominal: "2026-03-02T00:00:00Z", zone: "America/New_York", key: "2026-W09" },
    { strategy: "weekly", nominal: "2026-12-31T23:30:00Z", zone: "Asia/Tokyo", key: "2026-W53" },
    { strategy: "weekly", nominal: "2027-01-03T23:59:00Z", zone: "UTC", key: "2026-W53" },
    { strategy: "weekly", nominal: "2027-01-04T00:00:00Z", zone: "UTC", key: "2027-W01" },
    { strategy: "weekly", nominal: "2024-12-30T00:00:00Z", zone: "UTC", key: "2025-W01" },
    { strategy: "weekly", nominal: "2021-01-01T00:00:00Z", zone: "UTC", key: "2020-W53" },
  ] as const)("$strategy, $nominal in $zone is $key", ({ strategy, nominal, zone, key }) => {
    expect(keyOf(strategy, nominal, zone)).toBe(key);
  });
});

describe("SPEC seed hash", () => {
  afterEach(() => {
    vi.doUnmock("node:crypto");
    vi.resetModules();
  });

  test("joins identity, period key and salt with line breaks", () => {
    expect(seedInput("a", "b", "c")).toBe("a\nb\nc");
    expect(seedInput("a", "b", "")).toBe("a\nb\n");
  });

  test("is lowercase hex SHA-256 of the UTF-8 bytes", () => {
    const bytes = Buffer.from("störung/夜間/💾\n2026-03-01\nпе́рец", "utf8");
    const expected = createHash("sha256").update(bytes).digest("hex");
    expect(seedHash("störung/夜間/💾", "2026-03-01", "пе́рец")).toBe(expected);
    expect(expected).toMatch(/^[0-9a-f]{64}$/);
  });

  test("is the same where the platform lacks the one-shot function", async () => {
    const { hash: _missing, ...older } = await vi.importActual<typeof import("node:crypto")>("node:crypto");
    vi.resetModules();
    vi.doMock("node:crypto", () => ({ ...older, hash: undefined }));
    const fallback = await import("../../../src/core/decision/seed.js");
    expect(fallback.sha256Hex).not.toBe(sha256Hex);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        expect(fallback.sha256Hex(text)).toBe(sha256Hex(text));
      }),
      SEEDED,
    );
  });
});
