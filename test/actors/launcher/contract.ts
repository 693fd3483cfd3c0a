/** What every launcher must do, whatever stands behind it. */
import { afterEach, describe, expect, test } from "vitest";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import type { Armed, Ended, RunnerEvent, RunnerOf } from "../../../src/actors/runner/port.js";
import { EXIT_UNSEEN } from "../../../src/core/state/ending.js";
import { newAttemptId } from "../../support/launcher.js";

/** A command that every launcher under test understands. */
export type Work =
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "wait" }
  | { readonly do: "wait"; readonly ignoring: "TERM" }
  | { readonly do: "not-exist" };

export interface LauncherHarness {
  readonly launcher: RunnerOf<ProcessArm>;
  request(attemptId: string, work: Work): ProcessArm;
  /** What the world saw: how often the attempt ran. */
  timesRun(attemptId: string): number;
  now(): number;
  /** Lets time pass until it is so. */
  until(isSo: () => boolean): Promise<void>;
  /** A second launcher of the same host, as after the death of the daemon. */
  restart(): Promise<RunnerOf<ProcessArm>>;
  close(): Promise<void>;
}

export function launcherContract(name: string, make: () => Promise<LauncherHarness>): void {
  describe(`${name} keeps the contract of a launcher`, () => {
    let open: LauncherHarness | null = null;
    afterEach(async () => {
      await open?.close();
      open = null;
    });

    async function subject() {
      const harness = await make();
      open = harness;
      const events: RunnerEvent[] = [];
      harness.launcher.subscribe((event) => events.push(event));
      const arm = async (work: Work): Promise<Armed> => {
        const answer = await harness.launcher.arm(harness.request(newAttemptId(), work));
        if (!answer.ok) throw new Error(`refused: ${answer.error.message}`);
        return answer.value;
      };
      const soon = () => harness.now() + 60_000;
      const exitOf = async ({ attemptId }: Armed): Promise<Ended> => {
        const find = () => events.find((event) => event.kind === "ended" && event.attemptId === attemptId);
        await harness.until(() => find() !== undefined);
        return find() as Ended;
      };
      return { ...harness, events, arm, soon, exitOf };
    }

    test("S23: an armed process has its PID and its birth, and does not run", async () => {
      const { arm, timesRun, launcher } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      expect(armed.holder).toEqual({
        kind: "process",
        pid: expect.any(Number),
        startTicks: expect.any(Number),
        bootId: expect.any(String),
      });
      expect(armed.holder.pid).toBeGreaterThan(1);
      await launcher.abort(armed);
      expect(timesRun(armed.attemptId)).toBe(0);
    });

    test.each([0, 1, 124, 125, 126, 127, 255])(
      "ERROR-MODEL ExecutionError: exit code %i is reported as it is",
      async (code) => {
        const { arm, soon, launcher, exitOf, timesRun } = await subject();
        const armed = await arm({ do: "exit", code });
        expect(await launcher.go(armed, soon())).toBe("started");
        const { attemptId, holder } = armed;
        const ending = { kind: "exited", code, signal: null, reason: null };
        expect(await exitOf(armed)).toMatchObject({ attemptId, pid: holder.pid, ending });
        expect(timesRun(attemptId)).toBe(1);
      },
    );

    test("S23: after an abort, GO finds nothing and nothing ever ran", async () => {
      const { arm, soon, launcher, timesRun, events } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      await launcher.abort(armed);
      expect(await launcher.go(armed, soon())).toBe("gone");
      await launcher.abort(armed);
      expect([timesRun(armed.attemptId), events]).toEqual([0, []]);
    });

    test("S23: a second GO runs nothing a second time", async () => {
      const { arm, soon, launcher, exitOf, timesRun } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      const both = await Promise.all([launcher.go(armed, soon()), launcher.go(armed, soon())]);
      expect(both).toEqual(["started", "gone"]);
      await exitOf(armed);
      expect(timesRun(armed.attemptId)).toBe(1);
    });

    test("S20: GO after its latest instant runs nothing", async () => {
      const { arm, now, launcher, timesRun, events } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      expect(await launcher.go(armed, Math.floor(now() / 1_000) * 1_000 - 1_000)).toBe("late");
      expect([timesRun(armed.attemptId), events]).toEqual([0, []]);
    });

    test("S20: within the second of its latest instant GO is in time", async () => {
      const { arm, now, until, launcher, exitOf } = await subject();
      const armed = await arm({ do: "exit", code: 4 });
      // Early in a second, so that slow machines stay within it.
      await until(() => now() % 1_000 < 300);
      expect(await launcher.go(armed, Math.floor(now() / 1_000) * 1_000)).toBe("started");
      expect((await exitOf(armed)).ending).toMatchObject({ code: 4 });
    });

    test("S24: what cannot be executed is refused, and no process is left", async () => {
      const { request, launcher, timesRun } = await subject();
      const attemptId = newAttemptId();
      const answer = await launcher.arm(request(attemptId, { do: "not-exist" }));
      expect(answer).toMatchObject({ ok: false, error: { code: "command-not-found" } });
      expect(timesRun(attemptId)).toBe(0);
    });

    test("S28: TERM is enough for one that obeys", async () => {
      const { arm, soon, launcher, exitOf } = await subject();
      const armed = await arm({ do: "wait" });
      await launcher.go(armed, soon());
      expect(await launcher.terminate(armed.attemptId, 60_000)).toEqual({ survivors: [], wasKilled: false });
      expect(await exitOf(armed)).toMatchObject({ ending: { code: null, signal: "SIGTERM" } });
    });

    test("S28: KILL follows the grace for one that does not", async () => {
      const { arm, soon, until, launcher, exitOf, timesRun } = await subject();
      const armed = await arm({ do: "wait", ignoring: "TERM" });
      await launcher.go(armed, soon());
      await until(() => timesRun(armed.attemptId) === 1);
      let ended: unknown = null;
      void launcher.terminate(armed.attemptId, 100).then((end) => {
        ended = end;
      });
      await until(() => ended !== null);
      expect(ended).toEqual({ survivors: [], wasKilled: true });
      expect(await exitOf(armed)).toMatchObject({ ending: { code: null, signal: "SIGKILL" } });
    });

    test("S29: close shuts the gates; what runs goes on, and the next launcher watches it to an end nobody can tell", async () => {
      const { arm, soon, launcher, until, timesRun, restart } = await subject();
      const gated = await arm({ do: "exit", code: 0 });
      const running = await arm({ do: "wait" });
      await launcher.go(running, soon());
      await launcher.close();
      expect(timesRun(gated.attemptId)).toBe(0);
      const next = await restart();
      const ends: RunnerEvent[] = [];
      next.subscribe((event) => ends.push(event));
      expect(await next.adopt({ ...running, output: null })).toBe("watching");
      expect(await next.terminate(running.attemptId, 60_000)).toEqual({ survivors: [], wasKilled: false });
      await until(() => ends.length > 0);
      const { attemptId, holder } = running;
      expect(ends).toEqual([{ kind: "ended", attemptId, pid: holder.pid, ending: EXIT_UNSEEN }]);
      expect(await next.adopt({ ...running, output: null })).toBe("gone");
    });

    test("S27: adopts nothing of another birth or boot", async () => {
      const { arm, soon, launcher } = await subject();
      const armed = await arm({ do: "wait" });
      await launcher.go(armed, soon());
      const { attemptId, holder } = armed;
      if (holder.kind !== "process") throw new Error("no process");
      const others = [
        { ...holder, startTicks: (holder.startTicks ?? 0) - 1 },
        { ...holder, bootId: "another" },
        { ...holder, startTicks: null },
        { ...holder, bootId: null },
        { kind: "request", pid: holder.pid } as const,
      ];
      for (const other of others) {
        expect(await launcher.adopt({ attemptId, holder: other, output: null })).toBe("gone");
      }
      await launcher.terminate(armed.attemptId, 60_000);
    });

    test("a closed launcher refuses", async () => {
      const { request, launcher } = await subject();
      await launcher.close();
      const answer = await launcher.arm(request(newAttemptId(), { do: "wait" }));
      expect(answer).toMatchObject({ ok: false, error: { code: "launcher-unavailable" } });
    });
  });
}
