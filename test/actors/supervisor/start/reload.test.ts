import { expect, test } from "vitest";
import type { SupervisorPorts } from "../../../../src/actors/supervisor/port.js";
import { SETTINGS_DEFAULTS } from "../../../../src/core/config/settings.js";
import { SECOND_MS } from "../../../../src/core/time/instant.js";
import { job, World } from "../world.js";

const EVERY_MINUTE = "* * * * *";
const HOURLY = "7 * * * *";

/** How often the definition on record of each job is read. */
function counting(): { readonly reads: Map<string, number>; between(ports: SupervisorPorts): SupervisorPorts } {
  const reads = new Map<string, number>();
  const between = (ports: SupervisorPorts): SupervisorPorts => {
    const { store } = ports;
    const counted = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (name === "newestVersion") reads.set(String(args[0]), (reads.get(String(args[0])) ?? 0) + 1);
          return Reflect.apply(value, target, args);
        };
      },
    });
    return { ...ports, store: counted };
  };
  return { reads, between };
}

async function running() {
  const { reads, between } = counting();
  const world = new World({ between });
  await world.boot([job("changed", EVERY_MINUTE), job("gone", EVERY_MINUTE), job("kept", EVERY_MINUTE)]);
  reads.clear();
  const planned = await world.supervisor.plan(
    [job("changed", HOURLY), job("new", EVERY_MINUTE)],
    (identity) => identity === "kept",
  );
  return { world, reads, planned };
}

test("S16: a plan says what a reload would change, and changes nothing", async () => {
  const { world, planned } = await running();
  expect(planned).toMatchObject({
    report: {
      added: ["new"],
      removed: ["gone"],
      changed: [{ identity: "changed", fields: ["schedule"] }],
      unchanged: 1,
    },
    kept: ["kept"],
  });
  await world.pass(61 * SECOND_MS);
  expect(["changed", "gone", "kept", "new"].map((identity) => world.starts(identity).length)).toEqual([1, 1, 1, 0]);
});

test("S16: what is applied is the plan itself: nothing is compared again", async () => {
  const { world, reads, planned } = await running();
  expect(reads).toEqual(new Map([["changed", 1]]));
  reads.clear();
  expect(await planned.apply(SETTINGS_DEFAULTS)).toBe(planned.report);
  // To be replaced; and by the job, whose old rule says what is carried over.
  expect([reads.get("changed"), reads.get("gone"), reads.get("new"), reads.has("kept")]).toEqual([2, 1, 1, false]);
  const told = world.events.find(({ event }) => event === "config_reloaded");
  expect(told).toMatchObject({ fields: { added: 1, removed: 1, changed: 1, unchanged: 1 } });
  await world.pass(61 * SECOND_MS);
  expect(["changed", "gone", "kept", "new"].map((identity) => world.starts(identity).length)).toEqual([0, 0, 1, 1]);
});
