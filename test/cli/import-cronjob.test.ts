import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { KRON } from "../../src/cli/commands/index.js";
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

  test("a file without CronJobs says how to get some", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["import", "cronjob", "-"], { input: "kind: ConfigMap\n" });
    expect(exitCode).toBe(2);
    expect(err).toContain("holds no CronJob");
  });
});
