/**
 * What the protocol takes for granted of an API server, asked of the double, or of the real one that KRON_TEST_KUBECONFIG
 * names: the double cannot lie unnoticed. What only a real one judges (CEL) is a table that is sent to it.
 */
import * as fs from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ApiFailure } from "../../src/operator/kube/failure.js";
import type { Job, KronJob, KubeObject } from "../../src/operator/kube/types.js";
import { POD_TEMPLATE, REAL_KUBECONFIG, TestCluster } from "../support/kube/cluster.js";

const OTHER_UID = "00000000-0000-0000-0000-000000000000";
const TIMEOUT_MS = REAL_KUBECONFIG === undefined ? 30_000 : 200_000;
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await TestCluster.open();
});

afterEach(() => cluster.close());

async function refusal(attempt: Promise<unknown>): Promise<ApiFailure["answer"]> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ApiFailure) return error.answer;
    throw error;
  }
  throw new Error("nothing was refused");
}

type Verb = "GET" | "POST" | "PATCH" | "DELETE";
type Query = Readonly<Record<string, string | number>>;

function send<T>(method: Verb, path: string, body?: unknown, query: Query = {}): Promise<T> {
  const more = body === undefined ? {} : { body };
  return cluster.client.send<T>({ method, path, query, operation: `${method} ${path}`, ...more });
}

function jobPath(name: string): string {
  return `${cluster.jobsPath}/${name}`;
}

function suspendedJob(name: string, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { metadata: { name }, spec: { ...POD_TEMPLATE.spec, suspend: true, ...more } };
}

async function isThere(name: string): Promise<boolean> {
  return (await send<{ readonly items: readonly Job[] }>("GET", cluster.jobsPath)).items.some(
    ({ metadata }) => metadata.name === name,
  );
}

async function suspension(name: string): Promise<string | undefined> {
  const { status } = await send<Job>("GET", jobPath(name));
  return status?.conditions?.find(({ type }) => type === "Suspended")?.status;
}

async function running(name: string): Promise<void> {
  cluster.kubelet.runOf = () => ({ ms: 600_000, isSuccess: true });
  cluster.kubelet.stopMs = 2_000;
  await send("POST", cluster.jobsPath, { ...(suspendedJob(name, { suspend: false }) as object) });
  await cluster.kubelet.until((begun) => begun.length === 1);
}

describe("a KronJob's status", () => {
  const path = (): string => `${cluster.kronJobsPath}/facts/status`;

  test("a patch with a stale resourceVersion is a conflict, and leaves no trace", async () => {
    const { resourceVersion } = (await cluster.create("facts", { suspend: true })).metadata;
    const patch = (window: string): unknown => ({ metadata: { resourceVersion }, status: { window } });
    const written = await send<KronJob>("PATCH", path(), patch("one"));
    expect(written.metadata.resourceVersion).not.toBe(resourceVersion);
    expect(await refusal(send("PATCH", path(), patch("two")))).toMatchObject({ status: 409, reason: "Conflict" });
    expect((await send<KronJob>("GET", `${cluster.kronJobsPath}/facts`)).status?.window).toBe("one");
  });

  test("a foreign uid is no precondition on a custom resource: only the resourceVersion is", async () => {
    await cluster.create("facts", { suspend: true });
    const written = await send<KronJob>("PATCH", path(), { metadata: { uid: OTHER_UID }, status: { window: "one" } });
    expect([written.status?.window, written.metadata.uid === OTHER_UID]).toEqual(["one", false]);
  });

  test("a handled period stays handled, with the outcome it has; only the status as a whole can be taken away", async () => {
    await cluster.create("facts", { suspend: true });
    const write = (lastPeriodID: string, lastOutcome: string) =>
      send("PATCH", path(), { status: { lastPeriodID, lastOutcome } });
    await write("2026-03-01T01:00:00Z", "missed");
    expect(await refusal(write("2026-03-01T00:00:00Z", "missed"))).toMatchObject({ status: 422 });
    expect(await refusal(write("2026-03-01T01:00:00Z", "executed"))).toMatchObject({ status: 422 });
    await write("2026-03-01T02:00:00Z", "executed");
    expect((await send<KronJob>("PATCH", path(), { status: null })).status ?? {}).toEqual({});
  });
});

