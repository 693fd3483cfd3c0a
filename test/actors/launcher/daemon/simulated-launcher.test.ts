import { describe, expect, test } from "vitest";
import {
  type SimulatedBehaviour,
  SimulatedHost,
  type SimulatedLauncher,
} from "../../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { Armed, RunnerEvent } from "../../../../src/actors/runner/port.js";
import { SimulatedClock } from "../../../../src/actors/simulated-clock.js";
import { EXIT_UNSEEN } from "../../../../src/core/state/ending.js";
import { shellRequest } from "../../../support/launcher.js";

function world(behaviour: SimulatedBehaviour) {
  const clock = new SimulatedClock({ startAt: Date.UTC(2026, 10, 18) });
  const host = new SimulatedHost(clock, () => behaviour);
  return { clock, host, launcher: host.launcher(), soon: clock.now() + 60_000 };
}

async function armed(launcher: SimulatedLauncher): Promise<Armed> {
  const answer = await launcher.arm(shellRequest("make-believe"));
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

function listen(launcher: SimulatedLauncher): RunnerEvent[] {
  const events: RunnerEvent[] = [];
  launcher.subscribe((event) => events.push(event));
  return events;
}

describe("the simulated host", () => {
  test("S23: when the daemon dies its gates are gone, and never ran", async () => {
    const { host, launcher, soon } = world({ runMs: 10, exitCode: 0 });
    const gate = await armed(launcher);
    launcher.die();
    const next = host.launcher();
    expect(await next.go(gate, soon)).toBe("gone");
    expect(await next.adopt({ ...gate, output: null })).toBe("gone");
    expect(host.executions).toEqual([]);
  });

  test("when a launcher process is replaced, gates are lost and runs end without a code", async () => {
    const { clock, launcher, soon } = world({ runMs: 10, exitCode: 3 });
    const events = listen(launcher);
    const gate = await armed(launcher);
    const run = await armed(launcher);
    await launcher.go(run, soon);
    launcher.loseProcess();
    clock.advance(10);
    expect(events.map((event) => event.kind)).toEqual(["trouble", "gate-lost", "ended"]);
    expect(events[1]).toEqual({ kind: "gate-lost", attemptId: gate.attemptId });
    expect(events[2]).toMatchObject({ attemptId: run.attemptId, ending: EXIT_UNSEEN });
    expect(await launcher.go(await armed(launcher), soon)).toBe("started");
  });

  test("a reboot leaves nothing, not even the numbers", async () => {
    const { host, launcher, soon } = world({ runMs: null, exitCode: 0 });
    const run = await armed(launcher);
    await launcher.go(run, soon);
    host.reboot();
    expect(await host.launcher().adopt({ ...run, output: null })).toBe("gone");
    expect([host.running, host.executions.length]).toEqual([[], 1]);
  });

  test("S25: what nothing can end is reported as a survivor, after the bound", async () => {
    const { clock, launcher, soon } = world({ runMs: null, exitCode: 0, isUnkillable: true });
    const run = await armed(launcher);
    await launcher.go(run, soon);
    const ended = launcher.terminate(run.attemptId, 1_000);
    await clock.advanceAsync(60_000);
    expect(await ended).toEqual({ survivors: [run.holder.pid], wasKilled: true });
  });

  test("a run may end by a signal of its own", async () => {
    const { clock, launcher, soon } = world({ runMs: 10, exitCode: 0, signal: "SIGSEGV" });
    const events = listen(launcher);
    await launcher.go(await armed(launcher), soon);
    clock.advance(10);
    expect(events).toMatchObject([{ kind: "ended", ending: { kind: "exited", code: null, signal: "SIGSEGV" } }]);
  });

  test("a gate may take its time; a launcher that dies meanwhile makes none", async () => {
    const { clock, host, launcher } = world({ runMs: 10, exitCode: 0, armMs: 500 });
    const [made, unmade] = [launcher.arm(shellRequest("slow")), host.launcher()];
    const lost = unmade.arm(shellRequest("never"));
    unmade.die();
    await clock.advanceAsync(500);
    expect([(await made).ok, await lost]).toMatchObject([true, { ok: false, error: { code: "launcher-unavailable" } }]);
  });

  test("S23: contact lost at the release: unconfirmed, and nothing ran", async () => {
    const { host, launcher, soon } = world({ runMs: 10, exitCode: 0, isStartLost: true });
    const gate = await armed(launcher);
    expect(await launcher.go(gate, soon)).toBe("unconfirmed");
    expect([host.executions, host.running]).toEqual([[], []]);
    expect(await launcher.go(gate, soon)).toBe("gone");
  });

  test("a witness sees starts and ends as they happen, also those of a reboot", async () => {
    const clock = new SimulatedClock({ startAt: Date.UTC(2026, 10, 18) });
    const seen: string[] = [];
    const host = new SimulatedHost(clock, () => ({ runMs: 10, exitCode: 0 }), {
      executed: ({ attemptId }) => seen.push(`${attemptId} began`),
      ended: ({ attemptId }) => seen.push(`${attemptId} ended`),
    });
    const launcher = host.launcher();
    for (const name of ["one", "two"]) {
      const gate = await launcher.arm(shellRequest(name));
      if (gate.ok) await launcher.go(gate.value, clock.now() + 60_000);
      if (name === "one") clock.advance(10);
    }
    await launcher.arm(shellRequest("gated"));
    host.reboot();
    expect(seen).toHaveLength(4);
    expect(seen.map((what) => what.replace(/^\S+ /, ""))).toEqual(["began", "ended", "began", "ended"]);
    expect(host.executions).toEqual([]);
  });
});
