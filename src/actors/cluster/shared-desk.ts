/**
 * The desks of several nodes, in front of which a worker stands at any of them. A run lies where its job is looked after and is
 * taken there, once; as long as workers of a tenant come here it is known on which of the other nodes something lies for them,
 * by a letter that waits there for all such tenants. Where several nodes have something, each of them is taken from, so that no
 * node's runs are left to the end of their time because workers are at another one.
 */
import { KronError } from "../../core/base/errors/kron-error.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { ClusterMember, NodeFacts } from "../../persist/cluster.js";
import type { Clock, Timer } from "../clock.js";
import { NoRoomToWait } from "../waiting-room.js";
import { ANSWER_BYTES, type WorkerDesk } from "../workers/desk.js";
import type { Work, Workers, WorkResult } from "../workers/work.js";
import type { Neighbours } from "./neighbours.js";
import { AWAIT_WORK, COMPLETE_WORK, LAY_BACK, TAKE_WORK, type WorkHere } from "./work-letters.js";

const HOLD_MS = 10 * SECOND_MS;
const HOLD_ANSWERED_MS = HOLD_MS + 5 * SECOND_MS;
/** So long a worker waits for what another node hands out; what comes later is laid back there. */
const PATIENCE_MS = SECOND_MS;
/** As long as an answer is waited for in order to lay back what is in it. */
const READ_WITHIN_MS = 10 * SECOND_MS;
const TOLD_WITHIN_MS = 10 * SECOND_MS;
/** How often it is looked who else is there, as long as somebody comes. */
const LOOK_MS = SECOND_MS;
/** So long after the last worker of a tenant nobody looks for its work elsewhere any more. */
const KEPT_MS = 30 * SECOND_MS;
const AT = "@";

interface SharedDeskPorts {
  readonly desk: Pick<WorkerDesk, "take" | "takeNow" | "layBack" | "complete" | "hasWork" | "awaitWork">;
  readonly member: Pick<ClusterMember, "node">;
  readonly neighbours: () => Pick<Neighbours, "others" | "ask">;
  /** Of all nodes. */
  readonly time: Pick<Clock, "now">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  /** Another node could not be asked: it is asked again. */
  onFailure(error: unknown): void;
}

/** What is known of the other nodes for the workers of one tenant that come here. */
interface Watch {
  readonly tenant: string;
  askedMs: number;
  waiting: number;
  /** Counts who has come: where there is too little for all parties, each of them is the first in turn. */
  turn: number;
  /** By session: where something lies. */
  readonly seen: Map<string, NodeFacts>;
  /** In the order in which they came. */
  readonly wakers: Set<() => void>;
}

/** How much of what lies at another node is to be taken. */
interface Part {
  readonly limit: number;
  readonly bytes: number;
}

export class SharedDesk implements Workers {
  readonly here: WorkHere;
  readonly #ports: SharedDeskPorts;
  readonly #watches = new Map<string, Watch>();
  /** By session: the tenants for whom a letter waits there. */
  readonly #covered = new Map<string, Set<string>>();
  /** Of what other nodes hand out. */
  readonly #underWay = new Set<Promise<unknown>>();
  #looker: Timer | null = null;
  #isAlone = false;

  constructor(ports: SharedDeskPorts) {
    this.#ports = ports;
    const { desk, time } = ports;
    this.here = {
      awaitWork: (tenants, withinMs) => desk.awaitWork(tenants, withinMs),
      takeWork: ({ tenant, limit, bytes, latestAt }) => {
        const works = time.now() > latestAt ? [] : desk.takeNow(tenant, limit, bytes);
        return { works, isMore: desk.hasWork(tenant) };
      },
      layBack: (tenant, claimIds) => desk.layBack(tenant, claimIds),
      completeWork: (tenant, claimId, result) => desk.complete(tenant, claimId, result),
    };
  }

