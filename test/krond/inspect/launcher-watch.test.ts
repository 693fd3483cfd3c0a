import { describe, expect, test } from "vitest";
import { type SimulatedBehaviour, SimulatedHost } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import type { Said } from "../../../src/krond/inspect/frames.js";
import { LauncherWatch } from "../../../src/krond/inspect/launcher-watch.js";
import { launcherContract, type Work } from "../../actors/launcher/contract.js";
import { shellRequest } from "../../support/launcher.js";
import { requireOk } from "../../support/results.js";
import { wordsOf } from "./story.js";

const START = Date.UTC(2026, 10, 18, 12);
const CANARY = "c4n4ry";

/** Whoever looks on sees all of it, and it is a launcher like the one that it watches. */
launcherContract("a launcher that is watched", async () => {
  const clock = new SimulatedClock({ startAt: START });
  const works = new Map<string, Work>();
  const host = new SimulatedHost(clock, (request) => behaviourOf(works.get(request.attemptId)));
  const audience = { isWatched: true, say: () => undefined };
  const launcher = new LauncherWatch(host.launcher(), audience, () => clock.now());
  return {
    launcher,
    request: (attemptId, work) => {
      works.set(attemptId, work);
      return shellRequest("make-believe", { attemptId });
    },
    timesRun: (attemptId) => host.executions.filter((execution) => execution.attemptId === attemptId).length,
    now: () => clock.now(),
    until: async (isSo) => {
      for (let turns = 0; !isSo() && turns < 1_000; turns++) await clock.advanceAsync(100);
    },
    restart: async () => new LauncherWatch(host.launcher(), audience, () => clock.now()),
    close: () => launcher.close(),
  };
});

function behaviourOf(work: Work | undefined): SimulatedBehaviour {
  switch (work?.do) {
    case "exit":
      return { runMs: 10, exitCode: work.code };
    case "wait":
      return { runMs: null, exitCode: 0, ignoresTerm: "ignoring" in work };
    default:
      return { runMs: 0, exitCode: 0, refusal: { code: "command-not-found", message: CANARY } };
  }
}

function watched(behaviour: SimulatedBehaviour) {
  const clock = new SimulatedClock({ startAt: START });
  const all: Said[] = [];
  const audience = { isWatched: true, say: (said: readonly Said[]) => void all.push(...said) };
  const host = new SimulatedHost(clock, () => behaviour);
  const launcher = new LauncherWatch(host.launcher(), audience, () => clock.now());
  const events = (): readonly string[] => all.map(({ frame }) => wordsOf(frame)).filter((line) => line.includes("<-"));
  return { clock, launcher, audience, all, events };
}

const request = shellRequest(CANARY, {
  attemptId: "a1",
  env: { KRON_ATTEMPT_ID: "a1", KRON_IDENTITY: "prod/a", SECRET: CANARY },
  stdin: CANARY,
});

describe("the launcher as an actor", () => {
  test("what it is asked and what comes of it, of which job, and how much it holds", async () => {
    const { clock, launcher, all, events } = watched({ runMs: 10, exitCode: 3 });
    const gate = requireOk(await launcher.arm(request));
    await launcher.go(gate, START + 1_000);
    clock.advance(10);
    expect(events()).toEqual([
      "launcher <- ARM (supervisor)",
      "launcher <- ARMED (a1)",
      "launcher <- GO (supervisor)",
      "launcher <- WENT (a1)",
      "launcher <- EXITED (a1)",
    ]);
    expect(new Set(all.map(({ identity }) => identity))).toEqual(new Set(["prod/a"]));
    const held = all.flatMap(({ frame }) => (frame.type === "@xstate.snapshot" ? [frame.snapshot.context] : []));
    expect(held.map(({ gates, running }) => [gates, running])).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
      [0, 1],
      [0, 0],
    ]);
    expect(JSON.stringify(all)).not.toContain(CANARY);
  });

  test.each([
    [
      "a gate that is closed",
      { runMs: null, exitCode: 0 },
      async (launcher: LauncherWatch) => launcher.abort(requireOk(await launcher.arm(request))),
      ["ARM", "ARMED", "ABORT"],
    ],
    [
      "no process could be made",
      { runMs: null, exitCode: 0, refusal: { code: "fork-failed" as const, message: CANARY } },
      async (launcher: LauncherWatch) => launcher.arm(request),
      ["ARM", "ARM_FAILED"],
    ],
    [
      "ended from outside",
      { runMs: null, exitCode: 0 },
      async (launcher: LauncherWatch) => {
        await launcher.go(requireOk(await launcher.arm(request)), START + 1_000);
        await launcher.terminate("a1", 1_000);
      },
      ["ARM", "ARMED", "GO", "WENT", "TERMINATE", "EXITED", "TERMINATED"],
    ],
    [
      "a run of an earlier daemon that is gone",
      { runMs: null, exitCode: 0 },
      async (launcher: LauncherWatch) =>
        launcher.adopt({
          attemptId: "old",
          holder: { kind: "process", pid: 1, startTicks: 1, bootId: "b" },
          output: null,
        }),
      ["ADOPT", "ADOPTED"],
    ],
  ])("%s", async (_, behaviour, play, names) => {
    const { launcher, all, events } = watched(behaviour);
    await play(launcher);
    expect(events().map((line) => line.split(" ")[2])).toEqual(names);
    expect(launcher.present().frame).toMatchObject({ snapshot: { context: { gates: 0, running: 0 } } });
    expect(JSON.stringify(all)).not.toContain(CANARY);
  });

  test("nobody looks on: nothing is made", async () => {
    const { launcher, audience, all } = watched({ runMs: null, exitCode: 0 });
    audience.isWatched = false;
    await launcher.arm(request);
    expect(all).toEqual([]);
    expect(launcher.present().frame).toMatchObject({ snapshot: { context: { gates: 1 } } });
  });
});
