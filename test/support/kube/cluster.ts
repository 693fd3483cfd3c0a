/**
 * A cluster to test against: the double, or whatever KRON_TEST_KUBECONFIG names (its CRD applied, the namespace is made
 * here). Against a real one time is real, so that a schedule of minutes takes minutes.
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { type Clock, systemClock } from "../../../src/actors/clock.js";
import { KubeClient } from "../../../src/operator/kube/client.js";
import { type ClusterConfig, loadClusterConfig } from "../../../src/operator/kube/config.js";
import { fixedCredentials } from "../../../src/operator/kube/credentials.js";
import type { Job, KronJob, KronJobSpec } from "../../../src/operator/kube/types.js";
import { Watch } from "../../../src/operator/kube/watch.js";
import type { OperatorLine } from "../../../src/operator/log-reporter.js";
import { Operator, type OperatorOptions } from "../../../src/operator/operator.js";
import { ApiServer, type ApiServerOptions } from "./api-server.js";
import { Kubelet } from "./kubelet.js";
import { ScaledClock } from "./scaled-clock.js";

const FACTOR = 60;
const START_AT = Date.UTC(2026, 2, 1, 0, 0, 20);

export const REAL_KUBECONFIG = process.env["KRON_TEST_KUBECONFIG"];

export const POD_TEMPLATE: KronJobSpec["jobTemplate"] = {
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } } },
};

export interface StartedOperator {
  readonly operator: Operator;
  readonly lines: OperatorLine[];
}

export class TestCluster {
  readonly clock: Clock;
  /** null: a real one. */
  readonly server: ApiServer | null;
  readonly client: KubeClient;
  readonly kubelet: Kubelet;
  readonly namespace: string;
  readonly config: ClusterConfig;
  /** Every version of every KronJob that the watch told of, the ledger of the test. */
  readonly versions: KronJob[] = [];
  readonly #kronJobs = new Map<string, KronJob>();
  readonly #watch: Watch<KronJob>;
  readonly #operators: Operator[] = [];
  #waiting: (() => void)[] = [];

  private constructor(clock: Clock, server: ApiServer | null, config: ClusterConfig) {
    this.clock = clock;
    this.server = server;
    this.config = config;
    this.client = new KubeClient(config);
    this.namespace = `kron-test-${randomUUID().slice(0, 8)}`;
    this.kubelet = new Kubelet(this.client, clock, this.namespace, this.namespace);
    const nothing = (): void => undefined;
    const put = (kronJob: KronJob): void => {
      if (server === null) this.versions.push(kronJob);
      this.#kronJobs.set(kronJob.metadata.name, kronJob);
      for (const waiting of this.#waiting.splice(0)) waiting();
    };
    const gone = ({ metadata }: KronJob): void => void this.#kronJobs.delete(metadata.name);
    // A list that is read anew leaves out what was in between; the double tells every version.
    server?.store.listeners.add(({ resource, type, object }) => {
      if (resource === "kronjobs" && type !== "DELETED") this.versions.push(object as unknown as KronJob);
    });
    const target = { path: this.kronJobsPath, resource: "kronjobs" };
    this.#watch = new Watch<KronJob>(
      this.client,
      target,
      { begin: nothing, end: nothing, put, gone, trouble: nothing },
      clock,
      () => 0.5,
    );
  }

  static async open(options: ApiServerOptions = {}): Promise<TestCluster> {
    if (REAL_KUBECONFIG !== undefined) {
      const real = new TestCluster(systemClock, null, loadClusterConfig({ kubeconfig: REAL_KUBECONFIG }, process.env));
      const body = { metadata: { name: real.namespace } };
      await real.client.send({ method: "POST", path: "/api/v1/namespaces", body, operation: "create namespaces" });
      await real.#pretendNode();
      real.#begin();
      return real;
    }
    return TestCluster.openDouble(options);
  }

  /** With what only the double can do: faults, jumps, a clock that runs fast. */
  static async openDouble(options: ApiServerOptions = {}): Promise<TestCluster> {
    const clock = options.clock ?? new ScaledClock(FACTOR, START_AT);
    const server = new ApiServer({ bookmarkMs: 200, ...options, clock });
    await server.listen();
    const double = new TestCluster(clock, server, configOf(server));
    double.#begin();
    return double;
  }

  /** Pods that are bound to a node that does not exist are collected; one that nobody else's pods come to does no harm. */
  async #pretendNode(): Promise<void> {
    const taints = [{ key: "kron.io/pretended", effect: "NoSchedule" }];
    const body = { metadata: { name: this.namespace }, spec: { taints } };
    await this.client.send({ method: "POST", path: "/api/v1/nodes", body, operation: "create nodes" });
  }

  #begin(): void {
    this.kubelet.start();
    void this.#watch.run().catch(() => undefined);
  }

  get kronJobsPath(): string {
    return `/apis/kron.io/v1alpha1/namespaces/${this.namespace}/kronjobs`;
  }

  get jobsPath(): string {
    return `/apis/batch/v1/namespaces/${this.namespace}/jobs`;
  }

  /** Always acts at once unless it gets a Lease to compete for. */
  async operator(options: Partial<OperatorOptions> = {}): Promise<StartedOperator> {
    const lines: OperatorLine[] = [];
    const operator = new Operator({
      config: this.config,
      clock: this.clock,
      random: () => 0.5,
      log: { daemon: (line) => void lines.push(line) },
      metrics: null,
      namespaces: [this.namespace],
      holder: `holder-${this.#operators.length}`,
      lease: null,
      standbyMs: 2_000,
      tzVersion: "test",
      ...options,
    });
    this.#operators.push(operator);
    await operator.start();
    return { operator, lines };
  }

  /** Somebody without any rights. */
  async stranger(): Promise<KubeClient> {
    const authorization = `Bearer ${this.server === null ? await this.#strangersToken() : "stranger"}`;
    const { server } = this;
    if (server !== null) server.mayDo = (call) => call.authorization !== authorization;
    return new KubeClient({ ...this.config, credentials: fixedCredentials({ authorization, cert: null, key: null }) });
  }

  /** Of the account that every namespace gets, a moment after it was made. */
  async #strangersToken(): Promise<string> {
    const path = `/api/v1/namespaces/${this.namespace}/serviceaccounts/default/token`;
    for (let tries = 1; ; tries++) {
      try {
        const request = {
          method: "POST",
          path,
          body: { spec: {} },
          operation: "create serviceaccounts/token",
        } as const;
        return (await this.client.send<{ readonly status: { readonly token: string } }>(request)).status.token;
      } catch (error) {
        if (tries === 50) throw error;
        await new Promise((done) => setTimeout(done, 200));
      }
    }
  }

  create(
    name: string,
    spec: Partial<KronJobSpec>,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<KronJob> {
    const body = {
      apiVersion: "kron.io/v1alpha1",
      kind: "KronJob",
      metadata: { name, namespace: this.namespace, annotations },
      spec: { schedule: "* * * * *", policy: { deadline: "50s" }, jobTemplate: POD_TEMPLATE, ...spec },
    };
    return this.client.send<KronJob>({ method: "POST", path: this.kronJobsPath, body, operation: "create kronjobs" });
  }

  patch(name: string, body: unknown): Promise<KronJob> {
    const request = {
      method: "PATCH",
      path: `${this.kronJobsPath}/${name}`,
      body,
      operation: "patch kronjobs",
    } as const;
    return this.client.send<KronJob>(request);
  }

  delete(path: string, body: unknown = {}): Promise<unknown> {
    return this.client.send({ method: "DELETE", path, body, operation: "delete" });
  }

  async jobs(): Promise<readonly Job[]> {
    const request = { method: "GET", path: this.jobsPath, operation: "list jobs" } as const;
    return (await this.client.send<{ readonly items: readonly Job[] }>(request)).items;
  }

  async events(): Promise<readonly { readonly reason: string; readonly message: string; readonly type: string }[]> {
    const request = {
      method: "GET",
      path: `/api/v1/namespaces/${this.namespace}/events`,
      operation: "list events",
    } as const;
    const list = await this.client.send<{ items: { reason: string; message: string; type: string }[] }>(request);
    return list.items;
  }

  /** Until a watch says so. */
  async until(name: string, isSo: (kronJob: KronJob) => boolean): Promise<KronJob> {
    for (;;) {
      const kronJob = this.#kronJobs.get(name);
      if (kronJob !== undefined && isSo(kronJob)) return kronJob;
      await new Promise<void>((done) => this.#waiting.push(done));
    }
  }

  jump(byMs: number): void {
    if (!(this.clock instanceof ScaledClock)) throw new Error("a real clock is left alone");
    this.clock.jump(byMs);
  }

  async close(): Promise<void> {
    for (const operator of this.#operators) operator.abort();
    this.kubelet.stop();
    this.#watch.stop();
    if (this.server === null) {
      await this.delete(`/api/v1/namespaces/${this.namespace}`).catch(() => undefined);
      await this.delete(`/api/v1/nodes/${this.namespace}`).catch(() => undefined);
    }
    this.client.close();
    await this.server?.close();
  }
}

export function configOf(server: ApiServer): ClusterConfig {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kron-kube-"));
  try {
    const file = path.join(folder, "kubeconfig");
    fs.writeFileSync(file, server.kubeconfig);
    return loadClusterConfig({ kubeconfig: file }, {});
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
