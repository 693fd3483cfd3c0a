import { afterEach } from "vitest";
import { systemClock } from "../../src/actors/clock.js";
import { createDispatcher, type DispatcherOptions } from "../../src/actors/dispatcher/http-dispatcher.js";
import type { Dispatcher, RequestArm } from "../../src/actors/dispatcher/port.js";
import type { Armed, Ended } from "../../src/actors/runner/port.js";
import { type HttpSettings, SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import type { HttpTarget } from "../../src/core/job/definition.js";
import { readJobDefinition } from "../../src/core/job/schema.js";
import type { RawJob } from "../../src/core/job/shape.js";
import { newAttemptId } from "./launcher.js";
import { requireOk } from "./results.js";

export const PRIVATE_TOO: HttpSettings = { ...SETTINGS_DEFAULTS.http, allowPrivate: true };

export function httpTarget(http: NonNullable<RawJob["http"]>): HttpTarget {
  const { target } = requireOk(readJobDefinition({ identity: "t/request", schedule: "@daily", http }));
  if (target.kind !== "http") throw new Error("no request");
  return target;
}

export function requestArm(http: NonNullable<RawJob["http"]>, more: Partial<RequestArm> = {}): RequestArm {
  return {
    kind: "request",
    attemptId: newAttemptId(),
    identity: "t/request",
    periodId: "2026-11-18T12:00:00Z",
    scheduledFor: "2026-11-18T12:07:31Z",
    target: httpTarget(http),
    settings: PRIVATE_TOO,
    ...more,
  };
}

export interface TestDispatcher {
  readonly port: Dispatcher;
  /** Makes it ready; fails the test when that is refused. */
  ready(request: RequestArm): Promise<Armed>;
  /** Makes it ready and sends it; how it ended, when it has. */
  run(request: RequestArm): Promise<Ended>;
  endOf(attemptId: string): Promise<Ended>;
  readonly ends: Ended[];
}

/** Real dispatchers; none outlives its test. */
export function testDispatchers(): (options?: Partial<DispatcherOptions>) => TestDispatcher {
  const open: Dispatcher[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((port) => port.close()));
  });
  return (options = {}) => {
    const port = createDispatcher({ clock: systemClock, env: {}, ...options });
    open.push(port);
    return watched(port);
  };
}

export function watched(port: Dispatcher): TestDispatcher {
  const ends: Ended[] = [];
  const waiting = new Set<() => void>();
  port.subscribe((event) => {
    if (event.kind !== "ended") return;
    ends.push(event);
    for (const look of waiting) look();
  });
  const endOf = (attemptId: string): Promise<Ended> =>
    new Promise((resolve) => {
      const look = (): void => {
        const end = ends.find((one) => one.attemptId === attemptId);
        if (end === undefined) return;
        waiting.delete(look);
        resolve(end);
      };
      waiting.add(look);
      look();
    });
  const ready = async (request: RequestArm): Promise<Armed> => requireOk(await port.arm(request));
  return {
    port,
    ready,
    endOf,
    ends,
    run: async (request) => {
      const armed = await ready(request);
      const outcome = await port.go(armed, Date.now() + 60_000);
      if (outcome !== "started") throw new Error(`not started: ${outcome}`);
      return endOf(request.attemptId);
    },
  };
}
