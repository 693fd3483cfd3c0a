import { expect, test } from "vitest";
import { SECOND_MS } from "../../../src/core/time/instant.js";
import { documentKey } from "../../../src/persist/keys.js";
import { job, World } from "./world.js";

const EVERY_MINUTE = "* * * * *";
const FOREVER = { behaviour: () => ({ runMs: null }) };

function named(): { readonly world: World; on(node: string | null): void } {
  let here: string | null = null;
  const world = new World({
    ...FOREVER,
    between: (ports) => (here === null ? ports : { ...ports, node: here }),
  });
  return { world, on: (node) => (here = node) };
}

function adoptions(world: World): readonly unknown[] {
  return world.events.flatMap(({ event, fields }) => (event === "adopted" ? [fields?.["outcome"]] : []));
}

test("S27: a run says on which node it is, where nodes have names, and says nothing where there is one alone", async () => {
  const { world, on } = named();
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(61 * SECOND_MS);
  expect(world.disk.documents.get(documentKey("a"))?.text).not.toContain("Node");
  world.kill();
  on("one");
  await world.boot([job("a", EVERY_MINUTE), job("b", EVERY_MINUTE)]);
  await world.pass(61 * SECOND_MS);
  expect(adoptions(world)).toEqual(["watching"]);
  expect(world.document("b").ActiveExecution).toMatchObject({ Node: "one" });
});

test.each(["by hand", "ahead"])("S27: a run that was begun %s has the node as well", async (how) => {
  const { world, on } = named();
  on("one");
  await world.boot([job("a", EVERY_MINUTE)]);
  if (how === "by hand") await world.supervisor.runNow("a");
  else await world.pass(61 * SECOND_MS);
  expect(world.document("a").ActiveExecution?.Node).toBe("one");
});

test("S27, S29: a run of another node is neither adopted nor given up, and its job is told that it runs", async () => {
  const { world, on } = named();
  on("one");
  const jobs = (["forbid", "replace"] as const).map((concurrency) =>
    job(concurrency, EVERY_MINUTE, { policy: { concurrency } }),
  );
  await world.boot(jobs);
  await world.pass(61 * SECOND_MS);
  world.kill();
  // Another host: its processes have other births, and its boot is not the one on record.
  world.host.reboot();
  on("two");
  await world.boot(jobs);
  await world.pass(61 * SECOND_MS);
  expect(adoptions(world)).toEqual(["elsewhere", "elsewhere"]);
  expect(world.document("forbid")).toMatchObject({ LastOutcome: "skipped", ActiveExecution: { Node: "one" } });
  expect(world.starts("replace")).toEqual(["2026-03-01T00:01:00"]);
  const told = world.events.filter(({ event, identity }) => event === "error" && identity === "replace");
  expect(String(told[0]?.error)).toContain("it runs on the node one and can only be ended there");
  expect(world.fatal).toBeNull();
});

test("S29: the node itself adopts it when it is back", async () => {
  const { world, on } = named();
  on("one");
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(61 * SECOND_MS);
  world.kill();
  on("two");
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(SECOND_MS);
  world.kill();
  on("one");
  await world.boot([job("a", EVERY_MINUTE)]);
  await world.pass(SECOND_MS);
  expect([adoptions(world), world.host.running.length]).toEqual([["elsewhere", "watching"], 1]);
});
