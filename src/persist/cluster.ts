/**
 * Several nodes on one store. Its jobs lie in shards: stretches of the keys of one pool. A node holds shards under its one
 * session, and looks after each with a supervisor of its own, which is shown that stretch and nothing else. Who holds what only
 * spreads the work: that nothing is started twice is the business of the fence and of the claims in every commit (C2, C5).
 */
import type { KronError } from "../core/base/errors/kron-error.js";
import type { Result } from "../core/base/result.js";
import type { EpochMs } from "../core/time/instant.js";
import type { DocumentEntry, StateStore } from "./store.js";

export { ANY_POOL, isClusterName, NAME_RULE, poolOfNode } from "../core/job/pool.js";

/** What the server's clock said, and when the monotonic clock of this machine was read before and after. */
export interface ClockSample {
  readonly at: EpochMs;
  readonly sentMs: number;
  readonly receivedMs: number;
}

export interface Shard {
  readonly pool: string;
  readonly number: number;
}

export interface HeldShard extends Shard {
  /** The newest set of definitions that was put in force in it; 0: none yet. */
  readonly revision: number;
}

/** What one node asks of another, in words of the host; answered once, or never: then whoever asked does not know. */
export interface Letter {
  readonly id: string;
  /** The node that asks. */
  readonly from: string;
  readonly text: string;
}

/** What a node learns by looking at the store, several times a second. */
export interface Pulse {
  /** Of the definitions that are wanted now. */
  readonly revision: number;
  /** Somebody has asked this node to give up what it holds. */
  readonly isDraining: boolean;
  /** All that are this session's now: some of them may be new. */
  readonly held: readonly HeldShard[];
  /** Those of them that are to go, and to which node; `null`: to whoever comes. */
  readonly surplus: readonly (Shard & { readonly heir: string | null })[];
  /** Not answered yet, oldest first; each comes once. */
  readonly letters: readonly Letter[];
  readonly time: ClockSample;
}

export interface NodeFacts {
  readonly session: string;
  readonly node: string;
  readonly bootId: string;
  readonly pid: number;
  readonly engine: string;
  readonly tz: string;
  /** All that it serves: `any` and its own among them. */
  readonly pools: readonly string[];
  readonly isDraining: boolean;
  readonly startedAt: EpochMs;
  readonly expiresAt: EpochMs;
  readonly shards: readonly Shard[];
}

/** A job of the set that is wanted, as canonical text. */
export interface WantedRow {
  readonly identity: string;
  readonly text: string;
}

/** One of a shard that no session has now. */
export interface UnservedJob extends WantedRow, Shard {
  /** Its document as it is on record; null: there is none. */
  readonly document: string | null;
}

export interface UnservedAsked {
  /** Only these; null: all. */
  readonly identities: readonly string[] | null;
  /** Behind this one in the order of names; "": from the first on. */
  readonly after: string;
  readonly limit: number;
}

export interface ShardHolder {
  readonly session: string;
  readonly node: string;
}

