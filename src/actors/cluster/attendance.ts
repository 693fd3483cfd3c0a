/** Who looks after a job now, this node too. A shard on its way from one node to another is waited for. */
import { KronError } from "../../core/base/errors/kron-error.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { ANY_POOL, type ClusterMember, type Shard, type ShardHolder } from "../../persist/cluster.js";
import type { Clock } from "../clock.js";
import type { HeldShard } from "./held-shard.js";
import { type Membership, nameOf } from "./membership.js";

/** How long a job may be without anybody who looks after it, before whoever asks is told so: its shard may be on its way. */
const UNATTENDED_MS = 5 * SECOND_MS;
const LOOK_AGAIN_MS = 100;

interface AttendancePorts {
  readonly member: Pick<ClusterMember, "node" | "session" | "shardOf" | "holderOf">;
  readonly membership: Pick<Membership, "shard">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
}

/** What came of asking once: null: nobody could be asked; `silent`: whoever was asked did not answer, and may be asked again. */
type Asked<T> = { readonly value: T } | "silent" | null;

export class Attendance {
  readonly #ports: AttendancePorts;

  constructor(ports: AttendancePorts) {
    this.#ports = ports;
  }

  /** Here, once it is looked after; null: it is not. */
  async heldFor(shard: Shard): Promise<HeldShard | null> {
    const held = this.#ports.membership.shard(shard);
    await held?.ready;
    return held?.supervisor == null ? null : held;
  }

  holderOf(identity: string): Promise<ShardHolder> {
    const { member } = this.#ports;
    return this.until(identity, async (shard) => {
      if ((await this.heldFor(shard)) !== null) return { value: { session: member.session, node: member.node } };
      const holder = await this.otherHolderOf(shard);
      return holder === null ? null : { value: holder };
    });
  }

  /** null: nobody else has it. */
  async otherHolderOf(shard: Shard): Promise<ShardHolder | null> {
    const { member } = this.#ports;
    const holder = await member.holderOf(shard);
    return holder === null || holder.session === member.session ? null : holder;
  }

  /** Asks until there is somebody who is asked, wherever the job is by then. */
  async until<T>(identity: string, ask: (shard: Shard) => Promise<Asked<T>>): Promise<T> {
    const { clock, member } = this.#ports;
    let fromMs = clock.monotonicMs();
    let wasAsked = false;
    for (;;) {
      const shard = await member.shardOf(identity);
      const asked = await ask(shard);
      if (asked === "silent") {
        // Whoever was asked in vain is dead, or will be told so: then its shards are on their way.
        [wasAsked, fromMs] = [true, clock.monotonicMs()];
      } else if (asked !== null) return asked.value;
      if (clock.monotonicMs() - fromMs >= UNATTENDED_MS) {
        throw wasAsked ? unknown(identity, shard) : unattended(identity, shard);
      }
      await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
    }
  }
}

/** Whoever was asked may have done it before it went. */
function unknown(identity: string, shard: Shard): KronError {
  const message = `whoever looked after ${identity} (shard ${nameOf(shard)}) did not answer, and nobody else does now: whether it was done is not known`;
  return new KronError("node-silent", message, { component: "scheduler", operation: "ask", identity });
}

function unattended(identity: string, shard: Shard): KronError {
  const why =
    shard.pool === ANY_POOL ? "its shard is on its way to another node" : `no node serves the pool ${shard.pool}`;
  const message = `no node looks after ${identity} now (shard ${nameOf(shard)}): ${why}; 'kron node list' shows who serves what`;
  return new KronError("job-unattended", message, { component: "scheduler", operation: "ask", identity });
}
