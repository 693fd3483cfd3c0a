/** S52: a tenant that has more to say than it may send: whose turn it is, and what it costs everybody else meanwhile. */
import { expect, test } from "vitest";
import { Messenger, type MessengerPorts } from "../../../src/actors/messenger/messenger.js";
import { post } from "../../../src/actors/messenger/notices.js";
import { TENANT_PER_MINUTE } from "../../../src/actors/messenger/tenants.js";
import type { ArmRequest, RunnerEvent } from "../../../src/actors/runner/port.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { turnOfLoop } from "../../../src/actors/turns.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import type { NotifyTarget } from "../../../src/core/job/definition.js";
import type { Message } from "../../../src/core/notify/notice.js";
import { formatSecond, MINUTE_MS } from "../../../src/core/time/instant.js";

const START_AT = Date.parse("2026-03-01T00:00:00Z");

/** Every webhook takes everything at once. */
function telling() {
  const clock = new SimulatedClock({ startAt: START_AT });
  const sent: { readonly url: string; readonly body: Message }[] = [];
  const requests = new Map<string, ArmRequest>();
  const listeners = new Set<(event: RunnerEvent) => void>();
  let ids = 0;
  const runner = {
    arm: async (request: ArmRequest) => {
      requests.set(request.attemptId, request);
      return { ok: true, value: { attemptId: request.attemptId } };
    },
    go: async ({ attemptId }: { readonly attemptId: string }) => {
      const request = requests.get(attemptId);
      if (request?.kind !== "request") throw new Error("no webhook");
      sent.push({ url: request.target.url, body: JSON.parse(request.target.body ?? "") as Message });
      const ending = { kind: "exited", code: 0, signal: null, reason: null } as const;
      queueMicrotask(() => {
        for (const hear of listeners) hear({ kind: "ended", attemptId, pid: 1, ending, endedAt: 0 } as RunnerEvent);
      });
      return "started";
    },
    subscribe: (hear: (event: RunnerEvent) => void) => listeners.add(hear),
  };
  const ports = {
    clock,
    runner,
    store: { commit: async () => undefined },
    notices: { overdue: () => [] },
    left: async () => [],
    definitionOf: async () => null,
    newId: () => `m${++ids}`,
    mayStart: () => true,
    onEvent: () => undefined,
    onFatal: (error: unknown) => {
      throw error;
    },
  } as unknown as MessengerPorts;
  const messenger = new Messenger(ports, SETTINGS_DEFAULTS);
  const tell = (tenant: string, url: string, count = 1): void => {
    for (let at = 0; at < count; at++) {
      const identity = `endpoint:${tenant}/job_${"0".repeat(16)}/ep_${"0".repeat(16)}`;
      const message = { id: `${++ids}`, event: "failure", at: formatSecond(clock.now()), identity } as const;
      const http = { method: "POST", url, headers: {}, secretHeaders: {} };
      const target = { kind: "webhook", format: "kron", http } as unknown as NotifyTarget;
      messenger.take([post(message, target, clock.now(), null)]);
    }
  };
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await turnOfLoop();
  };
  return { clock, messenger, sent, tell, settled };
}

test("its places have their turns in the order in which they came, and one timer for all of them", async () => {
  const { clock, messenger, sent, tell, settled } = telling();
  await messenger.open();
  const timers = clock.pendingTimers;
  const urls = Array.from({ length: 5 * TENANT_PER_MINUTE }, (_, index) => `https://hooks.test/${index}`);
  for (const url of urls) tell("acme", url);
  tell("beta", "https://hooks.test/beta");
  await settled();
  expect(clock.pendingTimers).toBe(timers + 1);
  // Whoever has been told goes to the end of the line, also with what comes later.
  tell("acme", "https://hooks.test/0");
  for (let minute = 0; minute < 5; minute++) {
    await clock.advanceAsync(MINUTE_MS);
    await settled();
  }
  const told = sent.map(({ url }) => url).filter((url) => !url.endsWith("/beta"));
  expect(told).toEqual([...urls, "https://hooks.test/0"]);
  // Nobody has waited for them.
  expect(sent.findIndex(({ url }) => url.endsWith("/beta"))).toBeLessThanOrEqual(TENANT_PER_MINUTE);
  messenger.close();
});

test("what waits longer than its turn takes becomes one message, and nothing of it is lost", async () => {
  const { clock, messenger, sent, tell, settled } = telling();
  await messenger.open();
  for (let index = 0; index < TENANT_PER_MINUTE; index++) tell("acme", `https://hooks.test/${index}`);
  await settled();
  for (let round = 0; round < 20; round++) {
    tell("acme", "https://hooks.test/flaps", 60);
    await settled();
  }
  expect(sent).toHaveLength(TENANT_PER_MINUTE);
  expect(messenger.waiting).toBeLessThan(60);
  await clock.advanceAsync(MINUTE_MS);
  await settled();
  const bodies = sent.slice(TENANT_PER_MINUTE).map(({ body }) => body);
  const counts = bodies.map(({ event, count }) => (event === "group" ? Number(count) : 1));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20 * 60);
  messenger.close();
});
