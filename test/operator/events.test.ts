/** Kubernetes Events: counted rather than repeated, made anew when they are gone, and never in the way. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulated-clock.js";
import { EVENT_LIMITS, EventRecorder } from "../../src/operator/events.js";
import { KubeClient } from "../../src/operator/kube/client.js";
import { ApiServer } from "../support/kube/api-server.js";
import { configOf } from "../support/kube/cluster.js";
import { at, kronJob } from "./support/samples.js";

const TEXT = { type: "Warning", reason: "FailedCreate", message: "exceeded quota" } as const;
const { metadata } = kronJob();
let server: ApiServer;
let client: KubeClient;
let clock: SimulatedClock;
let lost: unknown[];
let events: EventRecorder;

beforeEach(async () => {
  server = new ApiServer();
  await server.listen();
  client = new KubeClient(configOf(server));
  clock = new SimulatedClock({ startAt: at("2026-03-01T00:00:00Z") });
  lost = [];
  events = new EventRecorder(client, clock, "holder", (error) => void lost.push(error));
});

afterEach(async () => {
  client.close();
  await server.close();
});

async function record(): Promise<readonly unknown[]> {
  events.record(metadata, TEXT);
  await events.flush();
  return server.store.list("events", metadata.namespace).map((event) => event["count"]);
}

test("the same one within ten minutes is counted, after that it is told again", async () => {
  expect(await record()).toEqual([1]);
  expect(await record()).toEqual([2]);
  clock.advance(EVENT_LIMITS.sameMs);
  expect((await record()).toSorted()).toEqual([1, 2]);
});

test("one that was removed meanwhile is made anew, and counted from there", async () => {
  await record();
  for (const event of server.store.list("events", metadata.namespace)) server.store.remove("events", event);
  expect(await record()).toEqual([1]);
  expect(await record()).toEqual([2]);
  expect(lost).toEqual([]);
});

test("one that is not taken is lost, told, and not counted as if it had been", async () => {
  server.faultOf = () => ({ kind: "status", status: 500, reason: "InternalError" });
  expect(await record()).toEqual([]);
  expect([lost.length, events.dropped]).toEqual([1, 1]);
  server.faultOf = () => null;
  expect(await record()).toEqual([1]);
});

test("an object gets so many and no more", async () => {
  for (let n = 0; n < EVENT_LIMITS.burst + 5; n++) events.record(metadata, { ...TEXT, message: `${n}` });
  expect(events.dropped).toBe(5);
});
