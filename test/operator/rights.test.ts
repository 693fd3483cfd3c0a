/** Rights that are missing while the operator runs: each is named where the user looks, and nothing is claimed to have run. */
import { afterEach, expect, test } from "vitest";
import { MetricRegistry } from "../../src/krond/monitor/metric-registry.js";
import type { KronJob } from "../../src/operator/kube/types.js";
import type { ApiServer, Call } from "../support/kube/api-server.js";
import { TestCluster } from "../support/kube/cluster.js";

let cluster: TestCluster | null = null;

afterEach(async () => {
  await cluster?.close();
  cluster = null;
});

async function without(
  isDenied: (call: Call) => boolean,
): Promise<{ readonly it: TestCluster; readonly server: ApiServer }> {
  const it = await TestCluster.openDouble();
  cluster = it;
  if (it.server === null) throw new Error("not the double");
  it.server.mayDo = (call) => !isDenied(call);
  return { it, server: it.server };
}

function condition({ status }: KronJob, type: string) {
  return status?.conditions?.find((one) => one.type === type);
}

function isForbidden(kronJob: KronJob): boolean {
  return (
    condition(kronJob, "SchedulingError")?.reason === "Forbidden" && condition(kronJob, "Ready")?.status === "False"
  );
}

async function reasons(it: TestCluster): Promise<readonly string[]> {
  return (await it.events()).map(({ reason }) => reason);
}

test("Jobs may not be patched: nothing is released, nothing is said to have run, and it is mended without a restart", async () => {
  const { it, server } = await without(({ verb, resource }) => resource.name === "jobs" && verb === "patch");
  const { lines } = await it.operator();
  await it.create("held", { policy: { concurrency: "replace", deadline: "10s" } });
  const told = await it.until("held", isForbidden);
  const message = condition(told, "SchedulingError")?.message ?? "";
  expect(message).toContain(`needs patch on jobs.batch in namespace ${it.namespace}`);
  expect(condition(told, "Ready")).toMatchObject({ status: "False", reason: "Forbidden" });
  await expect.poll(() => reasons(it)).toContain("FailedCreate");
  expect(lines).toContainEqual(expect.objectContaining({ event: "error", level: "error" }));
  const ended = await it.until("held", ({ status }) => status?.history !== undefined);
  expect(ended.status?.history?.[0]).toMatchObject({ outcome: "executed", result: "NotStarted" });
  expect(it.kubelet.begun).toEqual([]);
  server.mayDo = () => true;
  await it.until("held", (kronJob) => condition(kronJob, "Ready")?.status === "True");
  await it.kubelet.until((begun) => begun.length > 0);
  for (const { status } of it.versions) {
    for (const { result, reason } of status?.history ?? [])
      expect([result, reason]).not.toEqual(["Unknown", "replaced"]);
  }
});

test("Jobs may not be deleted: what should go stays and is told, once in a while; granted, it goes", async () => {
  const { it, server } = await without(({ verb, resource }) => resource.name === "jobs" && verb === "delete");
  await it.operator();
  await it.create("kept", { successfulJobsHistoryLimit: 0 });
  const told = await it.until("kept", isForbidden);
  expect(condition(told, "Ready")?.message).toContain(`needs delete on jobs.batch in namespace ${it.namespace}`);
  await expect.poll(() => reasons(it)).toContain("FailedDelete");
  await it.kubelet.until((begun) => begun.length >= 3);
  // One try a look would be dozens a minute.
  const tries = server.calls.filter((call) => call === "delete jobs").length;
  expect(tries).toBeLessThan(40);
  server.mayDo = () => true;
  await it.until("kept", (kronJob) => condition(kronJob, "SchedulingError")?.status === "False");
});

test("the status may not be patched: nothing runs, an Event and the log say which right is missing", async () => {
  const { it } = await without(({ resource, isStatus }) => resource.name === "kronjobs" && isStatus);
  const { lines } = await it.operator();
  await it.create("mute", {});
  await expect.poll(() => reasons(it)).toContain("FailedUpdate");
  const [event] = await it.events();
  expect(event?.message).toContain(`needs patch on kronjobs.kron.io/status in namespace ${it.namespace}`);
  expect(lines).toContainEqual(expect.objectContaining({ event: "error" }));
  expect(it.kubelet.begun).toEqual([]);
});

