/**
 * Which of several operators acts first. Nothing depends on it: the status patch decides who claims, the Lease only keeps
 * the others from trying in vain. So it is short, judged by our own clock alone, and one that cannot be renewed changes
 * nothing for the one who has it.
 */
import type { Clock } from "../actors/clock.js";
import { type EpochMs, parseInstant, SECOND_MS } from "../core/time/instant.js";
import type { KubeClient } from "./kube/client.js";
import { ApiFailure } from "./kube/failure.js";
import type { Lease } from "./kube/types.js";

export const LEASE_TIMES = { durationMs: 6 * SECOND_MS, renewMs: 2 * SECOND_MS } as const;

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  readonly holder: string;
}

export interface LeaseListener {
  changed(isFirst: boolean): void;
  /** Told once, when it is first read: when somebody was last seen to act first. */
  found(lastSignAt: EpochMs): void;
  /** It could be neither read nor renewed. Whoever acts first goes on, the others act a little later. */
  trouble(error: unknown): void;
}

export class LeaseHolder {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #options: LeaseOptions;
  readonly #listener: LeaseListener;
  #seen: { readonly version: string; readonly atMs: number } | null = null;
  #isFirst = false;
  #isStopped = false;
  #isFound = false;
  #attempting: Promise<void> = Promise.resolve();

  constructor(client: KubeClient, clock: Clock, options: LeaseOptions, listener: LeaseListener) {
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
    this.#listener = listener;
  }

  get isFirst(): boolean {
    return this.#isFirst;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#attempting = this.#attempt();
    void this.#attempting.then(() => {
      if (!this.#isStopped) this.#clock.after(LEASE_TIMES.renewMs, () => this.start());
    });
  }

  halt(): void {
    this.#isStopped = true;
  }

  /** Given back, so that the next one need not wait for it to run out. */
  async stop(): Promise<void> {
    this.halt();
    await this.#attempting;
    if (!this.#isFirst) return;
    const version = this.#seen?.version;
    const body = { metadata: { resourceVersion: version }, spec: { holderIdentity: "", leaseDurationSeconds: 1 } };
    await this.#client
      .send({
        method: "PATCH",
        path: this.#path(),
        body,
        operation: "patch leases.coordination.k8s.io",
        namespace: this.#options.namespace,
      })
      .catch(() => undefined);
  }

  async #attempt(): Promise<void> {
    try {
      const lease = await this.#read();
      this.#find(lease);
      if (lease === null) this.#took(await this.#create());
      else if (this.#mayTake(lease)) this.#took(await this.#renew(lease));
      else this.#set(false);
    } catch (error) {
      // Somebody was quicker. Of anything else nothing follows: whoever acts first goes on doing so.
      if (error instanceof ApiFailure && error.isConflict) this.#set(false);
      else if (!this.#isStopped) this.#listener.trouble(error);
    }
  }

  #find(lease: Lease | null): void {
    const renewed = this.#isFound ? null : parseInstant(lease?.spec?.renewTime ?? "");
    this.#isFound = true;
    if (renewed?.ok === true) this.#listener.found(renewed.value);
  }

  /** Ours, given back, or not renewed for as long as it lasts while we watched. */
  #mayTake({ metadata, spec }: Lease): boolean {
    const nowMs = this.#clock.monotonicMs();
    const holder = spec?.holderIdentity ?? "";
    if (holder === this.#options.holder || holder === "") return true;
    if (this.#seen?.version !== metadata.resourceVersion) {
      this.#seen = { version: metadata.resourceVersion, atMs: nowMs };
      return false;
    }
    return nowMs - this.#seen.atMs > LEASE_TIMES.durationMs;
  }

  #took({ metadata }: Lease): void {
    this.#seen = { version: metadata.resourceVersion, atMs: this.#clock.monotonicMs() };
    this.#set(true);
  }

  #set(isFirst: boolean): void {
    if (this.#isFirst === isFirst) return;
    this.#isFirst = isFirst;
    this.#listener.changed(isFirst);
  }

  async #read(): Promise<Lease | null> {
    try {
      return await this.#client.send<Lease>({
        method: "GET",
        path: this.#path(),
        operation: "get leases.coordination.k8s.io",
        namespace: this.#options.namespace,
      });
    } catch (error) {
      if (error instanceof ApiFailure && error.isGone) return null;
      throw error;
    }
  }

  #create(): Promise<Lease> {
    const { namespace, name, holder } = this.#options;
    const now = microTime(this.#clock.now());
    const body = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace },
      spec: { ...this.#spec(now), holderIdentity: holder, acquireTime: now, leaseTransitions: 0 },
    };
    const path = this.#path().slice(0, -name.length - 1);
    return this.#client.send<Lease>({
      method: "POST",
      path,
      body,
      operation: "create leases.coordination.k8s.io",
      namespace,
    });
  }

  #renew({ metadata, spec }: Lease): Promise<Lease> {
    const { holder } = this.#options;
    const now = microTime(this.#clock.now());
    const isNew = spec?.holderIdentity !== holder;
    const transition = isNew ? { acquireTime: now, leaseTransitions: (spec?.leaseTransitions ?? 0) + 1 } : {};
    const body = {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { ...this.#spec(now), holderIdentity: holder, ...transition },
    };
    return this.#client.send<Lease>({
      method: "PATCH",
      path: this.#path(),
      body,
      operation: "patch leases.coordination.k8s.io",
      namespace: this.#options.namespace,
    });
  }

  #spec(renewTime: string): { readonly leaseDurationSeconds: number; readonly renewTime: string } {
    return { leaseDurationSeconds: LEASE_TIMES.durationMs / SECOND_MS, renewTime };
  }

  #path(): string {
    const { namespace, name } = this.#options;
    return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
  }
}

/** Six decimals, or it is refused. */
function microTime(at: EpochMs): string {
  return new Date(at).toISOString().replace("Z", "000Z");
}
