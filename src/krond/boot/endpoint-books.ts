/** What the daemon keeps of endpoints beside their jobs: how they have been doing, what tenants have used, and the key of secrets. */
import type { Clock } from "../../actors/clock.js";
import { SharedQuotas } from "../../actors/cluster/shared-quotas.js";
import { LazySecretBox, type Sealer, secretBoxIn } from "../../actors/dispatcher/seal.js";
import type { Environment } from "../../actors/dispatcher/secrets.js";
import { HealthBook } from "../../actors/endpoints/health-book.js";
import { QuotaBook } from "../../actors/endpoints/quota-book.js";
import { WorkerDesk } from "../../actors/workers/desk.js";
import type { LockTerm } from "../../persist/lock.js";
import type { ObjectWrite, StateStore } from "../../persist/store.js";
import type { Shared } from "./shared.js";

export interface EndpointBooks {
  readonly health: HealthBook;
  readonly quotas: QuotaBook;
  readonly workers: WorkerDesk;
  readonly secrets: Sealer;
  /** What was counted and not written yet becomes durable. */
  close(): Promise<void>;
}

interface Place {
  readonly clock: Clock;
  readonly store: StateStore;
  readonly term: LockTerm;
  readonly stateDirectory: string;
  readonly env: Environment;
  /** null: it has the store for itself. */
  readonly shared: Pick<Shared, "member" | "turns" | "secrets"> | null;
  onFailure(error: unknown): void;
}

export function endpointBooks({ clock, store, term, stateDirectory, env, shared, onFailure }: Place): EndpointBooks {
  const write = async (objects: readonly ObjectWrite[]): Promise<void> => {
    await store.commit(term, { objects });
  };
  const ports = { clock, reader: store, write, onFailure };
  const keeper = shared === null ? [] : ([new SharedQuotas({ ...shared, reader: store, write })] as const);
  const [health, quotas] = [new HealthBook(ports), new QuotaBook(ports, ...keeper)];
  const close = async (): Promise<void> => {
    await health.close();
    await quotas.close();
  };
  const secrets = shared?.secrets ?? new LazySecretBox(() => secretBoxIn(stateDirectory));
  const workers = new WorkerDesk({ clock, env, unseal: (sealed) => secrets.unseal(sealed) });
  return { health, quotas, workers, secrets, close };
}