  async take(tenant: string, limit: number, withinMs: number, gone?: AbortSignal): Promise<readonly Work[]> {
    const { clock, desk } = this.#ports;
    const untilMs = clock.monotonicMs() + withinMs;
    const watch = this.#watchOf(tenant);
    for (let hasWaited = false; ; hasWaited = true) {
      const { works: there, bytes } = isGone(gone) ? NOTHING : await this.#fromOthers(watch, limit);
      if (isGone(gone)) {
        await this.#layBack(tenant, there);
        this.#wakeNext(watch);
        return [];
      }
      const own = this.#named(desk.takeNow(tenant, limit - there.length, bytes));
      const leftMs = untilMs - clock.monotonicMs();
      if (there.length + own.length > 0 || leftMs <= 0) return [...there, ...own];
      const waited = await this.#waited(watch, limit, leftMs, gone).catch((error: unknown) => {
        // It had a place until it was told to look elsewhere.
        if (hasWaited && error instanceof NoRoomToWait) return [];
        throw error;
      });
      if (waited !== "look elsewhere") return waited;
    }
  }

  /** Whoever has a claim may say how it ended at any node. */
  async complete(tenant: string, claimId: string, result: WorkResult): Promise<boolean> {
    const [id, node] = placeOf(claimId);
    const { desk, member, neighbours } = this.#ports;
    if (node === member.node) return desk.complete(tenant, id, result);
    const facts = await this.#nodeNamed(node);
    if (facts === null) return false;
    const isTold = await neighbours().ask(facts, COMPLETE_WORK, { tenant, claimId: id, result }, TOLD_WITHIN_MS);
    if (isTold === null) throw unheard(facts);
    return isTold;
  }

  /** Nothing more is taken from other nodes; resolves when what they are handing out has come, and is somebody's or lies there again. */
  async leaveOthers(): Promise<void> {
    this.#isAlone = true;
    this.#looker?.cancel();
    for (const { seen } of this.#watches.values()) seen.clear();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Until something becomes due here, or is seen elsewhere. */
  async #waited(
    watch: Watch,
    limit: number,
    leftMs: number,
    gone?: AbortSignal,
  ): Promise<readonly Work[] | "look elsewhere"> {
    const woken = new AbortController();
    const wake = (): void => {
      watch.wakers.delete(wake);
      woken.abort();
    };
    watch.wakers.add(wake);
    watch.waiting += 1;
    let isElsewhere = false;
    try {
      if (watch.seen.size > 0) wake();
      const either = gone === undefined ? woken.signal : AbortSignal.any([gone, woken.signal]);
      const own = await this.#ports.desk.take(watch.tenant, limit, leftMs, either);
      isElsewhere = own.length === 0 && woken.signal.aborted;
      return isElsewhere ? "look elsewhere" : this.#named(own);
    } finally {
      watch.wakers.delete(wake);
      watch.waiting -= 1;
      watch.askedMs = this.#ports.clock.monotonicMs();
      // It was called, and has something else by now.
      if (!isElsewhere && woken.signal.aborted) this.#wakeNext(watch);
    }
  }

  /** Of each node that has some an equal part, and one is left for this one; what they have less is left to this one too. */
  async #fromOthers(watch: Watch, limit: number): Promise<Given> {
    const nodes = this.#isAlone ? [] : [...watch.seen.values()];
    if (nodes.length === 0) return NOTHING;
    const parties = nodes.length + (this.#ports.desk.hasWork(watch.tenant) ? 1 : 0);
    const [each, left, turn] = [Math.floor(limit / parties), limit % parties, watch.turn++];
    const bytes = Math.floor(ANSWER_BYTES / (nodes.length + 1));
    const asked = nodes.map((facts, index) => {
      const wanted = each + ((index + turn) % parties < left ? 1 : 0);
      return wanted === 0 ? [] : this.#inTime(watch, facts, { limit: wanted, bytes });
    });
    return { works: (await Promise.all(asked)).flat(), bytes };
  }

  /** Nobody waits for longer; what comes then lies there again. */
  #inTime(watch: Watch, facts: NodeFacts, part: Part): Promise<readonly Work[]> {
    return new Promise((resolve) => {
      let isLate = false;
      const timer = this.#ports.clock.after(PATIENCE_MS, () => {
        isLate = true;
        resolve([]);
      });
      const taken = this.#takenFrom(watch, facts, part).then(async (works) => {
        timer.cancel();
        if (isLate) await this.#layBack(watch.tenant, works);
        else resolve(works);
      });
      this.#underWay.add(taken);
      void taken.finally(() => this.#underWay.delete(taken));
    });
  }

  /** Never rejects: what others hand out at the same time is not to be lost by it. */
  async #takenFrom(watch: Watch, facts: NodeFacts, { limit, bytes }: Part): Promise<readonly Work[]> {
    const { neighbours, onFailure, time } = this.#ports;
    const { tenant } = watch;
    // One asks at a time: the next one when it is known that there is more.
    watch.seen.delete(facts.session);
    const asked = { tenant, limit, bytes, latestAt: time.now() + PATIENCE_MS };
    try {
      const taken = await neighbours().ask(facts, TAKE_WORK, asked, READ_WITHIN_MS);
      if (taken?.isMore === true) this.#saw(watch, facts);
      else if (taken !== null) this.#lookAt(facts);
      return (taken?.works ?? []).map((work) => ({ ...work, claimId: `${work.claimId}${AT}${facts.node}` }));
    } catch (error) {
      onFailure(error);
      return [];
    }
  }

  #named(works: readonly Work[]): readonly Work[] {
    return works.map((work) => ({ ...work, claimId: `${work.claimId}${AT}${this.#ports.member.node}` }));
  }

  /** They were given to nobody, and are the next one's. Where that cannot be said they end with their time. */
  async #layBack(tenant: string, works: readonly Work[]): Promise<void> {
    const { neighbours, onFailure } = this.#ports;
    const byNode = new Map<string, string[]>();
    for (const { claimId } of works) {
      const [id, node] = placeOf(claimId);
      byNode.set(node, [...(byNode.get(node) ?? []), id]);
    }
    for (const [node, claimIds] of byNode) {
      try {
        const facts = await this.#nodeNamed(node);
        if (facts !== null) await neighbours().ask(facts, LAY_BACK, { tenant, claimIds }, READ_WITHIN_MS);
      } catch (error) {
        onFailure(error);
      }
    }
  }

  async #nodeNamed(name: string): Promise<NodeFacts | null> {
    return (await this.#ports.neighbours().others()).find(({ node }) => node === name) ?? null;
  }

  #watchOf(tenant: string): Watch {
    const askedMs = this.#ports.clock.monotonicMs();
    const known = this.#watches.get(tenant);
    if (known !== undefined) {
      known.askedMs = askedMs;
      return known;
    }
    const watch: Watch = { tenant, askedMs, waiting: 0, turn: 0, seen: new Map(), wakers: new Set() };
    this.#watches.set(tenant, watch);
    this.#look();
    return watch;
  }

  #saw(watch: Watch, facts: NodeFacts): void {
    if (this.#isAlone) return;
    watch.seen.set(facts.session, facts);
    this.#wakeNext(watch);
  }

  #wakeNext({ seen, wakers }: Watch): void {
    const [first] = wakers;
    if (seen.size > 0) first?.();
  }

  /** Now, and again as long as somebody comes. */
  #look(): void {
    if (this.#looker !== null || this.#isAlone) return;
    const { clock, onFailure } = this.#ports;
    const nowMs = clock.monotonicMs();
    for (const [tenant, { askedMs, waiting }] of this.#watches) {
      if (waiting === 0 && nowMs - askedMs > KEPT_MS) this.#watches.delete(tenant);
    }
    if (this.#watches.size === 0) return;
    this.#looker = clock.after(LOOK_MS, () => {
      this.#looker = null;
      this.#look();
    });
    this.#lookNow().catch(onFailure);
  }

  async #lookNow(): Promise<void> {
    const nodes = await this.#ports.neighbours().others();
    const living = new Set(nodes.map(({ session }) => session));
    for (const { seen } of this.#watches.values()) {
      for (const session of seen.keys()) if (!living.has(session)) seen.delete(session);
    }
    for (const session of this.#covered.keys()) if (!living.has(session)) this.#covered.delete(session);
    for (const facts of nodes) this.#lookAt(facts);
  }

  #lookAt(facts: NodeFacts): void {
    void this.#lookUntilSilent(facts).catch((error: unknown) => this.#ports.onFailure(error));
  }

  /** For all tenants for whom no letter waits there: until there is none any more, or the node does not answer. */
  async #lookUntilSilent(facts: NodeFacts): Promise<void> {
    const { session } = facts;
    const covered = this.#covered.get(session) ?? new Set();
    this.#covered.set(session, covered);
    for (;;) {
      const watches = [...this.#watches.values()];
      const tenants = watches.filter(({ tenant, seen }) => !covered.has(tenant) && !seen.has(session));
      if (tenants.length === 0 || this.#isAlone) break;
      const asked = { tenants: tenants.map(({ tenant }) => tenant), holdMs: HOLD_MS };
      for (const tenant of asked.tenants) covered.add(tenant);
      let found: readonly string[] | null;
      try {
        found = await this.#ports.neighbours().ask(facts, AWAIT_WORK, asked, HOLD_ANSWERED_MS);
      } finally {
        for (const tenant of asked.tenants) covered.delete(tenant);
      }
      if (found === null) break;
      for (const tenant of found) {
        const watch = this.#watches.get(tenant);
        if (watch !== undefined) this.#saw(watch, facts);
      }
    }
  }
}

interface Given {
  readonly works: readonly Work[];
  /** As much may be given of what lies here. */
  readonly bytes: number;
}

const NOTHING: Given = { works: [], bytes: ANSWER_BYTES };

function isGone(gone: AbortSignal | undefined): boolean {
  return gone?.aborted === true;
}

/** Of a claim: what it is called on the node that has the run, and that node; without a name it is nobody's. */
function placeOf(claimId: string): readonly [id: string, node: string] {
  const at = claimId.lastIndexOf(AT);
  return at < 0 ? [claimId, ""] : [claimId.slice(0, at), claimId.slice(at + 1)];
}

function unheard({ node }: NodeFacts): KronError {
  const message = `the node ${node}, which has the run, did not answer: whether it has heard how it ended is not known`;
  return new KronError("node-silent", message, { component: "scheduler", operation: "ask" });
}
