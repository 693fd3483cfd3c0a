/** What every launcher must do, whatever stands behind it. */
import { afterEach, describe, expect, it } from "vitest";
import type { Armed, ArmRequest, Exited, Launcher, LauncherEvent } from "../../../src/actors/launcher/port.js";
import { newAttemptId } from "../../support/launcher.js";

/** A command that every launcher under test understands. */
export type Work =
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "wait" }
  | { readonly do: "wait"; readonly ignoring: "TERM" }
  | { readonly do: "not-exist" };

export interface LauncherHarness {
  readonly launcher: Launcher;
  readonly bootId: string;
  request(attemptId: string, work: Work): ArmRequest;
  /** What the world saw: how often the attempt ran. */
  timesRun(attemptId: string): number;
  now(): number;
  /** Lets time pass until it is so. */
  until(isSo: () => boolean): Promise<void>;
  /** A second launcher of the same host, as after the death of the daemon. */
  restart(): Promise<Launcher>;
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
      const events: LauncherEvent[] = [];
      harness.launcher.subscribe((event) => events.push(event));
      const arm = async (work: Work): Promise<Armed> => {
        const answer = await harness.launcher.arm(harness.request(newAttemptId(), work));
        if (!answer.ok) throw new Error(`refused: ${answer.error.message}`);
        return answer.value;
      };
      const soon = () => harness.now() + 60_000;
      const exitOf = async ({ attemptId }: Armed): Promise<Exited> => {
        const find = () => events.find((event) => event.kind === "exited" && event.attemptId === attemptId);
        await harness.until(() => find() !== undefined);
        return find() as Exited;
      };
      return { ...harness, events, arm, soon, exitOf };
    }

    it("S23: an armed process has its PID and its birth, and does not run", async () => {
      const { arm, timesRun, launcher } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      expect(armed.pid).toBeGreaterThan(1);
      expect(armed.startTicks).toBeGreaterThanOrEqual(0);
      await launcher.abort(armed);
      expect(timesRun(armed.attemptId)).toBe(0);
    });

    it.each([0, 1, 124, 125, 126, 127, 255])(
      "ERROR-MODEL ExecutionError: exit code %i is reported as it is",
      async (code) => {
        const { arm, soon, launcher, exitOf, timesRun } = await subject();
        const armed = await arm({ do: "exit", code });
        expect(await launcher.go(armed, soon())).toBe("started");
        const { attemptId, pid } = armed;
        expect(await exitOf(armed)).toMatchObject({
          attemptId,
          pid,
          exitCode: code,
          signal: null,
          wasObserved: true,
          cause: null,
        });
        expect(timesRun(attemptId)).toBe(1);
      },
    );

    it("S23: after an abort, GO finds nothing and nothing ever ran", async () => {
      const { arm, soon, launcher, timesRun, events } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      await launcher.abort(armed);
      expect(await launcher.go(armed, soon())).toBe("gone");
      await launcher.abort(armed);
      expect([timesRun(armed.attemptId), events]).toEqual([0, []]);
    });

    it("S23: a second GO runs nothing a second time", async () => {
      const { arm, soon, launcher, exitOf, timesRun } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      const both = await Promise.all([launcher.go(armed, soon()), launcher.go(armed, soon())]);
      expect(both).toEqual(["started", "gone"]);
      await exitOf(armed);
      expect(timesRun(armed.attemptId)).toBe(1);
    });

    it("S20: GO after its latest instant runs nothing", async () => {
      const { arm, now, launcher, timesRun, events } = await subject();
      const armed = await arm({ do: "exit", code: 0 });
      expect(await launcher.go(armed, Math.floor(now() / 1_000) * 1_000 - 1_000)).toBe("late");
      expect([timesRun(armed.attemptId), events]).toEqual([0, []]);
    });

    it("S20: within the second of its latest instant GO is in time", async () => {
      const { arm, now, until, launcher, exitOf } = await subject();
      const armed = await arm({ do: "exit", code: 4 });
      // Early in a second, so that slow machines stay within it.
      await until(() => now() % 1_000 < 300);
      expect(await launcher.go(armed, Math.floor(now() / 1_000) * 1_000)).toBe("started");
      expect((await exitOf(armed)).exitCode).toBe(4);
    });

    it("S24: what cannot be executed is refused, and no process is left", async () => {
      const { request, launcher, timesRun } = await subject();
      const attemptId = newAttemptId();
      const answer = await launcher.arm(request(attemptId, { do: "not-exist" }));
      expect(answer).toMatchObject({ ok: false, error: { code: "command-not-found" } });
      expect(timesRun(attemptId)).toBe(0);
    });

    it("S28: TERM is enough for one that obeys", async () => {
      const { arm, soon, launcher, exitOf } = await subject();
      const armed = await arm({ do: "wait" });
      await launcher.go(armed, soon());
      expect(await launcher.terminate(armed.attemptId, 60_000)).toEqual({ survivors: [], wasKilled: false });
      expect(await exitOf(armed)).toMatchObject({ exitCode: null, signal: "SIGTERM" });
    });

    it("S28: KILL follows the grace for one that does not", async () => {
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
      expect(await exitOf(armed)).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    });

    it("a signal reaches a run, and nobody else", async () => {
      const { arm, soon, launcher, exitOf } = await subject();
      const armed = await arm({ do: "wait" });
      await launcher.go(armed, soon());
      expect(await launcher.signal("nobody", "SIGTERM")).toBe(false);
      expect(await launcher.signal(armed.attemptId, "SIGTERM")).toBe(true);
      expect((await exitOf(armed)).signal).toBe("SIGTERM");
      expect(await launcher.terminate(armed.attemptId, 0)).toEqual({ survivors: [], wasKilled: false });
    });

    it("S29: close shuts the gates; what runs goes on, and the next launcher watches it to an end nobody can tell", async () => {
      const { arm, soon, launcher, until, timesRun, bootId, restart } = await subject();
      const gated = await arm({ do: "exit", code: 0 });
      const running = await arm({ do: "wait" });
      await launcher.go(running, soon());
      await launcher.close();
      expect(timesRun(gated.attemptId)).toBe(0);
      const next = await restart();
      const ends: LauncherEvent[] = [];
      next.subscribe((event) => ends.push(event));
      expect(await next.adopt({ ...running, bootId, output: null })).toBe("watching");
      expect(await next.signal(running.attemptId, "SIGTERM")).toBe(true);
      await until(() => ends.length > 0);
      const { attemptId, pid } = running;
      expect(ends).toEqual([
        {
          kind: "exited",
          attemptId,
          pid,
          exitCode: null,
          signal: null,
          endedAt: expect.any(Number),
          wasObserved: false,
          cause: null,
        },
      ]);
      expect(await next.adopt({ ...running, bootId, output: null })).toBe("gone");
    });

    it("S27: adopts nothing of another birth or boot", async () => {
      const { arm, soon, launcher, bootId } = await subject();
      const armed = await arm({ do: "wait" });
      await launcher.go(armed, soon());
      const other = { ...armed, bootId, output: null };
      expect(await launcher.adopt({ ...other, startTicks: armed.startTicks - 1 })).toBe("gone");
      expect(await launcher.adopt({ ...other, bootId: "another" })).toBe("gone");
      await launcher.terminate(armed.attemptId, 60_000);
    });

    it("a closed launcher refuses", async () => {
      const { request, launcher } = await subject();
      await launcher.close();
      const answer = await launcher.arm(request(newAttemptId(), { do: "wait" }));
      expect(answer).toMatchObject({ ok: false, error: { code: "launcher-unavailable" } });
    });
  });
}
