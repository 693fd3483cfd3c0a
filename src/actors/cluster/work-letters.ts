/** What nodes ask each other for their workers: whether runs lie there, to have some of them, and to be told how one ended. */
import { z } from "zod";
import type { EpochMs } from "../../core/time/instant.js";
import { WORK_RESULT, type Work, type WorkResult } from "../workers/work.js";
import { command, type Servable } from "./commands.js";

const MOST_HELD_MS = 30_000;
const MOST_TAKEN = 1_000;
const tenant = z.string().max(1_000);
const claimId = z.string().max(1_000);
const count = z.int().min(0);

/** What somebody at another node would be given. */
interface TakeAsked {
  readonly tenant: string;
  readonly limit: number;
  readonly bytes: number;
  /** By the time of all nodes; later whoever has asked does not wait for it any more. */
  readonly latestAt: EpochMs;
}

interface WorkTaken {
  readonly works: readonly Work[];
  /** There is more. */
  readonly isMore: boolean;
}

/** At the desk of one node. */
export interface WorkHere {
  /** Of these tenants those for whom something lies there. */
  awaitWork(tenants: readonly string[], withinMs: number): Promise<readonly string[]>;
  takeWork(asked: TakeAsked): WorkTaken;
  /** It was taken, and given to nobody. */
  layBack(tenant: string, claimIds: readonly string[]): void;
  completeWork(tenant: string, claimId: string, result: WorkResult): boolean;
}

interface HasWork {
  readonly work: WorkHere;
}

export const AWAIT_WORK = command({
  name: "work-await",
  input: z.strictObject({ tenants: z.array(tenant).max(100_000), holdMs: count.max(MOST_HELD_MS) }),
  output: z.array(tenant),
  isRepeatable: true,
  run: async (to: HasWork, asked) => [...(await to.work.awaitWork(asked.tenants, asked.holdMs))],
});

/** For a worker of ours, to whom it is given as it came. */
const work = z.custom<Work>((value) => {
  return typeof value === "object" && value !== null && "claimId" in value && typeof value.claimId === "string";
});

export const TAKE_WORK = command({
  name: "work-take",
  input: z.strictObject({ tenant, limit: z.int().min(1).max(MOST_TAKEN), bytes: count, latestAt: z.int() }),
  output: z.object({ works: z.array(work).readonly(), isMore: z.boolean() }),
  isRepeatable: false,
  run: async (to: HasWork, asked) => to.work.takeWork(asked),
});

export const LAY_BACK = command({
  name: "work-back",
  input: z.strictObject({ tenant, claimIds: z.array(claimId).max(MOST_TAKEN) }),
  output: z.literal(true),
  // Done again, it would take from somebody what he was given since.
  isRepeatable: false,
  run: async (to: HasWork, asked) => {
    to.work.layBack(asked.tenant, asked.claimIds);
    return true as const;
  },
});

export const COMPLETE_WORK = command({
  name: "work-complete",
  input: z.strictObject({ tenant, claimId, result: WORK_RESULT }),
  output: z.boolean(),
  isRepeatable: false,
  run: async (to: HasWork, asked) => to.work.completeWork(asked.tenant, asked.claimId, asked.result),
});

export const WORK_COMMANDS: readonly Servable<HasWork>[] = [AWAIT_WORK, TAKE_WORK, LAY_BACK, COMPLETE_WORK];
