/** The operator against a cluster: the API server double, or the real one that KRON_TEST_KUBECONFIG names. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KronJob } from "../../src/operator/kube/types.js";
import { POD_TEMPLATE, REAL_KUBECONFIG, TestCluster } from "../support/kube/cluster.js";

/** Minutes are real there. */
const TIMEOUT_MS = REAL_KUBECONFIG === undefined ? 30_000 : 400_000;
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await TestCluster.open();
});

afterEach(() => cluster.close());

function send<T>(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T> {
  return cluster.client.send<T>({
    method,
    path,
    operation: `${method} ${path}`,
    ...(body === undefined ? {} : { body }),
  });
}

describe("a KronJob lives", () => {
  test("it runs once a period, is told by Events, and its Job says why this second", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await cluster.operator();
    await cluster.create("report", {});
    const done = await cluster.until("report", ({ status }) => status?.lastSuccessfulTime !== undefined);
    expect(done.status).toMatchObject({ lastOutcome: "executed", suspended: false, window: "0s" });
    const [begun] = cluster.kubelet.begun;
    expect(begun?.periodId).toBe(done.status?.history?.at(-1)?.periodID);
    const job = (await cluster.jobs()).find(({ metadata }) => metadata.name === done.status?.history?.at(-1)?.job);
    expect(job?.metadata.labels).toMatchObject({
      "kron.io/name": "report",
      "kron.io/period-id": begun?.periodId.replaceAll(":", "-"),
    });
    expect(JSON.parse(job?.metadata.annotations?.["kron.io/decision"] ?? "null")).toMatchObject({
      identity: `${cluster.namespace}/report/${done.metadata.uid}`,
      period_id: begun?.periodId,
    });
    const reasons = async (): Promise<readonly string[]> => (await cluster.events()).map(({ reason }) => reason);
    await expect.poll(reasons).toEqual(expect.arrayContaining(["SuccessfulCreate", "SawCompletedJob"]));
  });

  test("forbid skips while a Job runs; its end is recorded as it was", { timeout: TIMEOUT_MS }, async () => {
    cluster.kubelet.runOf = () => ({ ms: 70_000, isSuccess: false });
    await cluster.operator();
    await cluster.create("slow", {
      policy: { concurrency: "forbid", deadline: "50s" },
      jobTemplate: { spec: { ...POD_TEMPLATE.spec, backoffLimit: 0 } },
    });
    await cluster.until("slow", ({ status }) => status?.lastOutcome === "skipped");
    const ended = await cluster.until(
      "slow",
      ({ status }) => status?.history?.some(({ result }) => result === "Failed") === true,
    );
    expect(ended.status?.history).toContainEqual(expect.objectContaining({ result: "Failed", outcome: "executed" }));
    expect(ended.status?.history).toContainEqual(expect.objectContaining({ reason: "concurrency_forbid" }));
  });

  test("replace: the old pod is gone before the new one begins", { timeout: TIMEOUT_MS }, async () => {
    cluster.kubelet.runOf = () => ({ ms: 600_000, isSuccess: true });
    // Bound pods take their time: a replacement that only asked for the end would overlap.
    cluster.kubelet.stopMs = 5_000;
    await cluster.operator();
    await cluster.create("only", { policy: { concurrency: "replace", deadline: "50s" } });
    await cluster.kubelet.until((begun) => begun.length >= 2);
    const replaced = await cluster.until(
      "only",
      ({ status }) => status?.history?.some(({ reason }) => reason === "replaced") === true,
    );
    expect(replaced.status?.active ?? []).toHaveLength(1);
    const [first, second] = cluster.kubelet.begun;
    expect(first?.endedAt).not.toBeNull();
    expect(second?.at).toBeGreaterThanOrEqual(first?.endedAt ?? Number.NaN);
  });

  test("suspended from the start, then run now by annotation, then resumed", { timeout: TIMEOUT_MS }, async () => {
    await cluster.operator();
    await cluster.create("quiet", { suspend: true });
    const ready = ({ status }: KronJob) => status?.conditions?.find(({ type }) => type === "Ready")?.reason;
    await cluster.until("quiet", (kronJob) => ready(kronJob) === "Suspended");
    const slot = new Date(Math.floor(cluster.clock.now() / 1000) * 1000).toISOString().replace(".000", "");
    await cluster.patch("quiet", { metadata: { annotations: { "kron.io/run": slot } } });
    const ran = await cluster.until("quiet", ({ status }) => status?.history?.length === 1);
    expect(ran.status?.history).toMatchObject([{ source: "manual", periodID: slot, result: "Succeeded" }]);
    expect(ran.status?.lastPeriodID).toBeUndefined();
    await cluster.patch("quiet", { spec: { suspend: false } });
    await cluster.until("quiet", ({ status }) => status?.lastOutcome === "executed");
  });

  test("bad input is told with its place, nothing runs; mended, it runs", { timeout: TIMEOUT_MS }, async () => {
    const { lines } = await cluster.operator();
    await cluster.create("odd", { schedule: "0 0 30 2 *" });
    const invalid = await cluster.until("odd", ({ status }) => status?.conditions !== undefined);
    expect(invalid.status?.conditions).toMatchObject([
      { type: "Ready", status: "False", reason: "InvalidSpec" },
      { type: "InvalidSpec", status: "True", reason: "cron-impossible" },
    ]);
    expect(invalid.status?.conditions?.[1]?.message).toMatch(/^spec\.schedule: /);
    expect(lines).toContainEqual(expect.objectContaining({ event: "error", level: "error" }));
    await cluster.patch("odd", { spec: { schedule: "* * * * *" } });
    await cluster.until("odd", ({ status }) => status?.lastOutcome === "executed");
  });

  test("a template that the API server refuses is told at once, not at three in the morning", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await cluster.operator();
    await cluster.create("typo", {
      schedule: "0 3 1 1 *",
      jobTemplate: { spec: { ...POD_TEMPLATE.spec, backoffLimit: -1 } },
    });
    const told = await cluster.until("typo", ({ status }) => status?.conditions !== undefined);
    expect(told.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "SchedulingError", status: "True", reason: "JobTemplateInvalid" }),
    );
  });

  test("when it is deleted, its Jobs go with it", { timeout: TIMEOUT_MS }, async () => {
    cluster.kubelet.runOf = () => ({ ms: 600_000, isSuccess: true });
    await cluster.operator();
    await cluster.create("gone", {});
    await cluster.kubelet.until((begun) => begun.length === 1);
    await cluster.delete(`${cluster.kronJobsPath}/gone`, { propagationPolicy: "Background" });
    await expect.poll(() => cluster.jobs(), { timeout: TIMEOUT_MS / 2 }).toEqual([]);
  });
});

