/**
 * What people are to be told goes with the jobs: whoever takes a shard up goes on with what is on record of its jobs, and
 * whoever gives it up brings nothing of theirs any more.
 */
import { type Messenger, noticesIn } from "../../actors/messenger/messenger.js";
import type { Notices } from "../../actors/messenger/notices.js";
import type { ClusterMember, Shard } from "../../persist/cluster.js";
import type { Note, StateReader } from "../../persist/store.js";

/** Jobs that are asked for together. */
const AT_ONCE = 64;

interface SharedNoticesPorts {
  readonly member: Pick<ClusterMember, "shardOf">;
  readonly store: Pick<StateReader, "notes">;
  readonly notices: Pick<Notices, "load" | "leave" | "identities">;
  readonly messenger: Pick<Messenger, "take" | "leave" | "identities">;
}

export class SharedNotices {
  readonly #ports: SharedNoticesPorts;

  constructor(ports: SharedNoticesPorts) {
    this.#ports = ports;
  }

  async take(shards: readonly Shard[]): Promise<void> {
    const { messenger, notices, store } = this.#ports;
    const notes = await store.notes();
    const ours = await this.#in(shards, notes.flatMap(identitiesOf));
    const mine = notes.filter((note) => identitiesOf(note).some((identity) => ours.has(identity)));
    notices.load(mine);
    messenger.take(noticesIn(mine));
  }

  async leave(shards: readonly Shard[]): Promise<void> {
    const { messenger, notices } = this.#ports;
    const left = await this.#in(shards, [...notices.identities(), ...messenger.identities()]);
    notices.leave(left);
    messenger.leave(left);
  }

  async #in(shards: readonly Shard[], identities: readonly string[]): Promise<ReadonlySet<string>> {
    const names = new Set(shards.map(({ pool, number }) => `${pool}/${number}`));
    const found = new Set<string>();
    const all = [...new Set(identities)];
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const looked = all.slice(from, from + AT_ONCE).map(async (identity) => {
        const { pool, number } = await this.#ports.member.shardOf(identity);
        if (names.has(`${pool}/${number}`)) found.add(identity);
      });
      await Promise.all(looked);
    }
    return found;
  }
}

/** Of a notice it stands in the message; what several are told in one is of nobody, and goes by that name. */
function identitiesOf({ text }: Note): readonly string[] {
  try {
    const { identity, message } = JSON.parse(text) as {
      readonly identity?: unknown;
      readonly message?: { readonly identity?: unknown };
    };
    const of = identity ?? message?.identity;
    return typeof of === "string" ? [of] : [];
  } catch {
    return [];
  }
}
