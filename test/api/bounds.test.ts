/** What one request may cost, whoever sends it and by whatever way it comes. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readQuery } from "../../src/api/form/parameters.js";
import { routeOf } from "../../src/api/http/routes.js";
import { API_LIMITS } from "../../src/api/limits.js";
import { Addresses } from "../../src/api/mcp/resource.js";
import type { Operation } from "../../src/operations/operation.js";
import { OPERATIONS } from "../../src/operations/registry.js";

describe("an address", () => {
  const addresses = new Addresses((OPERATIONS as unknown as readonly Operation[]).map(routeOf));

  test("of a resource is as short as one of a request", () => {
    const begun = "kron://endpoints?jobId=";
    const fits = begun + "x".repeat(API_LIMITS.urlChars - begun.length);
    expect(addresses.read(fits).fields["jobId"]).toHaveLength(API_LIMITS.urlChars - begun.length);
    for (const uri of [`${fits}x`, `kron://endpoints?${"limit=1&".repeat(100_000)}`]) {
      expect(() => addresses.read(uri)).toThrow(expect.objectContaining({ code: "address-too-long" }));
    }
  });

  test("has a field once, and a list as often as it likes; what follows a second one is not read", () => {
    const schema = z.object({ one: z.string().optional(), many: z.array(z.string()).optional() });
    const allowed = new Set(["one", "many"]);
    expect(readQuery("many=a&one=x&many=b", schema, allowed)).toEqual({ one: "x", many: ["a", "b"] });
    const twice = expect.objectContaining({ message: "/one: is written twice" });
    expect(() => readQuery("one=x&one=y&stray=%zz", schema, allowed)).toThrow(twice);
  });
});