describe("a Job", () => {
  test("is made once by its name", async () => {
    await send("POST", cluster.jobsPath, suspendedJob("gate"));
    const again = await refusal(send("POST", cluster.jobsPath, suspendedJob("gate")));
    expect(again).toMatchObject({ status: 409, reason: "AlreadyExists" });
  });

  test("of another uid is not released: 422, and nothing happens", async () => {
    await send("POST", cluster.jobsPath, suspendedJob("gate"));
    const foreign = { metadata: { uid: OTHER_UID }, spec: { suspend: false } };
    expect(await refusal(send("PATCH", jobPath("gate"), foreign))).toMatchObject({ status: 422, reason: "Invalid" });
    expect((await send<Job>("GET", jobPath("gate"))).spec.suspend).toBe(true);
  });

  test("is released once: GO again changes nothing", { timeout: TIMEOUT_MS }, async () => {
    cluster.kubelet.runOf = () => ({ ms: 600_000, isSuccess: true });
    const { metadata } = await send<Job>("POST", cluster.jobsPath, suspendedJob("gate"));
    const go = { metadata: { uid: metadata.uid }, spec: { suspend: false } };
    expect((await send<Job>("PATCH", jobPath("gate"), go)).spec.suspend).toBe(false);
    await cluster.kubelet.until((begun) => begun.length === 1);
    const before = await send<Job>("GET", jobPath("gate"));
    const after = await send<Job>("PATCH", jobPath("gate"), go);
    expect(after.metadata["generation"]).toBe(before.metadata["generation"]);
    expect(cluster.kubelet.begun).toHaveLength(1);
  });

  test("that is suspended has no pod and no start; released, its time counts from then", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { metadata } = await send<Job>("POST", cluster.jobsPath, suspendedJob("gate"));
    await expect.poll(() => suspension("gate"), { timeout: TIMEOUT_MS / 2 }).toBe("True");
    const held = await send<Job>("GET", jobPath("gate"));
    expect([held.status?.startTime, cluster.kubelet.begun]).toEqual([undefined, []]);
    await send("PATCH", jobPath("gate"), { metadata: { uid: metadata.uid }, spec: { suspend: false } });
    await cluster.kubelet.until((begun) => begun.length === 1);
    const { status } = await send<Job>("GET", jobPath("gate"));
    expect(status?.startTime).toBeDefined();
    expect(await suspension("gate")).toBe("False");
  });

  test("is deleted only under the uid and version that were seen; the refusal names both", async () => {
    const { uid } = (await send<Job>("POST", cluster.jobsPath, suspendedJob("gate"))).metadata;
    const wrong = await refusal(send("DELETE", jobPath("gate"), { preconditions: { uid: OTHER_UID } }));
    expect(wrong).toMatchObject({ status: 409, reason: "Conflict" });
    expect(wrong.message).toContain(OTHER_UID);
    expect(wrong.message).toContain(uid);
    const stale = { preconditions: { uid, resourceVersion: "1" } };
    expect(await refusal(send("DELETE", jobPath("gate"), stale))).toMatchObject({ status: 409 });
    await send("DELETE", jobPath("gate"), { preconditions: { uid }, propagationPolicy: "Background" });
    await expect.poll(() => isThere("gate")).toBe(false);
  });

  test("deleted in the background is gone before its pod; in the foreground after it", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await running("one");
    const [first] = cluster.kubelet.begun;
    await send("DELETE", jobPath("one"), { propagationPolicy: "Background" });
    await expect.poll(() => isThere("one"), { interval: 5 }).toBe(false);
    expect(first?.endedAt).toBeNull();
    await expect.poll(() => first?.endedAt, { timeout: TIMEOUT_MS / 2 }).not.toBeNull();
    await send("POST", cluster.jobsPath, { ...(suspendedJob("two", { suspend: false }) as object) });
    await cluster.kubelet.until((begun) => begun.length === 2);
    const second = cluster.kubelet.begun[1];
    await send("DELETE", jobPath("two"), { propagationPolicy: "Foreground" });
    await expect.poll(() => isThere("two"), { interval: 5, timeout: TIMEOUT_MS / 2 }).toBe(false);
    expect(second?.endedAt).not.toBeNull();
  });

  test("tries again by itself when its pod fails, unless its template says that it may not", {
    timeout: TIMEOUT_MS,
  }, async () => {
    cluster.kubelet.runOf = () => ({ ms: 0, isSuccess: false });
    const started = (name: string, more: Readonly<Record<string, unknown>>): Promise<unknown> =>
      send("POST", cluster.jobsPath, suspendedJob(name, { suspend: false, ...more }));
    await started("once", { backoffLimit: 0 });
    const ends = async (): Promise<readonly unknown[]> => {
      const { status } = await send<Job>("GET", jobPath("once"));
      return (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason}`);
    };
    await expect.poll(ends, { timeout: TIMEOUT_MS / 2 }).toContain("Failed True BackoffLimitExceeded");
    await started("again", {});
    await cluster.kubelet.until((begun) => begun.filter(({ job }) => job === "again").length === 2);
    expect(cluster.kubelet.begun.filter(({ job }) => job === "once")).toHaveLength(1);
  });

  test("a dry run refuses what cannot be, and makes nothing", async () => {
    const attempt = (more: Readonly<Record<string, unknown>>) =>
      send<Job>("POST", cluster.jobsPath, suspendedJob("dry", more), { dryRun: "All", fieldValidation: "Strict" });
    expect((await refusal(attempt({ backofLimit: 3 }))).message).toContain('unknown field "spec.backofLimit"');
    expect((await refusal(attempt({ backoffLimit: -1 }))).message).toContain("must be greater than or equal to 0");
    expect((await attempt({})).spec.suspend).toBe(true);
    expect(await refusal(send("GET", jobPath("dry")))).toMatchObject({ status: 404, reason: "NotFound" });
  });
});

describe("refusals", () => {
  test("a right that is missing names who, verb and resource; an admission rule does not", async () => {
    const stranger = await cluster.stranger();
    try {
      const request = { method: "GET", path: cluster.jobsPath, operation: "list jobs.batch" } as const;
      const { status, reason, message } = await refusal(stranger.send(request));
      expect([status, reason]).toEqual([403, "Forbidden"]);
      expect(message).toMatch(/^jobs(\.batch)? is forbidden: User "[^"]+" cannot list resource "jobs"/);
    } finally {
      stranger.close();
    }
  });

  test("a watch from a version that nobody has any more is told 410", { timeout: TIMEOUT_MS }, async () => {
    await send("POST", cluster.jobsPath, suspendedJob("gate"));
    cluster.server?.restart();
    const query = { watch: 1, resourceVersion: 1 };
    const request = { method: "GET", path: cluster.jobsPath, query, operation: "watch jobs" } as const;
    // As an answer, or as the first line of one.
    const told = cluster.client.stream(request, new AbortController().signal, (line) => {
      const { object } = JSON.parse(line) as { readonly object: { readonly code?: number } };
      throw new ApiFailure({ status: object.code ?? 0, reason: "", message: "", retryAfterMs: null }, "watch jobs");
    });
    expect(await refusal(told)).toMatchObject({ status: 410 });
  });

  test.runIf(REAL_KUBECONFIG !== undefined)(
    "KRON_TEST_KUBECONFIG: a quota and a namespace that ends refuse in words of their own",
    { timeout: TIMEOUT_MS },
    async () => {
      const { namespace } = cluster;
      await send("POST", `/api/v1/namespaces/${namespace}/resourcequotas`, {
        metadata: { name: "none" },
        spec: { hard: { "count/jobs.batch": "0" } },
      });
      const made = (): Promise<unknown> => send("POST", cluster.jobsPath, suspendedJob("gate"));
      await expect.poll(async () => (await refusal(made())).message).toContain("exceeded quota: none");
      await cluster.delete(`/api/v1/namespaces/${namespace}`);
      await expect
        .poll(async () => (await refusal(made())).message)
        .toContain(`namespace ${namespace} because it is being terminated`);
    },
  );
});

describe("lists and watches", () => {
  test("a list comes in pages, and all of them together are complete", async () => {
    for (let n = 0; n < 5; n++) await send("POST", cluster.jobsPath, suspendedJob(`page-${n}`));
    const names: string[] = [];
    let next: string | undefined;
    do {
      const query: Query = { limit: 2, ...(next === undefined ? {} : { continue: next }) };
      const page = await send<{
        readonly metadata: { readonly continue?: string };
        readonly items: readonly KubeObject[];
      }>("GET", cluster.jobsPath, undefined, query);
      names.push(...page.items.map(({ metadata }) => metadata.name));
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
    expect(names.sort()).toEqual(["page-0", "page-1", "page-2", "page-3", "page-4"]);
  });

  test("a watch that begins with a list says where the list ends", { timeout: TIMEOUT_MS }, async () => {
    await send("POST", cluster.jobsPath, suspendedJob("first"));
    const seen: string[] = [];
    const stop = new AbortController();
    const query = {
      watch: 1,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
    };
    const request = { method: "GET", path: cluster.jobsPath, query, operation: "watch jobs" } as const;
    const ended = cluster.client.stream(request, stop.signal, (line) => {
      const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: KubeObject };
      const isEnd = object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
      seen.push(isEnd ? "end" : `${type} ${object.metadata.name}`);
      if (isEnd) stop.abort();
    });
    await ended.catch(() => undefined);
    expect(seen).toContain("ADDED first");
    expect(seen.at(-1)).toBe("end");
  });
});

/** Refused by the CRD, with words that help. Only a real API server can judge; that the words are there, everybody. */
const CEL: readonly (readonly [name: string, spec: Readonly<Record<string, unknown>>, message: string])[] = [
  [
    "a zone inside of the schedule",
    { schedule: "TZ=UTC 0 * * * *" },
    "do not belong in a schedule: write spec.timezone",
  ],
  ["six fields", { schedule: "0 0 * * * *" }, "a schedule has five fields"],
  ["an unknown zone", { timezone: "Europe/Berln" }, "not a time zone of the IANA database"],
  ["the zone of whoever reads", { timezone: "Local" }, "Local is the zone of whoever reads it"],
  ["two zones", { timezone: "Europe/Berlin", timeZone: "Europe/Paris" }, "timezone and timeZone disagree"],
  [
    "two policies",
    { concurrencyPolicy: "Replace", policy: { concurrency: "allow" } },
    "concurrencyPolicy and policy.concurrency disagree",
  ],
  ["two deadlines", { startingDeadlineSeconds: 5, policy: { deadline: "1m" } }, "exclude each other"],
  ["a window of more than 31 days", { window: { duration: "745h" } }, "a window is at most 744h (31 days)"],
  ["a window of half a second", { window: { duration: "500ms" } }, "a window lasts whole seconds"],
  [
    "a parameter of another distribution",
    { distribution: { name: "normal", params: { shape: 2 } } },
    "shape belongs to skewEarly and skewLate",
  ],
  ["a clause that is none", { constraints: { only: ["weekdays"] } }, "a clause is kind=value"],
  [
    "a bound that goes with allow only",
    { policy: { concurrency: "forbid", maxActive: 2 } },
    "maxActive goes with concurrency: allow",
  ],
  ["a deadline of more than a year", { policy: { deadline: "9000h" } }, "a deadline is at most 8784h (366 days)"],
];

test("a Job template as kubectl writes those of CronJobs is accepted, to the letter", async () => {
  const jobTemplate = { ...POD_TEMPLATE, metadata: { name: "gen", creationTimestamp: null, labels: { app: "gen" } } };
  const kind = { apiVersion: "kron.io/v1alpha1", kind: "KronJob" };
  const body = { ...kind, metadata: { name: "written" }, spec: { schedule: "0 3 * * *", suspend: true, jobTemplate } };
  const made = await send<KronJob>("POST", cluster.kronJobsPath, body, { fieldValidation: "Strict" });
  expect(made.spec.jobTemplate.metadata?.labels).toEqual({ app: "gen" });
});

describe("what the CRD itself refuses", () => {
  test.each(CEL)("%s: the words are in the CRD", (_name, _spec, message) => {
    expect(fs.readFileSync("deploy/operator/crd.yaml", "utf8")).toContain(message);
  });

  test.runIf(REAL_KUBECONFIG !== undefined).each(CEL)(
    "KRON_TEST_KUBECONFIG: %s is refused",
    async (_name, spec, message) => {
      expect(await refusal(cluster.create("refused", spec))).toMatchObject({
        status: 422,
        message: expect.stringContaining(message),
      });
    },
  );
});