/** The part that this process has in a store with several nodes. Everything throws a KronError when the store does. */
export interface ClusterMember {
  readonly session: string;
  readonly node: string;
  /** All that it serves: `any` and its own among them. */
  readonly pools: readonly string[];
  /** The store as the supervisor of a shard sees it: iterations, counts and times of being alive are of this shard alone. */
  storeOf(shard: Shard): StateStore;
  /** C18: the zone data that all nodes go by, where those of this one are older: then it takes nothing. null: they are not. */
  admitted(): Promise<string | null>;
  /** Takes what is free and due to this node, as far as `mayTake`. */
  pulse(mayTake: boolean): Promise<Pulse>;
  /** After its supervisor has stopped (C22). */
  giveUp(shard: Shard, heir: string | null): Promise<void>;
  /** The jobs that are wanted in a shard. */
  wantedIn(shard: Shard): Promise<readonly WantedRow[]>;
  /** Jobs that are wanted and that nobody has, in the order of names. */
  unserved(asked: UnservedAsked): Promise<readonly UnservedJob[]>;
  /** The settings that go with them, as JSON text; null: none were ever applied. */
  settings(): Promise<string | null>;
  /** What is wanted since this revision is in force there. */
  settled(shard: Shard, revision: number): Promise<void>;
  /** In which shard a job lies, by what is wanted now. */
  shardOf(identity: string): Promise<Shard>;
  holderOf(shard: Shard): Promise<ShardHolder | null>;
  nodes(): Promise<readonly NodeFacts[]>;
  /** Documents of the whole store: all that have a run on this node are among them. */
  documentsNaming(node: string): Promise<readonly DocumentEntry[]>;
  /** When the last session of a node that does not live ended; 0: it was forgotten, and will not come back (C15). */
  isGone(node: string): Promise<{ readonly sinceAt: EpochMs } | null>;
  /** Resolves with its name; the answer is asked for by that, whether or not somebody is there to give one. */
  send(session: string, text: string): Promise<string>;
  /** undefined: not yet; null: whoever was asked is gone. */
  answerOf(id: string): Promise<string | null | undefined>;
  answer(id: string, text: string): Promise<void>;
  /** Among all nodes; false: another one has it. It is this session's until it is passed on, and goes with the session. */
  takeTurn(name: string): Promise<boolean>;
  passTurn(name: string): Promise<void>;
  /** Names of turns that somebody has, of those that begin so. */
  turnsTaken(prefix: string): Promise<readonly string[]>;
  /**
   * Puts one object in the place of another, if that is still there; `from` null: if there is none. What it has done is durable
   * at once, and may be told as false where contact was lost on the way: then it is looked at again.
   */
  replaceObject(key: string, from: string | null, to: string): Promise<boolean>;
  countObjects(prefix: string): Promise<number>;
  /** Why the session cannot go on. */
  readonly lost: Promise<KronError>;
}

/** A job as it is wanted, and where. */
export interface WantedJob extends WantedRow {
  readonly pool: string;
}

export interface WantedSet {
  /** All jobs: what is not among them is not wanted any more. Each identity once. */
  readonly jobs: readonly WantedJob[];
  /** As JSON text. */
  readonly settings: string;
}

/** What a set has changed, or would change; identities in order. */
export interface Applied {
  /** The one that is wanted now: the next one if anything has changed. Of a set that was only compared, the one before. */
  readonly revision: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /**
   * Those that go to another pool and are not let go of in theirs yet: nobody has them from this revision on. They go there when the
   * whole set is applied again and no shard with a holder is behind this revision; whoever fails in between may do so later.
   */
  readonly moving: readonly string[];
  readonly unchanged: number;
  readonly hasNewSettings: boolean;
}

export interface WantedNow {
  readonly jobs: readonly WantedJob[];
  readonly settings: string | null;
}

/** A shard in which a revision is not in force yet. */
export interface ShardBehind extends Shard {
  /** null: no node looks after it now. */
  readonly node: string | null;
  /** That are wanted in it. */
  readonly jobs: number;
}

/** What is done to a store with several nodes from outside of them, each time without anything that has to be held. */
export interface ClusterAdmin {
  /** What a set would change. */
  compare(wanted: WantedSet): Promise<Result<Applied, KronError>>;
  /**
   * In one transaction; two at once come one after the other. null: another revision than `from` is wanted by now, and nothing was
   * written; without `from`, whatever is wanted now. Refused while a daemon is alone there.
   */
  apply(wanted: WantedSet, from?: number): Promise<Result<Applied | null, KronError>>;
  /** Of these jobs, as they are wanted now; and the settings, null where none were ever applied. */
  wanted(identities: readonly string[]): Promise<Result<WantedNow, KronError>>;
  /** Of those in which something is wanted or somebody looks after something. */
  shardsBehind(revision: number): Promise<Result<readonly ShardBehind[], KronError>>;
  /** Those that live. */
  nodes(): Promise<Result<readonly NodeFacts[], KronError>>;
  /** Asks a node to give up its shards, or to take some again. */
  drain(node: string, isOn: boolean): Promise<Result<void, KronError>>;
  /** Ends the session of a node: nothing of it can be written any more, and it ends as soon as it notices. */
  evict(node: string): Promise<Result<void, KronError>>;
  /** A node that does not live will not come back: what it was running is given up for lost. */
  forget(node: string): Promise<Result<{ readonly wasKnown: boolean }, KronError>>;
}