describe("some namespaces", () => {
  test("only those that are named are looked after, and a list of one takes nothing from the other", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { operator } = await cluster.operator({ namespaces: [cluster.namespace, "elsewhere"] });
    await cluster.create("here", {});
    await cluster.until("here", ({ status }) => status?.lastOutcome === "executed");
    const kronJob = (namespace: string) =>
      send("POST", `/apis/kron.io/v1alpha1/namespaces/${namespace}/kronjobs`, {
        apiVersion: "kron.io/v1alpha1",
        kind: "KronJob",
        metadata: { name: "there" },
        spec: { schedule: "* * * * *", suspend: true, jobTemplate: POD_TEMPLATE },
      });
    if (cluster.server === null) return;
    await kronJob("elsewhere");
    await kronJob("nowhere");
    await expect.poll(() => operator.controller.kronJobs).toBe(2);
    cluster.server.restart();
    const begun = cluster.kubelet.begun.length;
    await cluster.kubelet.until((pods) => pods.length > begun);
    expect(operator.controller.kronJobs).toBe(2);
    const read = cluster.server.store.get("kronjobs", "nowhere", "there");
    expect(read["status"]).toBeUndefined();
  });
});

describe("several operators", () => {
  test("the one that holds the Lease acts; when it goes without a word, the other one takes over", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const lease = { namespace: cluster.namespace, name: "kron-operator" };
    const first = await cluster.operator({ lease });
    const second = await cluster.operator({ lease });
    await cluster.create("relay", {});
    await cluster.until("relay", ({ status }) => status?.lastOutcome === "executed");
    const [leading, standing] = first.lines.some(({ event }) => event === "leading")
      ? [first, second]
      : [second, first];
    expect(standing.lines.some(({ event }) => event === "trigger")).toBe(false);
    const { status } = await cluster.until("relay", ({ status }) => status?.activeCount === 0);
    leading.operator.abort();
    await cluster.until("relay", (kronJob) => (kronJob.status?.lastPeriodID ?? "") > (status?.lastPeriodID ?? ""));
    expect(standing.lines.some(({ event }) => event === "trigger")).toBe(true);
    const periods = cluster.kubelet.begun.map(({ periodId }) => periodId);
    expect(new Set(periods).size).toBe(periods.length);
  });

  test("stopped, it brings its claims to their end and gives the Lease back", { timeout: TIMEOUT_MS }, async () => {
    const lease = { namespace: cluster.namespace, name: "kron-operator" };
    const { operator } = await cluster.operator({ lease });
    await cluster.create("end", {});
    await cluster.until("end", ({ status }) => status?.lastOutcome === "executed");
    await operator.stop();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${cluster.namespace}/leases/kron-operator`;
    const given = await send<{ readonly spec: { readonly holderIdentity?: string } }>("GET", path);
    expect(given.spec.holderIdentity ?? "").toBe("");
  });
});
