import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Admission, type Lane } from "../../../src/actors/dispatcher/admission.js";
import type { Owner } from "../../../src/actors/dispatcher/room.js";

const BOUNDS = { maxConcurrent: 4, maxPerOrigin: 2 };

/** Says who was started, in order, and lets them leave. */
class Door {
  readonly admission: Admission;
  readonly started: string[] = [];
  readonly #inside: { readonly lane: Lane; readonly id: string }[] = [];

  constructor(bounds = BOUNDS) {
    this.admission = new Admission(bounds);
  }

  enter(owner: Owner, origin: string, id: string): void {
    const lane = { owner, origin };
    this.admission.enter(lane, id, () => {
      this.started.push(id);
      this.#inside.push({ lane, id });
    });
  }

  /** So many of them, each with an origin of its own, or with the same. */
  flood(owner: Owner, count: number, originOf: (index: number) => string = (index) => `${owner}-${index}`): void {
    for (let index = 0; index < count; index += 1) this.enter(owner, originOf(index), `${owner}-${index}`);
  }

  /** The one that has been inside for longest, of all or of those that end at all. */
  leave(mayEnd: (lane: Lane) => boolean = () => true): string | null {
    const at = this.#inside.findIndex(({ lane }) => mayEnd(lane));
    const [first] = at < 0 ? [] : this.#inside.splice(at, 1);
    if (first === undefined) return null;
    this.admission.leave(first.lane);
    return first.id;
  }

  inside(isOne: (lane: Lane) => boolean = () => true): number {
    return this.#inside.filter(({ lane }) => isOne(lane)).length;
  }

  insideOf(owner: Owner): number {
    return this.inside((lane) => lane.owner === owner);
  }
}

describe("whose turn it is", () => {
  test("a slow origin holds up nobody but itself", () => {
    const door = new Door();
    door.flood(null, 4, () => "slow");
    for (const id of ["1", "2", "3"]) door.enter(null, "quick", `quick-${id}`);
    expect(door.started).toEqual(["null-0", "null-1", "quick-1", "quick-2"]);
  });

  test("a tenant that floods one origin, or a thousand, delays another's request by one turn", () => {
    for (const originOf of [() => "shared", (index: number) => `origin-${index}`]) {
      const door = new Door({ maxConcurrent: 4, maxPerOrigin: 4 });
      door.flood("flood", 1_000, originOf);
      // All the room that there is, taken by those who came before.
      door.flood("c", 1, originOf);
      door.flood("d", 1, originOf);
      expect([door.inside(), door.insideOf("flood")]).toEqual([4, 2]);
      const from = door.started.length;
      door.enter("b", "shared", "b-1");
      door.enter("b", "shared", "b-2");
      for (let index = 0; index < 4; index += 1) door.leave();
      const next = door.started.slice(from);
      expect([next.indexOf("b-1"), next.indexOf("b-2") <= 3]).toEqual([0, true]);
    }
  });

  test("whoever withdraws is not started, and whoever is started cannot withdraw", () => {
    const door = new Door({ maxConcurrent: 1, maxPerOrigin: 1 });
    door.enter("a", "o", "1");
    door.enter("a", "o", "2");
    const lane = { owner: "a", origin: "o" };
    expect([door.admission.withdraw(lane, "1"), door.admission.withdraw(lane, "2")]).toEqual([false, true]);
    door.leave();
    expect(door.started).toEqual(["1"]);
  });
});

