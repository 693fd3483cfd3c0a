/** KronJobs as an API server would hand them out, defaults filled in. */
import { parseInstant } from "../../../src/core/time/instant.js";
import type { KronJob, KronJobSpec } from "../../../src/operator/kube/types.js";

export const TEMPLATE: KronJobSpec["jobTemplate"] = {
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } } },
};

export interface SampleOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly createdAt?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly generation?: number;
}

export function kronJob(spec: Partial<KronJobSpec> = {}, options: SampleOptions = {}): KronJob {
  const { name = "report", namespace = "team", uid = "uid-1", createdAt = "2026-03-01T00:00:30Z" } = options;
  return {
    apiVersion: "kron.io/v1alpha1",
    kind: "KronJob",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: "1",
      generation: options.generation ?? 1,
      creationTimestamp: createdAt,
      ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
    },
    spec: { schedule: "*/5 * * * *", jobTemplate: TEMPLATE, ...spec },
  };
}

export function at(text: string): number {
  const instant = parseInstant(text);
  if (!instant.ok) throw new Error(`${text} is no instant`);
  return instant.value;
}
