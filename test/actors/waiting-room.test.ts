import { describe, expect, test } from "vitest";
import { WaitingRoom } from "../../src/actors/waiting-room.js";

function room(ofTenant: number, ofAll: number) {
  const waiting = new WaitingRoom({ ofTenant, ofAll });
  const released: string[] = [];
  const enter = (tenant: string, name = tenant) => waiting.enter(tenant, () => released.push(name));
  return { enter, released };
}

describe("who waits", () => {
  test("is one of so many of a tenant; whoever leaves makes room, however often they say it", () => {
    const { enter, released } = room(2, 10);
    const [first] = [enter("acme"), enter("acme")];
    expect(enter("acme")).toBe(null);
    expect(enter("beta")).not.toBe(null);
    first?.();
    first?.();
    expect([enter("acme") === null, enter("acme")]).toEqual([false, null]);
    expect(released).toEqual([]);
  });

  test("gives way to another tenant where no more fit, the one that has most and came first", () => {
    const { enter, released } = room(10, 4);
    for (const name of ["a1", "a2", "a3"]) enter("acme", name);
    enter("beta", "b1");
    expect(enter("gamma", "c1")).not.toBe(null);
    expect(released).toEqual(["a1"]);
    expect(enter("beta", "b2")).toBe(null);
    expect(enter("acme", "a4")).toBe(null);
    expect(enter("delta", "d1")).not.toBe(null);
    expect(released).toEqual(["a1", "a2"]);
    // By now each has as many as any other.
    expect(enter("epsilon")).toBe(null);
  });
});
