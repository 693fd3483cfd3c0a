import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Admission, type Lane } from "../../../src/actors/dispatcher/admission.js";

const BOUNDS = { maxConcurrent: 4, maxPerOrigin: 2 };

/** Says who was started, in order, and lets them leave. */
class Door {
  readonly admission: Admission;
  readonly started: string[] = [];
  readonly #inside: { readonly lane: Lane; readonly id: string }[] = [];

  constructor(bounds = BOUNDS) {
    this.admission = new Admission(bounds);
  }

  enter(tenant: string, origin: string, id: string): void {
    const lane = { tenant, origin };
    this.admission.enter(lane, id, () => {
      this.started.push(id);
      this.#inside.push({ lane, id });
    });
  }

  /** The one that has been inside for longest. */
  leave(): string | null {
    const first = this.#inside.shift();
    if (first === undefined) return null;
    this.admission.leave(first.lane);
    return first.id;
  }

  inside(origin?: string): number {
    return this.#inside.filter(({ lane }) => origin === undefined || lane.origin === origin).length;
  }
}

describe("whose turn it is", () => {
  test("a slow origin holds up nobody but itself", () => {
    const door = new Door();
    for (const id of ["1", "2", "3", "4"]) door.enter("a", "slow", `slow-${id}`);
    for (const id of ["1", "2", "3"]) door.enter("a", "quick", `quick-${id}`);
    expect(door.started).toEqual(["slow-1", "slow-2", "quick-1", "quick-2"]);
  });

  test("a tenant that floods one origin, or a thousand, delays another's request by one turn", () => {
    for (const originOf of [() => "shared", (index: number) => `origin-${index}`]) {
      const door = new Door({ maxConcurrent: 4, maxPerOrigin: 4 });
      for (let index = 0; index < 1_000; index += 1) door.enter("flood", originOf(index), `flood-${index}`);
      door.enter("b", "shared", "b-1");
      door.enter("b", "shared", "b-2");
      const from = door.started.length;
      for (let index = 0; index < 5; index += 1) door.leave();
      const next = door.started.slice(from);
      expect(next.indexOf("b-1")).toBeLessThanOrEqual(1);
      expect(next.indexOf("b-2") - next.indexOf("b-1")).toBe(2);
    }
  });

  test("whoever withdraws is not started, and whoever is started cannot withdraw", () => {
    const door = new Door({ maxConcurrent: 1, maxPerOrigin: 1 });
    door.enter("a", "o", "1");
    door.enter("a", "o", "2");
    const lane = { tenant: "a", origin: "o" };
    expect([door.admission.withdraw(lane, "1"), door.admission.withdraw(lane, "2")]).toEqual([false, true]);
    door.leave();
    expect(door.started).toEqual(["1"]);
  });
});

const TIGHTER = { maxConcurrent: 2, maxPerOrigin: 1 };
const ACTION = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(BOUNDS, TIGHTER) },
  { weight: 3, arbitrary: fc.record({ tenant: fc.nat(3), origin: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.constant("leave" as const) },
);

test("who waits is let in when the bounds are raised, also where nobody comes any more", () => {
  const door = new Door({ maxConcurrent: 10, maxPerOrigin: 2 });
  for (const tenant of ["a", "b", "c", "d", "e"]) door.enter(tenant, "o", tenant);
  expect(door.started).toHaveLength(2);
  door.admission.use({ maxConcurrent: 10, maxPerOrigin: 4 });
  expect(door.started).toHaveLength(4);
  while (door.leave() !== null);
  expect(door.started).toHaveLength(5);
});

test("bounds hold, nobody is started twice or forgotten, and nobody waits while there is room", () => {
  fc.assert(
    fc.property(fc.array(ACTION, { maxLength: 200 }), (actions) => {
      const door = new Door();
      let entered = 0;
      for (const action of actions) {
        if (action === "leave") door.leave();
        else if ("maxPerOrigin" in action) door.admission.use(action);
        else {
          entered += 1;
          door.enter(`t${action.tenant}`, `o${action.origin}`, `${entered}`);
        }
        expect(door.inside()).toBeLessThanOrEqual(BOUNDS.maxConcurrent);
        for (const origin of ["o0", "o1", "o2"]) expect(door.inside(origin)).toBeLessThanOrEqual(BOUNDS.maxPerOrigin);
      }
      while (door.leave() !== null);
      expect([...door.started].sort()).toEqual(Array.from({ length: entered }, (_, index) => `${index + 1}`).sort());
    }),
  );
});
