/** Trouble between the operator and the API server, over the double: only it can be asked to fail. */
import { afterEach, describe, expect, test } from "vitest";
import { KronError } from "../../src/core/base/errors/kron-error.js";
import { MetricRegistry } from "../../src/krond/monitor/metric-registry.js";
import type { ApiServer, ApiServerOptions } from "../support/kube/api-server.js";
import { TestCluster } from "../support/kube/cluster.js";

let cluster: TestCluster | null = null;

afterEach(async () => {
  await cluster?.close();
  cluster = null;
});

/** The double, whatever the environment names. */
async function opened(
  options: ApiServerOptions = {},
): Promise<{ readonly it: TestCluster; readonly server: ApiServer }> {
  const it = await TestCluster.openDouble(options);
  cluster = it;
  if (it.server === null) throw new Error("not the double");
  return { it, server: it.server };
}

async function refusalOf(attempt: Promise<unknown>): Promise<KronError> {
  const error = await attempt.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error instanceof KronError) return error;
  throw new Error(`refused with ${String(error)}`);
}

describe("trouble with the API server", () => {
  test("it restarts, watches are too old: the list is read again and the work goes on", async () => {
    const { it, server } = await opened();
    const { lines } = await it.operator();
    await it.create("steady", {});
    await it.until("steady", ({ status }) => status?.lastOutcome === "executed");
    server.restart();
    const begun = it.kubelet.begun.length;
    await created(() => it.create("later", {}));
    await it.until("later", ({ status }) => status?.lastOutcome === "executed");
    await it.kubelet.until((pods) => pods.length >= begun + 2);
    expect(lines).toContainEqual(expect.objectContaining({ event: "watch_restarted" }));
  });

  test("an old API server has no streaming lists: pages do, and more than one of them", async () => {
    const { it, server } = await opened({ canStreamLists: false });
    for (let n = 0; n < 3; n++) await it.create(`many-${n}`, { suspend: true });
    const { operator } = await it.operator();
    expect(operator.controller.kronJobs).toBe(3);
    expect(server.calls.filter((call) => call === "list kronjobs").length).toBeGreaterThan(0);
  });

  test("every kind of failure now and then, and answers that are lost: each period is handled, none twice", async () => {
    const { it, server } = await opened();
    let calls = 0;
    server.faultOf = ({ verb, resource }) => {
      if (verb === "watch" || verb === "list" || resource.name === "pods") return null;
      calls += 1;
      if (calls % 7 === 0) return { kind: "reset", when: "after" };
      if (calls % 11 === 0) return { kind: "reset", when: "before" };
      if (calls % 13 === 0) return { kind: "status", status: 500, reason: "InternalError" };
      return calls % 17 === 0 ? { kind: "status", status: 429, reason: "TooManyRequests", retryAfter: 0 } : null;
    };
    await it.operator();
    for (const name of ["one", "two", "three"]) await created(() => it.create(name, {}));
    await it.kubelet.until((pods) => pods.length >= 9);
    server.faultOf = () => null;
    const runs = it.kubelet.begun.map(({ kronJob, periodId }) => `${kronJob} ${periodId}`);
    expect(new Set(runs).size).toBe(runs.length);
  });

  test("a right that is missing at the start is named, with verb and resource", async () => {
    const { it, server } = await opened();
    server.mayDo = ({ verb, resource }) => !(resource.name === "kronjobs" && verb === "watch");
    const error = await refusalOf(it.operator());
    expect(error).toMatchObject({ code: "cluster-forbidden" });
    expect(error.message).toContain("needs list and watch on kronjobs.kron.io");
  });

  test("without the CRD it does not start, and says what to apply", async () => {
    const { it, server } = await opened();
    server.faultOf = ({ resource }) =>
      resource.name === "kronjobs" ? { kind: "status", status: 404, reason: "NotFound" } : null;
    const error = await refusalOf(it.operator());
    expect(error).toMatchObject({ code: "cluster-unsuitable", hint: "kubectl apply -f deploy/operator/crd.yaml" });
  });

  test("a missing right on Jobs is told where the user looks, and mended without a restart", async () => {
    const { it, server } = await opened();
    server.mayDo = ({ verb, resource }) => !(resource.name === "jobs" && verb === "create");
    await it.operator();
    await it.create("denied", {});
    const told = await it.until("denied", ({ status }) => status?.conditions !== undefined);
    expect(told.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "SchedulingError", status: "True", reason: "Forbidden" }),
    );
    expect(JSON.stringify(told.status?.conditions)).toContain("needs create on jobs.batch");
    server.mayDo = () => true;
    await it.until("denied", ({ status }) => status?.lastOutcome === "executed");
  });

  test("an admission webhook that releases Jobs: nothing is scheduled, and the condition says why", async () => {
    const { it, server } = await opened();
    server.mutate = (object) => ({ ...object, spec: { ...(object["spec"] as object), suspend: false } });
    await it.operator();
    await it.create("open", {});
    const told = await it.until("open", ({ status }) => status?.conditions !== undefined);
    expect(told.status?.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "GateBypassed" }]);
    expect(await it.jobs()).toEqual([]);
  });

  test("an API server that is still starting refuses what it soon grants: nobody gives up", async () => {
    const { it, server } = await opened();
    let asked = 0;
    server.mayDo = ({ verb, resource }) => verb !== "watch" || resource.name !== "jobs" || ++asked > 3;
    const { lines } = await it.operator();
    expect(lines).toContainEqual(expect.objectContaining({ event: "watch_restarted", level: "warn" }));
    await it.create("patient", {});
    await it.until("patient", ({ status }) => status?.lastOutcome === "executed");
  });

  test("wrong credentials are refused at the start", async () => {
    const { it } = await opened({ token: "secret" });
    const config = {
      ...it.config,
      credentials: { current: async () => ({ authorization: "Bearer no", cert: null, key: null }) },
    };
    await expect(refusalOf(it.operator({ config }))).resolves.toMatchObject({ code: "cluster-forbidden" });
  });

  test("a token that was rotated is read again when the old one is refused", async () => {
    const { it } = await opened({ token: "new" });
    let asked = 0;
    const current = async (isRefused: boolean) => {
      if (isRefused) asked += 1;
      return { authorization: `Bearer ${isRefused ? "new" : "old"}`, cert: null, key: null };
    };
    const { operator } = await it.operator({ config: { ...it.config, credentials: { current } } });
    expect(operator.readiness().isOk).toBe(true);
    expect(asked).toBeGreaterThan(0);
  });

  test("the clock jumps: what it skipped is not made up for, what was handled stays so (S6, S12)", async () => {
    const { it } = await opened();
    const { lines } = await it.operator();
    await it.create("jumpy", {});
    const before = await it.until("jumpy", ({ status }) => status?.lastOutcome === "executed");
    it.jump(3_600_000);
    const after = await it.until("jumpy", ({ status }) => status?.notEvaluated !== undefined);
    expect(after.status?.notEvaluated?.count).toBeGreaterThan(20);
    await expect.poll(() => lines).toContainEqual(expect.objectContaining({ event: "clock_jump", level: "warn" }));
    expect(Date.parse(after.status?.lastPeriodID ?? "")).toBeGreaterThanOrEqual(
      Date.parse(before.status?.lastPeriodID ?? ""),
    );
  });

  test("stopped while a look hangs: the Lease is given back all the same", async () => {
    const { it, server } = await opened();
    const lease = { namespace: it.namespace, name: "kron-operator" };
    const { operator, lines } = await it.operator({ lease });
    await expect.poll(() => lines).toContainEqual(expect.objectContaining({ event: "leading" }));
    server.faultOf = ({ verb, resource }) =>
      verb === "get" && resource.name === "kronjobs" ? { kind: "delay", ms: 60_000 } : null;
    await it.create("hanging", {});
    await expect.poll(() => operator.controller.running).toBe(1);
    await operator.stop();
    const given = server.store.get("leases", it.namespace, "kron-operator");
    expect(given["spec"]).toMatchObject({ holderIdentity: "" });
  });

  test("an API server that goes by another clock is told once, with the difference", async () => {
    const { it } = await opened();
    const { lines } = await it.operator();
    await it.create("skewed", {});
    await it.until("skewed", ({ status }) => status?.lastOutcome === "executed");
    const told = lines.filter(({ event }) => event === "clock_skew");
    expect(told).toHaveLength(1);
    // The double speaks of real time in its headers, and lives in a fast one.
    expect(Math.abs(Number(told[0]?.fields?.["skew_ms"]))).toBeGreaterThan(60_000);
  });

  test("metrics count what happened, and Events are bounded", async () => {
    const { it } = await opened();
    const registry = new MetricRegistry();
    const { operator } = await it.operator({ metrics: registry });
    await it.create("counted", {});
    await it.until("counted", ({ status }) => status?.lastSuccessfulTime !== undefined);
    await operator.stop();
    const text = registry.exposition();
    expect(text).toMatch(/kron_periods_total\{outcome="executed",reason=""\} [1-9]/);
    expect(text).toMatch(/kron_runs_total\{result="Succeeded"\} [1-9]/);
    expect(text).toMatch(/kron_kronjobs 1\n/);
    expect(text).toMatch(/kron_api_requests_total\{operation="create jobs.batch",code="201"\} [1-9]/);
    expect(text).toMatch(/kron_start_lateness_seconds_count [1-9]/);
  });
});

/** The test's own request meets the faults too. */
async function created(create: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    try {
      await create();
      return;
    } catch (error) {
      if (error instanceof Error && error.message.includes("AlreadyExists")) return;
    }
  }
  throw new Error("the KronJob could not be created");
}
