/**
 * What all nodes tell, for those who look on at one of them. Each remembers what it has told lately; as long as somebody looks
 * on here the others are read, each by a letter that waits there until there is something to tell. While nobody looks on nobody
 * is asked.
 */
import { randomUUID } from "node:crypto";
import { SECOND_MS } from "../../core/time/instant.js";
import type { NodeFacts } from "../../persist/cluster.js";
import type { Clock, Timer } from "../clock.js";
import type { DaemonStatus } from "../supervisor/port.js";
import type { SupervisorEvent } from "../supervisor/write/events.js";
import { type Neighbours, type News, type NewsPlace, NODE_NEWS } from "./neighbours.js";

/** Of a node's own; whoever was away for longer is told that something is missing. */
const REMEMBERED = 2_000;
/** Of one answer. */
const MOST_AT_ONCE = 500;
const HOLD_MS = 5 * SECOND_MS;
const ANSWERED_WITHIN_MS = HOLD_MS + 5 * SECOND_MS;
/** More is likely to come with the first. */
const BUNCH_MS = 100;
const LOOK_MS = SECOND_MS;
/** So long after the last one who looked on somebody may come back and go on where he was. */
const KEPT_MS = 60 * SECOND_MS;

interface ClusterNewsPorts {
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after">;
  readonly neighbours: () => Pick<Neighbours, "others" | "ask">;
  status(): DaemonStatus;
  /** The others could not be looked for: they are looked for again. */
  onFailure(error: unknown): void;
}

/** Of what other nodes tell. */
interface NewsListener {
  tell(event: SupervisorEvent): void;
  /** Something of it was not heard. */
  missed(): void;
}

interface Other {
  readonly node: string;
  place: NewsPlace | null;
  status: DaemonStatus | null;
  isBeingRead: boolean;
}

export class ClusterNews {
  readonly #ports: ClusterNewsPorts;
  readonly #of = randomUUID();
  readonly #told: SupervisorEvent[] = [];
  #last = 0;
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<NewsListener>();
  readonly #others = new Map<string, Other>();
  #followers = 0;
  /** Since somebody began to follow, it is known who is there: whoever joins or goes from then on may have told what nobody heard. */
  #hasLooked = false;
  #looker: Timer | null = null;
  #forgetter: Timer | null = null;
  #isClosed = false;

  constructor(ports: ClusterNewsPorts) {
    this.#ports = ports;
  }

  /** What this node tells. */
  tell(event: SupervisorEvent): void {
    this.#last += 1;
    this.#told.push(event);
    if (this.#told.length > REMEMBERED) this.#told.shift();
    for (const wake of this.#waiting) wake();
  }

  /** What this node has told since, for another one: at once where there is something, else within the time. */
  async read(after: NewsPlace | null, holdMs: number): Promise<News> {
    const isKnown = after?.of === this.#of && after.number <= this.#last;
    if (isKnown && after.number === this.#last && !this.#isClosed) await this.#something(holdMs);
    const from = isKnown ? after.number : this.#last;
    const oldest = this.#last - this.#told.length;
    const begin = Math.max(0, from - oldest);
    const events = this.#told.slice(begin, begin + MOST_AT_ONCE);
    const number = Math.max(from, oldest) + events.length;
    const hasGap = after !== null && (!isKnown || from < oldest);
    return { place: { of: this.#of, number }, events, hasGap, status: this.#ports.status() };
  }

  /** Of what the others tell, as long as somebody follows. */
  subscribe(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From now on what the others tell is of interest, until it is called off. */
  follow(): () => void {
    this.#followers += 1;
    this.#forgetter?.cancel();
    this.#forgetter = null;
    this.#look();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#followers -= 1;
      if (this.#followers > 0 || this.#isClosed) return;
      this.#forgetter = this.#ports.clock.after(KEPT_MS, () => this.#forget());
    };
  }

  /** All nodes together, as far as the others have told it by now. */
  status(): DaemonStatus {
    const own = this.#ports.status();
    const all = [own, ...[...this.#others.values()].flatMap(({ status }) => status ?? [])];
    const sum = (of: (status: DaemonStatus) => number): number => all.reduce((total, each) => total + of(each), 0);
    const due = all.flatMap(({ nextDueAt }) => nextDueAt ?? []);
    return {
      jobs: sum(({ jobs }) => jobs),
      active: sum(({ active }) => active),
      armed: sum(({ armed }) => armed),
      nextDueAt: due.length === 0 ? null : Math.min(...due),
      bootedAt: own.bootedAt,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#looker?.cancel();
    this.#forgetter?.cancel();
    for (const wake of this.#waiting) wake();
  }

  async #something(holdMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#ports.clock.after(holdMs, () => end());
      const end = (): void => {
        timer.cancel();
        this.#waiting.delete(end);
        resolve();
      };
      this.#waiting.add(end);
    });
    if (!this.#isClosed) await new Promise<void>((resolve) => this.#ports.clock.after(BUNCH_MS, resolve));
  }

  /** Whoever comes back later than this must not take it for all that there was. */
  #forget(): void {
    this.#forgetter = null;
    this.#others.clear();
    this.#hasLooked = false;
    this.#missed();
  }

  #missed(): void {
    for (const listener of this.#listeners) listener.missed();
  }

  #look(): void {
    if (this.#looker !== null || this.#isClosed || this.#followers === 0) return;
    // Taken before it is looked, so that there is one at a time.
    this.#looker = this.#ports.clock.after(LOOK_MS, () => {
      this.#looker = null;
      this.#look();
    });
    this.#lookNow().catch((error: unknown) => {
      if (!this.#isClosed) this.#ports.onFailure(error);
    });
  }

  async #lookNow(): Promise<void> {
    const nodes = await this.#ports.neighbours().others();
    const living = new Set(nodes.map(({ session }) => session));
    const gone = [...this.#others.keys()].filter((session) => !living.has(session));
    const hasNew = nodes.some(({ session }) => !this.#others.has(session));
    if (this.#hasLooked && (hasNew || gone.length > 0)) this.#missed();
    this.#hasLooked = true;
    for (const session of gone) this.#others.delete(session);
    for (const facts of nodes) {
      const other = this.#others.get(facts.session) ?? {
        ...{ node: facts.node, place: null, status: null, isBeingRead: false },
      };
      this.#others.set(facts.session, other);
      if (!other.isBeingRead) void this.#follow(facts, other);
    }
  }

  /** Until it does not answer, or nobody looks on. */
  async #follow(facts: NodeFacts, other: Other): Promise<void> {
    other.isBeingRead = true;
    try {
      while (this.#followers > 0 && !this.#isClosed && this.#others.get(facts.session) === other) {
        const asked = { after: other.place, holdMs: HOLD_MS };
        const news = await this.#ports.neighbours().ask(facts, NODE_NEWS, asked, ANSWERED_WITHIN_MS);
        if (news === null) break;
        this.#heard(other, news);
      }
    } catch (error) {
      if (!this.#isClosed) this.#ports.onFailure(error);
    } finally {
      other.isBeingRead = false;
    }
  }

  #heard(other: Other, { place, events, hasGap, status }: News): void {
    [other.place, other.status] = [place, status];
    if (hasGap) this.#missed();
    for (const listener of this.#listeners) for (const event of events) listener.tell(event);
  }
}
