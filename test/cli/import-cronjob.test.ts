import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { KRON } from "../../src/cli/commands/index.js";
import { readYamlConfig } from "../../src/core/config/yaml/reader.js";
import { runCaptured } from "../support/cli.js";

const CRONJOBS = `
apiVersion: v1
kind: List
items:
  - apiVersion: batch/v1
    kind: CronJob
    metadata:
      name: report
      namespace: team
      uid: 5d1
      annotations: { kubectl.kubernetes.io/last-applied-configuration: "{}", owner: me }
    spec:
      schedule: "CRON_TZ=Europe/Berlin 0 3 * * *"
      successfulJobsHistoryLimit: 5
      jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: main, image: busybox }] } } } }
    status: { lastScheduleTime: "2026-03-01T00:00:00Z" }
  - apiVersion: batch/v1
    kind: CronJob
    metadata: { name: never }
    spec:
      schedule: "0 0 30 2 *"
      timeZone: Etc/UTC
      concurrencyPolicy: Forbid
      startingDeadlineSeconds: 100
      jobTemplate: { spec: { template: { spec: { containers: [] } } } }
`;

describe("kron import cronjob", () => {
  test("a CronJob becomes a KronJob; what is not the same is said, what cannot be taken over exits 2", async () => {
    const { exitCode, out, err } = await runCaptured(KRON, ["import", "cronjob", "-"], { input: CRONJOBS });
    const made = parseAllDocuments(out).map((document) => document.toJSON());
    expect(made).toEqual([
      {
        apiVersion: "kron.io/v1alpha1",
        kind: "KronJob",
        metadata: { name: "report", namespace: "team", annotations: { owner: "me" } },
        spec: {
          schedule: "0 3 * * *",
          timezone: "Europe/Berlin",
          policy: { deadline: "1h" },
          concurrencyPolicy: "Allow",
          successfulJobsHistoryLimit: 5,
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } } },
          },
        },
      },
    ]);
    expect(err).toContain("report: policy.deadline: 1h, written out");
    expect(err).toContain("report: concurrencyPolicy: Allow, written out");
    expect(err).toContain("report: the zone in the schedule became spec.timezone");
    expect(err).toContain("never: error: spec.schedule: ");
    expect(err).toContain("1 of 2 CronJobs taken over");
    expect(exitCode).toBe(2);
  });

  test("what kubectl fills in is left out: it would only be carried along", async () => {
    const filled = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: gen, creationTimestamp: null }
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    metadata: { name: gen, creationTimestamp: null }
    spec:
      backoffLimit: 1
      template:
        metadata: { creationTimestamp: null, labels: { app: gen } }
        spec: { restartPolicy: Never, containers: [{ name: gen, image: busybox }] }
status: {}
`;
    const { exitCode, out } = await runCaptured(KRON, ["import", "cronjob", "-"], { input: filled });
    expect(exitCode).toBe(0);
    const [made] = parseAllDocuments(out).map((document) => document.toJSON());
    expect(made.metadata).toEqual({ name: "gen" });
    expect(made.spec.jobTemplate).toEqual({
      spec: {
        backoffLimit: 1,
        template: {
          metadata: { labels: { app: "gen" } },
          spec: { restartPolicy: "Never", containers: [{ name: "gen", image: "busybox" }] },
        },
      },
    });
  });

  test("a file without CronJobs says how to get some", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["import", "cronjob", "-"], { input: "kind: ConfigMap\n" });
    expect(exitCode).toBe(2);
    expect(err).toContain("holds no CronJob");
  });
});

const FOR_A_HOST = `
kind: CronJob
metadata: { name: report, namespace: team }
spec:
  schedule: "CRON_TZ=Europe/Berlin 0 3 * * *"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 300
  suspend: true
  jobTemplate:
    spec:
      backoffLimit: 0
      activeDeadlineSeconds: 90
      template:
        spec:
          serviceAccountName: reporter
          containers:
            - name: main
              image: reports:1
              command: [/usr/bin/report, --all]
              args: ["--to=$(MODE)", "$$(HOME)"]
              workingDir: /srv
              securityContext: { runAsUser: 1000 }
              env: [{ name: MODE, value: prod }]
---
kind: CronJob
metadata: { name: hard }
spec:
  schedule: "@daily"
  jobTemplate:
    spec:
      template:
        spec:
          initContainers: [{ name: first, image: a }]
          containers:
            - { name: main, image: b, env: [{ name: KEY, valueFrom: { secretKeyRef: { name: s, key: k } } }] }
`;

describe("kron import cronjob --as krond", () => {
  test("a command that a host can run becomes a job; what only a cluster gives is told, or is an error", async () => {
    const { exitCode, out, err } = await runCaptured(KRON, ["import", "cronjob", "-", "--as", "krond"], {
      input: FOR_A_HOST,
    });
    expect(exitCode).toBe(2);
    const { jobs, problems } = readYamlConfig("jobs.yaml", out);
    expect(problems).toEqual([]);
    expect(jobs.map(({ definition }) => definition)).toMatchObject([
      {
        identity: "team/report",
        schedule: "0 3 * * *",
        timezone: "Europe/Berlin",
        policy: { concurrency: "forbid", deadlineMs: 300_000, suspend: true },
        target: {
          argv: ["/usr/bin/report", "--all", "--to=prod", "$(HOME)"],
          user: "1000",
          cwd: "/srv",
          env: { MODE: "prod" },
          timeoutMs: 90_000,
        },
      },
    ]);
    expect(err).toBe(`report: the zone in the schedule became timezone
report: runs on this host, not in reports:1: the command has to be there
report: serviceAccountName: left out, a cluster gives it
hard: error: initContainers: nothing runs before the command
hard: error: the command is the image's own (b): write it into the CronJob first
hard: error: env KEY: its value comes from the cluster
hard: no timeZone: the schedule is read in UTC, a CronJob's in the zone of the controller manager
hard: runs on this host, not in b: the command has to be there
hard: policy.deadline: 1h: a CronJob without a bound has no counterpart
hard: backoffLimit: becomes retry, never into the next period
1 of 2 CronJobs taken over as jobs of krond
`);
  });

  test.each<readonly [string, unknown, string]>([
    ["", { limit: 6, backoffMs: 10_000, maxBackoffMs: 360_000, on: ["exit"] }, "becomes retry, never"],
    ["backoffLimit: 2", { limit: 2 }, "becomes retry, never"],
    ["backoffLimit: 50", { limit: 20 }, "becomes retry, 20 times instead of 50, never"],
  ])("a Job is tried again, and so is the job: %s", async (field, retry, note) => {
    const input = FOR_A_HOST.split("---")[0]?.replace("backoffLimit: 0", field) ?? "";
    const { out, err } = await runCaptured(KRON, ["import", "cronjob", "-", "--as", "krond"], { input });
    const [made] = readYamlConfig("jobs.yaml", out).jobs;
    expect(made?.definition.policy).toMatchObject({ retry });
    expect(err).toContain(`report: backoffLimit: ${note} into the next period`);
  });

  test("anything else to become is refused", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["import", "cronjob", "-", "--as", "cron"], {
      input: FOR_A_HOST,
    });
    expect([exitCode, err]).toEqual([1, expect.stringContaining('--as: "cron" is neither kronjob nor krond')]);
  });
});
