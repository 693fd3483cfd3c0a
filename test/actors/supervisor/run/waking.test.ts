/**
 * What happens in the midst of many jobs being woken or released, between any two turns of the loop: the clock is set, the
 * machine stands still, the daemon dies. Nothing begins twice (S22, S23), and everything is woken again afterwards (S6, S13).
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../../src/core/time/instant.js";
import { type Begun, job, START, World } from "../world.js";

const COUNT = 120;
const NAMES = Array.from({ length: COUNT }, (_, index) => `j${String(index).padStart(3, "0")}`);
const POLICY = { policy: { concurrency: "allow", deadline: "20s" } } as const;

type Deed =
  | { readonly kind: "turns"; readonly count: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "set"; readonly ms: number }
  | { readonly kind: "die" };

const deeds = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant("turns" as const), count: fc.integer({ min: 1, max: 6 }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("pass" as const),
        ms: fc.constantFrom(1, 200, 1_000, 5_000, 20_000, 61_000, 200_000),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("set" as const),
        ms: fc.constantFrom(-90_000, -5_000, -700, 700, 5_000, 90_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("die" as const) }) },
  ),
  { minLength: 3, maxLength: 25 },
);

/** Some of them were woken, and not all. */
const SOON: Deed = { kind: "turns", count: 2 };

async function turns(world: World, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    world.clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Where few may wait, those that are due wait for those that wait for their second: nothing is idle until time passes. */
async function goOn(world: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    world.clock.advance(500);
    await turns(world, 12);
  }
}

async function doIt(world: World, deed: Deed, maxArmed: number): Promise<void> {
  if (deed.kind === "turns") await turns(world, deed.count);
  else if (deed.kind === "pass") world.clock.advance(deed.ms);
  else if (deed.kind === "set") world.clock.jump(deed.ms);
  else {
    world.kill();
    const booted = world.boot("as-stored", { maxArmed });
    while (!(await Promise.race([booted.then(() => true), turns(world, 1).then(() => false)])));
  }
}

function twice(begun: readonly Begun[]): readonly string[] {
  const names = begun.map(({ identity, periodId }) => `${identity} ${periodId}`);
  return names.filter((name, at) => names.indexOf(name) !== at);
}

test("many jobs that are woken together: none twice, and none is forgotten", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(1, 30, 1_000, 5_000), deeds, async (maxArmed, course) => {
      const world = new World({ maxArmed, behaviour: () => ({ runMs: 300 }) });
      await world.boot(
        NAMES.map((identity) => job(identity, "* * * * *", POLICY)),
        { maxArmed },
      );
      await world.pass(MINUTE_MS - 6 * SECOND_MS - (START % MINUTE_MS));
      // Five seconds before theirs: the first of them are being made ready, and no turn has passed.
      world.clock.advance(SECOND_MS);
      for (const deed of course) await doIt(world, deed, maxArmed);
      // Behind everything that was handled, wherever the clock has been.
      const setBackMs = course.reduce((sum, deed) => sum + (deed.kind === "set" ? Math.max(0, -deed.ms) : 0), 0);
      await goOn(world, 6 * MINUTE_MS + setBackMs);
      expect(world.fatal).toBeNull();
      expect(twice(world.begun)).toEqual([]);
      expect(world.begun.filter(({ isOnRecord }) => !isOnRecord)).toEqual([]);
      const lastMinuteAt = Math.floor((world.clock.now() - 30 * SECOND_MS) / MINUTE_MS) * MINUTE_MS;
      const late = world.begun.filter(({ at }) => at >= lastMinuteAt);
      const ran = new Set(late.map(({ identity }) => identity));
      expect(NAMES.filter((identity) => !ran.has(identity))).toEqual([]);
      world.kill();
    }),
    {
      numRuns: 12,
      seed: 20_261_119,
      examples: [
        [1_000, [SOON, { kind: "set", ms: -700 }]],
        [1_000, [SOON, { kind: "set", ms: -90_000 }]],
        [1_000, [SOON, { kind: "pass", ms: 200_000 }, SOON]],
        [30, [{ kind: "turns", count: 9 }, { kind: "pass", ms: 5_000 }, SOON, { kind: "set", ms: -700 }]],
        [1_000, [{ kind: "turns", count: 9 }, { kind: "pass", ms: 5_000 }, SOON, { kind: "die" }]],
      ],
    },
  );
});
