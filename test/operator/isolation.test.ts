/** One odd KronJob, a silent API server, a loop that hangs: what each of them may do to the rest, and who says so. */
import { afterEach, expect, test, vi } from "vitest";
import { decide } from "../../src/core/decision/decide.js";
import type { ApiServer } from "../support/kube/api-server.js";
import { TestCluster } from "../support/kube/cluster.js";
import { RESOURCES, type StoredObject } from "../support/kube/store.js";
import { Leader } from "./support/drive.js";
import { at, kronJob } from "./support/samples.js";

vi.mock("../../src/core/decision/decide.js", { spy: true });

let cluster: TestCluster | null = null;

afterEach(async () => {
  vi.mocked(decide).mockReset();
  await cluster?.close();
  cluster = null;
});

async function opened(): Promise<{ readonly it: TestCluster; readonly server: ApiServer }> {
  const it = await TestCluster.openDouble();
  cluster = it;
  if (it.server === null) throw new Error("not the double");
  return { it, server: it.server };
}

/** As somebody writes it who may write anything. */
function writeStatus(server: ApiServer, namespace: string, name: string, status: unknown): StoredObject {
  const kind = RESOURCES.find((one) => one.name === "kronjobs");
  if (kind === undefined) throw new Error("no KronJobs");
  return server.store.patch(kind, namespace, name, { status }, true);
}

const ODD_ACTIVE = [
  ["no list", "text", "status.active: must be a list"],
  ["an entry that is no mapping", [null], "status.active[0]: must be a mapping"],
  ["no uid", [{ name: "x" }], "status.active[0].uid: must be a text"],
  [
    "a time that is none",
    [{ uid: "u", name: "x", periodID: "2026-03-01T00:00:00Z", chosenTime: "soon", startedAt: "", startBy: "" }],
    "status.active[0].chosenTime: must be a UTC instant",
  ],
] as const;

test.each(ODD_ACTIVE)("a status that nobody of us wrote, %s: told with its place", (_name, active, message) => {
  const sample = kronJob({});
  const one = new Leader({ ...sample, status: { active: active as never } });
  one.look("2026-03-01T00:01:00Z");
  const ready = one.status.conditions?.find(({ type }) => type === "Ready");
  expect(ready).toMatchObject({ status: "False", reason: "StatusUnreadable" });
  expect(ready?.message).toContain(message);
});

test("one KronJob that cannot be thought about stops no other, nor the watch; mended, it runs", async () => {
  const { it, server } = await opened();
  const { lines } = await it.operator();
  await it.create("odd", { suspend: true });
  await it.until("odd", ({ status }) => status?.observedGeneration !== undefined);
  writeStatus(server, it.namespace, "odd", { conditions: "none" });
  await it.create("good", {});
  await it.kubelet.until((begun) => begun.length >= 2);
  expect(lines.filter(({ event }) => event === "watch_restarted")).toEqual([]);
  const told = lines.filter(({ event, fields }) => event === "error" && JSON.stringify(fields).includes("/odd/"));
  expect(told.length).toBeGreaterThan(0);
  writeStatus(server, it.namespace, "odd", null);
  await it.patch("odd", { spec: { suspend: false } });
  await it.until("odd", ({ status }) => status?.lastOutcome === "executed");
});

test("a decision that throws: a condition, 1 s doubling to 60 s, and the period is still open when it works again (S18)", () => {
  const one = new Leader(kronJob({ schedule: "0 * * * *", policy: { deadline: "10m" } }));
  one.look("2026-03-01T00:10:00Z");
  vi.mocked(decide).mockImplementation(() => {
    throw new Error("no memory");
  });
  const tries: number[] = [];
  const from = at("2026-03-01T01:00:00Z");
  let now = from;
  for (let looks = 0; looks < 9; looks++) {
    one.look(new Date(now).toISOString());
    const next = one.lookAgainAt ?? Number.NaN;
    tries.push((next - now) / 1000);
    now = next;
  }
  expect(tries).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(one.status.conditions).toContainEqual(
    expect.objectContaining({
      type: "SchedulingError",
      status: "True",
      reason: "DecisionFailed",
      message: "no memory",
    }),
  );
  expect(one.status.conditions).toContainEqual(
    expect.objectContaining({ type: "Ready", status: "False", reason: "Deciding" }),
  );
  expect(one.told("undecided")).toHaveLength(9);
  vi.mocked(decide).mockReset();
  one.look(new Date(now).toISOString());
  expect(one.status).toMatchObject({ lastPeriodID: "2026-03-01T01:00:00Z", lastOutcome: "executed" });
  expect(one.status.conditions).toContainEqual(expect.objectContaining({ type: "SchedulingError", status: "False" }));
});

test("without the API server for a minute it is not ready; when it is back, it is", async () => {
  const { it, server } = await opened();
  const { operator } = await it.operator();
  expect(operator.readiness().isOk).toBe(true);
  server.isDown = true;
  server.restart();
  await expect.poll(() => operator.readiness().isOk).toBe(false);
  expect(operator.health().isOk).toBe(true);
  server.isDown = false;
  await expect.poll(() => operator.readiness().isOk).toBe(true);
});

test("a look that never ends is told by the health", async () => {
  const { it, server } = await opened();
  const { operator } = await it.operator();
  expect(operator.health().isOk).toBe(true);
  server.faultOf = ({ verb, resource }) =>
    verb === "get" && resource.name === "kronjobs" ? { kind: "delay", ms: 7_000 } : null;
  await it.create("slow", {});
  await expect.poll(() => operator.health().isOk).toBe(false);
  expect(operator.health().details["longest_look_seconds"]).toBeGreaterThan(299);
});
