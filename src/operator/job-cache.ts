/** The Jobs of all KronJobs, as rows: what a watch says of them, which may be a little late. */
import { isSameView, type JobView, type Tombstone } from "./job-view.js";

/** How Jobs ended that are gone: their KronJobs are about to ask. */
const TOMBSTONES = 10_000;
const NO_JOBS: ReadonlyMap<string, JobView> = new Map();

/** Whose KronJob has to be looked at, because something about one of its Jobs changed. */
type OwnerUid = string;

/** What one watch looks after: a namespace; null: all of them. */
export type Scope = string | null;

export function isIn(scope: Scope, { namespace }: { readonly namespace: string }): boolean {
  return scope === null || scope === namespace;
}

export class JobCache {
  readonly #byUid = new Map<string, JobView>();
  readonly #byOwner = new Map<OwnerUid, Map<string, JobView>>();
  readonly tombstones = new Map<string, Tombstone>();
  readonly #listed = new Map<Scope, Set<string>>();

  get size(): number {
    return this.#byUid.size;
  }

  of(owner: OwnerUid): ReadonlyMap<string, JobView> {
    return this.#byOwner.get(owner) ?? NO_JOBS;
  }

  beginList(scope: Scope): void {
    this.#listed.set(scope, new Set());
  }

  /** What was not listed is gone, and nobody saw how it ended. */
  endList(scope: Scope): readonly JobView[] {
    const listed = this.#listed.get(scope) ?? new Set();
    this.#listed.delete(scope);
    const gone = [...this.#byUid.values()].filter((view) => isIn(scope, view) && !listed.has(view.uid));
    for (const view of gone) this.#remove(view);
    return gone;
  }

  /** True: something changed that somebody has to act upon. */
  put(scope: Scope, view: JobView): boolean {
    this.#listed.get(scope)?.add(view.uid);
    const known = this.#byUid.get(view.uid);
    const { ownerUid } = view;
    if (ownerUid === null) return false;
    this.#byUid.set(view.uid, view);
    let own = this.#byOwner.get(ownerUid);
    if (own === undefined) {
      own = new Map();
      this.#byOwner.set(ownerUid, own);
    }
    own.set(view.name, view);
    return known === undefined ? view.ending !== null : !isSameView(known, view);
  }

  gone(view: JobView): void {
    const tombstone = view.ending ?? (view.isGated ? "unreleased" : null);
    if (tombstone !== null) this.#bury(view.uid, tombstone);
    this.#remove(view);
  }

  #remove({ uid, ownerUid, name }: JobView): void {
    this.#byUid.delete(uid);
    if (ownerUid === null) return;
    const own = this.#byOwner.get(ownerUid);
    // Another Job may have the name by now.
    if (own?.get(name)?.uid === uid) own.delete(name);
    if (own?.size === 0) this.#byOwner.delete(ownerUid);
  }

  #bury(uid: string, tombstone: Tombstone): void {
    this.tombstones.set(uid, tombstone);
    if (this.tombstones.size <= TOMBSTONES) return;
    const [oldest] = this.tombstones.keys();
    if (oldest !== undefined) this.tombstones.delete(oldest);
  }
}
