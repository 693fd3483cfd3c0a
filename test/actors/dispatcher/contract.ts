/** What every runner of requests must do, whatever stands behind it. */
import { afterEach, describe, expect, test } from "vitest";
import type { Dispatcher, RequestArm } from "../../../src/actors/dispatcher/port.js";
import type { Armed, Ended, RunnerEvent } from "../../../src/actors/runner/port.js";

export type Manner = "answers" | "fails" | "never answers" | "is not there";

export interface DispatcherHarness {
  readonly dispatcher: Dispatcher;
  request(manner: Manner): RequestArm;
  /** What the other side saw: how often the attempt was received. */
  timesReceived(attemptId: string): number;
  now(): number;
  until(isSo: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export function dispatcherContract(name: string, make: () => Promise<DispatcherHarness>): void {
  describe(`${name} keeps the contract of a runner`, () => {
    let open: DispatcherHarness | null = null;
    afterEach(async () => {
      await open?.close();
      open = null;
    });

    async function subject() {
      const harness = await make();
      open = harness;
      const events: RunnerEvent[] = [];
      harness.dispatcher.subscribe((event) => events.push(event));
      const arm = async (manner: Manner): Promise<Armed> => {
        const answer = await harness.dispatcher.arm(harness.request(manner));
        if (!answer.ok) throw new Error(`refused: ${answer.error.message}`);
        return answer.value;
      };
      const soon = () => harness.now() + 60_000;
      const endOf = async ({ attemptId }: Armed): Promise<Ended> => {
        const find = () => events.find((event) => event.kind === "ended" && event.attemptId === attemptId);
        await harness.until(() => find() !== undefined);
        return find() as Ended;
      };
      return { ...harness, events, arm, soon, endOf };
    }

    test("S23: what is armed is held by the daemon itself, and nothing is sent", async () => {
      const { arm, dispatcher, timesReceived } = await subject();
      const armed = await arm("answers");
      expect(armed.holder).toEqual({ kind: "request", pid: expect.any(Number) });
      expect(armed.holder.pid).toBeGreaterThan(0);
      await dispatcher.abort(armed);
      expect(timesReceived(armed.attemptId)).toBe(0);
    });

    test.each<[Manner, object, number]>([
      ["answers", { kind: "answered", status: 200, isExpected: true }, 1],
      ["fails", { kind: "answered", status: 500, isExpected: false }, 1],
      ["never answers", { kind: "failed", reason: "timeout", isSent: true }, 1],
      ["is not there", { kind: "failed", reason: "connect-failed", isSent: false }, 0],
    ])("R14: a server that %s", async (manner, ending, times) => {
      const { arm, soon, dispatcher, endOf, timesReceived } = await subject();
      const armed = await arm(manner);
      expect(await dispatcher.go(armed, soon())).toBe("started");
      expect((await endOf(armed)).ending).toMatchObject(ending);
      expect(timesReceived(armed.attemptId)).toBe(times);
    });

    test("S23: after an abort, GO finds nothing and nothing was ever sent", async () => {
      const { arm, soon, dispatcher, timesReceived, events } = await subject();
      const armed = await arm("answers");
      await dispatcher.abort(armed);
      expect(await dispatcher.go(armed, soon())).toBe("gone");
      await dispatcher.abort(armed);
      expect([timesReceived(armed.attemptId), events]).toEqual([0, []]);
    });

    test("S23: a second GO sends nothing a second time", async () => {
      const { arm, soon, dispatcher, endOf, timesReceived } = await subject();
      const armed = await arm("answers");
      const both = await Promise.all([dispatcher.go(armed, soon()), dispatcher.go(armed, soon())]);
      expect(both).toEqual(["started", "gone"]);
      await endOf(armed);
      expect([timesReceived(armed.attemptId), await dispatcher.go(armed, soon())]).toEqual([1, "gone"]);
    });

    test("S20: GO after its latest instant sends nothing", async () => {
      const { arm, now, dispatcher, timesReceived, events } = await subject();
      const armed = await arm("answers");
      expect(await dispatcher.go(armed, Math.floor(now() / 1_000) * 1_000 - 1_000)).toBe("late");
      expect([timesReceived(armed.attemptId), events]).toEqual([0, []]);
    });

    test("S28: what is under way can be ended, and is told so once", async () => {
      const { arm, soon, dispatcher, until, endOf, timesReceived, events } = await subject();
      const armed = await arm("never answers");
      await dispatcher.go(armed, soon());
      await until(() => timesReceived(armed.attemptId) === 1);
      expect(await dispatcher.terminate(armed.attemptId, 60_000)).toEqual({ survivors: [], wasKilled: false });
      expect((await endOf(armed)).ending).toMatchObject({ kind: "failed", reason: "cancelled", isSent: true });
      expect(await dispatcher.terminate(armed.attemptId, 0)).toEqual({ survivors: [], wasKilled: false });
      expect(events.length).toBe(1);
    });

    test("S29: nothing of an earlier daemon is adopted", async () => {
      const { arm, soon, dispatcher } = await subject();
      const armed = await arm("never answers");
      await dispatcher.go(armed, soon());
      expect(await dispatcher.adopt({ ...armed, output: null })).toBe("gone");
    });

    test("a closed dispatcher refuses, and says nothing more of what was under way", async () => {
      const { arm, soon, request, dispatcher, events } = await subject();
      await dispatcher.go(await arm("never answers"), soon());
      await dispatcher.close();
      expect(await dispatcher.arm(request("answers"))).toMatchObject({
        ok: false,
        error: { code: "launcher-unavailable" },
      });
      expect(events).toEqual([]);
    });
  });
}
