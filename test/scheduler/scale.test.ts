import { expect, test } from "vitest";
import type { Registration } from "../../src/scheduler/index.js";
import { MONDAY, rigs, settle } from "./support.js";

const rig = rigs();
const MINUTE = 60_000;
const TASKS = 5_000;

test("R1: 5,000 tasks due in one minute all start in its first evaluation", async () => {
  const { host, scheduler, of } = rig(MONDAY + 1);
  const started: number[] = [];
  const run = async (): Promise<void> => void started.push(host.now);
  const list = Array.from({ length: TASKS }, (_, i): Registration => [`task ${i}`, "1,2 * * * *", run, 0]);
  await scheduler.initialize(list);
  await settle();
  const sleeps = host.sleeps.length;
  await host.advanceTo(MONDAY + MINUTE);
  expect([started.length, new Set(started)]).toEqual([TASKS, new Set([MONDAY + MINUTE])]);
  expect(host.sleeps.length - sleeps).toBe(1);
  expect(of("EvaluationLate")).toEqual([]);
});