test("Events may not be written: the work goes on, and the log says so once", async () => {
  const { it } = await without(({ resource, verb }) => resource.name === "events" && verb === "create");
  const { lines } = await it.operator();
  await it.create("quiet", {});
  await it.kubelet.until((begun) => begun.length >= 2);
  const told = (): readonly unknown[] =>
    lines.filter(({ fields }) => JSON.stringify(fields).includes("needs create on events"));
  await expect.poll(told).toHaveLength(1);
});

test("an admission rule refuses the Job: its own words are told, and no right is asked for", async () => {
  const { it, server } = await without(() => false);
  server.objectionTo = ({ resource }) => (resource.name === "jobs" ? "every Job needs activeDeadlineSeconds" : null);
  await it.operator();
  await it.create("unruly", {});
  const told = await it.until("unruly", (kronJob) => condition(kronJob, "SchedulingError")?.status === "True");
  expect(condition(told, "SchedulingError")).toMatchObject({ reason: "JobTemplateInvalid" });
  expect(condition(told, "SchedulingError")?.message).toMatch(
    /^jobs\.batch "unruly-\w+" is forbidden: every Job needs/,
  );
  await it.until("unruly", ({ status }) => status?.lastReason === "not_started:job-refused");
  await it.patch("unruly", { spec: { jobTemplate: { spec: { activeDeadlineSeconds: 60 } } } });
  server.objectionTo = () => null;
  await it.until("unruly", (kronJob) => condition(kronJob, "SchedulingError")?.status === "False");
});

test("a namespace that ends takes no Events: nobody is told", async () => {
  const { it, server } = await without(() => false);
  server.objectionTo = ({ resource }) =>
    resource.name === "events"
      ? `unable to create new content in namespace ${it.namespace} because it is being terminated`
      : null;
  const { lines } = await it.operator();
  await it.create("last", {});
  await it.kubelet.until((begun) => begun.length >= 2);
  expect(lines.filter(({ event }) => event === "error")).toEqual([]);
});

test("Events may not be counted on: of each the same is said once", async () => {
  const { it } = await without(({ resource, verb }) => resource.name === "events" && verb === "patch");
  const { lines } = await it.operator();
  for (const name of ["one", "two", "three"]) {
    await it.create(name, { schedule: "0 0 30 2 *" });
    await it.until(name, ({ status }) => status?.conditions !== undefined);
    await it.patch(name, { spec: { seed: { salt: "again" } } });
    await it.until(name, ({ metadata, status }) => status?.observedGeneration === metadata.generation);
  }
  const told = (): readonly unknown[] =>
    lines.filter(({ fields }) => JSON.stringify(fields).includes("needs patch on events"));
  await expect.poll(told).toHaveLength(1);
});

test("leases may not be used: two operators that both stand by do all of the work, and say why they are slow", async () => {
  const { it } = await without(({ resource }) => resource.name === "leases");
  const registry = new MetricRegistry();
  const lease = { namespace: it.namespace, name: "kron-operator" };
  const { lines, operator } = await it.operator({ lease, metrics: registry });
  await it.operator({ lease });
  await it.create("orphan", { policy: { deadline: "0s" } });
  const seen = await it.until("orphan", ({ status }) => status?.observedGeneration !== undefined);
  expect(seen.status?.nextPeriodID).toBeDefined();
  await it.kubelet.until((begun) => begun.length >= 3);
  await it.until("orphan", ({ status }) => (status?.history?.length ?? 0) >= 2);
  const runs = it.kubelet.begun.map(({ periodId }) => periodId);
  expect(new Set(runs).size).toBe(runs.length);
  expect(operator.readiness().details).toMatchObject({ leader: false });
  const told = lines.filter(({ fields }) => JSON.stringify(fields).includes("leases"));
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).toContain(`on leases.coordination.k8s.io in namespace ${it.namespace}`);
  expect(registry.exposition()).toMatch(/kron_lease_errors_total\{reason="cluster-forbidden"\} [1-9]/);
});

test("the Lease is lost to trouble while one leads: it goes on", async () => {
  const { it, server } = await without(() => false);
  const lease = { namespace: it.namespace, name: "kron-operator" };
  const { operator, lines } = await it.operator({ lease });
  await it.create("steady", {});
  await it.until("steady", ({ status }) => status?.lastOutcome === "executed");
  server.mayDo = ({ resource }) => resource.name !== "leases";
  const begun = it.kubelet.begun.length;
  await it.kubelet.until((pods) => pods.length >= begun + 3);
  expect(operator.readiness().details).toMatchObject({ leader: true });
  expect(lines.some(({ event }) => event === "standing_by")).toBe(false);
});