describe("a tenant whose requests never end", () => {
  const WIDE = { maxConcurrent: 1_024, maxPerOrigin: 64 };
  const floods = Array.from({ length: 9 }, (_, index) => `flood-${index}`);

  test("leaves half of the room to others, and so does the next one of what is left", () => {
    const door = new Door(WIDE);
    for (const owner of floods.slice(0, 4)) door.flood(owner, 2_000);
    expect(floods.slice(0, 4).map((owner) => door.insideOf(owner))).toEqual([512, 256, 128, 64]);
  });

  test("leaves half of the room at an origin to others", () => {
    const door = new Door(WIDE);
    for (const owner of floods.slice(0, 4)) door.flood(owner, 2_000, () => "shared");
    expect(floods.slice(0, 4).map((owner) => door.insideOf(owner))).toEqual([32, 16, 8, 4]);
  });

  test("is no reason for anybody else to wait, were there nine of them", () => {
    for (const originOf of [undefined, () => "shared"]) {
      const door = new Door({ maxConcurrent: 1_024, maxPerOrigin: 1_024 });
      for (const owner of floods) door.flood(owner, 2_000, originOf);
      for (let index = 0; index < 1_000; index += 1) {
        door.enter("other", "shared", `other-${index}`);
        expect(door.started.at(-1)).toBe(`other-${index}`);
        door.leave(({ owner }) => owner === "other");
      }
    }
  });

  test("the host's own have all the room that is free, and leave tenants their turn", () => {
    const door = new Door();
    door.flood(null, 9);
    expect(door.insideOf(null)).toBe(4);
    door.enter("a", "a", "a-1");
    door.leave();
    expect([door.insideOf(null), door.insideOf("a")]).toEqual([3, 1]);
  });

  test("who floods beside others that end has as much as is left, and no more", () => {
    const door = new Door({ maxConcurrent: 8, maxPerOrigin: 8 });
    door.flood("quick", 4);
    door.flood("flood", 9);
    expect([door.insideOf("quick"), door.insideOf("flood")]).toEqual([4, 2]);
    while (door.leave(({ owner }) => owner === "quick") !== null);
    expect(door.insideOf("flood")).toBe(4);
  });
});

const TIGHTER = { maxConcurrent: 2, maxPerOrigin: 1 };
const ACTION = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(BOUNDS, TIGHTER, { maxConcurrent: 9, maxPerOrigin: 5 }) },
  { weight: 3, arbitrary: fc.record({ owner: fc.constantFrom(null, "a", "b", "c"), origin: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.constant("leave" as const) },
);

test("who waits is let in when the bounds are raised, also where nobody comes any more", () => {
  const door = new Door({ maxConcurrent: 10, maxPerOrigin: 2 });
  for (const owner of ["a", "b", "c", "d", "e"]) door.enter(owner, "o", owner);
  expect(door.started).toHaveLength(2);
  door.admission.use({ maxConcurrent: 10, maxPerOrigin: 4 });
  expect(door.started).toHaveLength(4);
  while (door.leave() !== null);
  expect(door.started).toHaveLength(5);
});

test("bounds and shares hold, nobody is started twice or forgotten, and nobody waits while there is room for them", () => {
  fc.assert(
    fc.property(fc.array(ACTION, { maxLength: 200 }), (actions) => {
      const door = new Door();
      const waiting: { readonly lane: Lane; readonly id: string }[] = [];
      let entered = 0;
      let bounds = BOUNDS;
      for (const action of actions) {
        if (action === "leave") door.leave();
        else if ("maxPerOrigin" in action) {
          bounds = action;
          door.admission.use(action);
        } else {
          entered += 1;
          const lane = { owner: action.owner, origin: `o${action.origin}` };
          waiting.push({ lane, id: `${entered}` });
          door.enter(lane.owner, lane.origin, `${entered}`);
        }
        const hasRoom = (lane: Lane, bound: number, isOne: (one: Lane) => boolean): boolean => {
          const free = bound - door.inside(isOne);
          return (
            free > 0 && (lane.owner === null || door.inside((one) => isOne(one) && one.owner === lane.owner) < free)
          );
        };
        for (const { lane } of waiting.filter(({ id }) => !door.started.includes(id))) {
          const mayGo =
            hasRoom(lane, bounds.maxConcurrent, () => true) &&
            hasRoom(lane, bounds.maxPerOrigin, ({ origin }) => origin === lane.origin);
          expect(mayGo).toBe(false);
        }
        expect(door.inside()).toBeLessThanOrEqual(9);
      }
      while (door.leave() !== null);
      expect([...door.started].sort()).toEqual(Array.from({ length: entered }, (_, index) => `${index + 1}`).sort());
    }),
  );
});
