import { expect, test } from "vitest";
import { shardRunner } from "../../../src/actors/cluster/shard-runner.js";
import { SimulatedDispatcher } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import { SimulatedHost } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { RunnerEvent } from "../../../src/actors/runner/port.js";
import { RunnerRouter } from "../../../src/actors/runner/router.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { START } from "../supervisor/world.js";

test("trouble of the node is told by none of its supervisors; of runs all hear, until they are let go of", () => {
  const clock = new SimulatedClock({ startAt: START });
  const launcher = new SimulatedHost(clock, () => ({ runMs: 1, exitCode: 0 })).launcher();
  const dispatcher = new SimulatedDispatcher(clock, () => ({ answerMs: 1, status: 200 }), {
    sent: () => undefined,
    ended: () => undefined,
  });
  const heard: RunnerEvent[] = [];
  const { runner, letGo } = shardRunner(new RunnerRouter(launcher, dispatcher));
  runner.subscribe((event) => heard.push(event));
  launcher.emit({ kind: "trouble", code: "launcher-died", message: "gone" });
  launcher.emit({ kind: "gate-lost", attemptId: "x" });
  letGo();
  launcher.emit({ kind: "gate-lost", attemptId: "y" });
  expect(heard).toEqual([{ kind: "gate-lost", attemptId: "x" }]);
});
