/** Decisions that cannot be computed, in the whole daemon: `decide` is made to throw for a while (S18). */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { CompiledRule } from "../../../src/core/decision/model.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import { job, START, World } from "./world.js";

const trouble = vi.hoisted(() => ({ reason: null as string | null }));

vi.mock("../../../src/core/decision/decide.js", async (original) => {
  const real = await original<typeof import("../../../src/core/decision/decide.js")>();
  const decide = (compiled: CompiledRule, nominalAt: number) => {
    if (trouble.reason !== null) throw new Error(trouble.reason);
    return real.decide(compiled, nominalAt);
  };
  return { ...real, decide };
});

afterEach(() => {
  trouble.reason = null;
});

const POLICY = { policy: { deadline: "5m" } };

describe("a decision cannot be computed", () => {
  test.each([["hash computation failure"], ["the generator cannot be initialised"], ["the zone cannot be resolved"]])(
    "ERROR-MODEL SchedulingError: logged, nothing executed, nothing handled: %s",
    async (reason) => {
      const world = new World();
      await world.boot([job("a", "* * * * *", POLICY)]);
      await world.pass(30 * SECOND_MS);
      world.kill();
      trouble.reason = reason;
      await world.boot([job("a", "* * * * *", POLICY)]);
      await world.pass(50 * SECOND_MS);
      const errors = world.events.filter(({ event }) => event === "error");
      expect(errors.length).toBeGreaterThan(2);
      expect(new Set(errors.map(({ level, identity, error }) => `${level} ${identity} ${error?.category}`))).toEqual(
        new Set(["error a SchedulingError"]),
      );
      expect(errors.every(({ error }) => error?.message.includes(reason))).toBe(true);
      expect([world.starts("a"), world.document("a").LastHandledPeriodID, world.fatal]).toEqual([[], "", null]);
    },
  );

  test("ERROR-MODEL SchedulingError: in the middle of a life: the tick goes on, and the job with it afterwards", async () => {
    const world = new World();
    await world.boot([job("a", "* * * * *", POLICY)]);
    await world.pass(90 * SECOND_MS);
    trouble.reason = "no entropy";
    await world.pass(40 * SECOND_MS);
    expect([world.starts("a").length, world.fatal]).toEqual([1, null]);
    trouble.reason = null;
    await world.pass(2 * MINUTE_MS);
    expect([world.starts("a").length, world.fatal]).toEqual([4, null]);
  });

  test("ERROR-MODEL retry rules: the same decision, the same chosen time, no other period, once", async () => {
    const definition = job("a", "2 * * * *", { ...POLICY, window: { duration: "30s" } });
    const undisturbed = new World();
    await undisturbed.boot([definition]);
    await undisturbed.pass(4 * MINUTE_MS);
    const world = new World();
    trouble.reason = "no entropy";
    await world.boot([definition]);
    await world.pass(20 * SECOND_MS);
    trouble.reason = null;
    await world.pass(4 * MINUTE_MS);
    const decisionsOf = (it: World) =>
      it.ledger("a").flatMap(({ content }) => (content["decision"] ? [content["decision"]] : []));
    expect(world.starts("a")).toHaveLength(1);
    expect(decisionsOf(world)).toEqual(decisionsOf(undisturbed));
    expect(world.events.filter(({ event }) => event === "error").every(({ at }) => at < START + 21 * SECOND_MS)).toBe(
      true,
    );
  });
});
