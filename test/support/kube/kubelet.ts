/**
 * A pretended kubelet, and the witness: every pod that begins is written down, and ends after a while. It speaks to the
 * API server like any client, so that it serves a real cluster without nodes as well as the double.
 */
import type { Clock } from "../../../src/actors/clock.js";
import type { KubeClient } from "../../../src/operator/kube/client.js";
import { ApiFailure } from "../../../src/operator/kube/failure.js";
import type { KubeObject } from "../../../src/operator/kube/types.js";
import { Watch } from "../../../src/operator/kube/watch.js";

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** A pod that began, by the period it says it runs for. */
export interface Begun {
  readonly namespace: string;
  readonly kronJob: string;
  readonly periodId: string;
  readonly job: string;
  readonly jobUid: string;
  readonly podUid: string;
  readonly at: number;
  /** null: it has not ended. */
  endedAt: number | null;
}

/** Of real time. */
const RETRY_MS = { first: 20, longest: 1_000 } as const;

export class Kubelet {
  readonly begun: Begun[] = [];
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #node: string;
  readonly #taken = new Set<string>();
  readonly #byUid = new Map<string, Begun>();
  readonly #watch: Watch<Pod>;
  #waiting: (() => void)[] = [];
  #isStopped = false;
  /** How long a pod runs, and whether it succeeds. */
  runOf: (pod: Begun) => { readonly ms: number; readonly isSuccess: boolean } = () => ({ ms: 0, isSuccess: true });
  /** How long a pod takes to stop when it is told to. */
  stopMs = 0;

  /** `node`: what its pods are bound to. */
  constructor(client: KubeClient, clock: Clock, namespace: string | null, node: string) {
    this.#client = client;
    this.#node = node;
    this.#clock = clock;
    const path = namespace === null ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
    const nothing = (): void => undefined;
    const handler = {
      begin: nothing,
      end: nothing,
      gone: nothing,
      trouble: nothing,
      put: (pod: Pod) => this.#seen(pod),
    };
    this.#watch = new Watch<Pod>(client, { path, resource: "pods" }, handler, clock, () => 0.5);
  }

  start(): void {
    void this.#watch.run().catch(() => undefined);
  }

  stop(): void {
    this.#isStopped = true;
    this.#watch.stop();
  }

  /** Until the witness has seen so many pods that fit. */
  async until(isEnough: (begun: readonly Begun[]) => boolean): Promise<void> {
    while (!isEnough(this.begun)) await new Promise<void>((done) => this.#waiting.push(done));
  }

  #seen(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      if (this.#taken.has(`${uid} stop`)) return;
      this.#taken.add(`${uid} stop`);
      this.#clock.after(this.stopMs, () => void this.#remove(pod));
    } else if ((pod.status?.phase ?? "Pending") === "Pending" && !this.#taken.has(uid)) {
      this.#taken.add(uid);
      void this.#begin(pod);
    }
  }

  async #begin(pod: Pod): Promise<void> {
    const { namespace, uid, labels, annotations, ownerReferences } = pod.metadata;
    const jobName = ownerReferences?.[0]?.name ?? "";
    // Bound first: a pod without a node is removed at once, and nothing could be said about overlaps.
    if (!(await this.#insist(() => this.#bind(pod)))) return;
    const begun: Begun = {
      namespace,
      kronJob: labels?.["kron.io/name"] ?? jobName.replace(/-[0-9a-f]{10}$/, ""),
      periodId: annotations?.["kron.io/period-id"] ?? "",
      job: jobName,
      jobUid: ownerReferences?.[0]?.uid ?? "",
      podUid: uid,
      at: this.#clock.now(),
      endedAt: null,
    };
    this.begun.push(begun);
    this.#byUid.set(uid, begun);
    for (const waiting of this.#waiting.splice(0)) waiting();
    await this.#insist(() => this.#setPhase(pod, "Running"));
    const { ms, isSuccess } = this.runOf(begun);
    this.#clock.after(ms, () => {
      this.#ended(uid);
      void this.#insist(() => this.#setPhase(pod, isSuccess ? "Succeeded" : "Failed"));
    });
  }

  #ended(uid: string): void {
    const begun = this.#byUid.get(uid);
    if (begun !== undefined) begun.endedAt ??= this.#clock.now();
  }

  async #bind({ metadata: { namespace, name, uid } }: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
    const target = { apiVersion: "v1", kind: "Node", name: this.#node };
    const body = { apiVersion: "v1", kind: "Binding", metadata: { name, uid }, target };
    await this.#client.send({ method: "POST", path, body, operation: "create pods/binding" });
  }

  async #setPhase({ metadata: { namespace, name } }: Pod, phase: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await this.#client.send({ method: "PATCH", path, body: { status: { phase } }, operation: "patch pods/status" });
  }

  async #remove({ metadata: { namespace, name, uid } }: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    this.#ended(uid);
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    await this.#insist(() => this.#client.send({ method: "DELETE", path, body, operation: "delete pods" }));
  }

  /** Through restarts of the API server, however long they take. False: the pod is gone, and needs nothing any more. */
  async #insist(attempt: () => Promise<unknown>): Promise<boolean> {
    for (let delayMs: number = RETRY_MS.first; !this.#isStopped; delayMs = Math.min(delayMs * 2, RETRY_MS.longest)) {
      try {
        await attempt();
        return true;
      } catch (error) {
        const answer = error instanceof ApiFailure ? error.answer : null;
        if (answer?.status === 404) return false;
        if (answer?.status === 409) return !answer.message.includes("is being deleted");
        await new Promise((done) => setTimeout(done, delayMs));
      }
    }
    return false;
  }
}
