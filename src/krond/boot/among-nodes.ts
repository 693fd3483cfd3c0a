/** What a daemon that shares its store with others knows of them, for whoever asks it about all. */
import { systemClock } from "../../actors/clock.js";
import { ClusterNews } from "../../actors/cluster/cluster-news.js";
import type { Mailbox, Request } from "../../actors/cluster/mailbox.js";
import { Neighbours, NODE_ENDED, NODE_OUTPUT, NODE_STATUS, NODE_UNDELIVERED } from "../../actors/cluster/neighbours.js";
import { SharedDesk } from "../../actors/cluster/shared-desk.js";
import type { Messenger, Undelivered } from "../../actors/messenger/messenger.js";
import type { DaemonStatus } from "../../actors/supervisor/port.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { outputIn } from "../../operations/jobs/log.js";
import type { RecentEnds } from "../../operations/now/recent.js";
import type { AmongNodes, EndedElsewhere, NodeStatus } from "../../operations/ports.js";
import type { LogAnswer, OutputAsked } from "../../operations/shapes/ahead.js";
import type { NodeFacts, UnservedJob } from "../../persist/cluster.js";
import type { StateReader } from "../../persist/store.js";
import type { EndpointBooks } from "./endpoint-books.js";
import type { EventFeed } from "./event-feed.js";
import type { Shared } from "./shared.js";

const ANSWERED_WITHIN_MS = 3 * SECOND_MS;

interface AmongPorts {
  readonly shared: Pick<Shared, "member" | "cursorKey" | "time">;
  readonly mailbox: Pick<Mailbox, "ask">;
  readonly events: EventFeed;
  readonly recent: RecentEnds;
  readonly books: Pick<EndpointBooks, "workers">;
  readonly messenger: Pick<Messenger, "undeliveredOf">;
  readonly stateDirectory: string;
  readonly store: Pick<StateReader, "ledgerLatest">;
  /** Of this node. */
  status(): DaemonStatus;
  onFailure(error: unknown): void;
}

export class Among implements AmongNodes {
  readonly news: ClusterNews;
  /** Workers may come to any node. */
  readonly workers: SharedDesk;
  readonly #ports: AmongPorts;
  readonly #neighbours: Neighbours;
  readonly #leave: () => void;

  constructor(ports: AmongPorts) {
    this.#ports = ports;
    const { books, events, mailbox, recent, shared, stateDirectory } = ports;
    const status = (): DaemonStatus => ports.status();
    this.workers = new SharedDesk({
      ...{ desk: books.workers, member: shared.member, time: shared.time, clock: systemClock },
      neighbours: () => this.#neighbours,
      onFailure: (error) => ports.onFailure(error),
    });
    this.news = new ClusterNews({
      clock: systemClock,
      neighbours: () => this.#neighbours,
      status,
      onFailure: (error) => ports.onFailure(error),
    });
    const { news } = this;
    const here = {
      status,
      ended: () => recent.events,
      undelivered: (identity: string) => ports.messenger.undeliveredOf(identity),
      output: (asked: OutputAsked) => outputIn(stateDirectory, asked, ports.store),
      news: (...[after, holdMs]: Parameters<ClusterNews["read"]>) => news.read(after, holdMs),
      work: this.workers.here,
    };
    this.#neighbours = new Neighbours({ member: shared.member, mailbox, here });
    this.#leave = events.subscribe((event) => news.tell(event));
  }

  get node(): string {
    return this.#ports.shared.member.node;
  }

  async unserved(identity: string): Promise<UnservedJob | null> {
    const [job = null] = await this.#ports.shared.member.unserved({ identities: [identity], after: "", limit: 1 });
    return job;
  }

  get cursorKey(): Buffer {
    return this.#ports.shared.cursorKey;
  }

  status(): DaemonStatus {
    return this.news.status();
  }

  async statuses(): Promise<readonly NodeStatus[]> {
    const { member } = this.#ports.shared;
    const others = await this.#neighbours.askAll(NODE_STATUS, {}, ANSWERED_WITHIN_MS);
    const own = (await member.nodes()).find(({ session }) => session === member.session);
    const all = [
      ...(own === undefined ? [] : [statusOf(own, this.#ports.status())]),
      ...others.map(({ of, value }) => statusOf(of, value)),
    ];
    return all.sort((one, other) => (one.node < other.node ? -1 : 1));
  }

  async ended(): Promise<EndedElsewhere> {
    const said = await this.#neighbours.askAll(NODE_ENDED, {}, ANSWERED_WITHIN_MS);
    return {
      events: said.flatMap(({ value }) => value ?? []),
      absent: said.flatMap(({ of, value }) => (value === null ? [of.node] : [])),
    };
  }

  async outputs(asked: OutputAsked): Promise<readonly LogAnswer[]> {
    const { periodAt, from, ...rest } = asked;
    const input = { ...rest, ...(periodAt === undefined ? {} : { periodAt }), ...(from === undefined ? {} : { from }) };
    const said = await this.#neighbours.askAll(NODE_OUTPUT, input, ANSWERED_WITHIN_MS);
    return said.flatMap(({ value }) => value ?? []);
  }

  async undelivered(identity: string): Promise<readonly Undelivered[]> {
    const said = await this.#neighbours.askAll(NODE_UNDELIVERED, { identity }, ANSWERED_WITHIN_MS);
    return said.flatMap(({ value }) => value ?? []);
  }

  follow(): () => void {
    return this.news.follow();
  }

  answer(request: Request): ReturnType<Neighbours["answer"]> {
    return this.#neighbours.answer(request);
  }

  close(): void {
    this.#leave();
    this.news.close();
  }
}

function statusOf(
  { node, engine, isDraining, pools, shards, startedAt }: NodeFacts,
  said: DaemonStatus | null,
): NodeStatus {
  const { jobs = null, active = null, nextDueAt = null } = said ?? {};
  const isAnswering = said !== null;
  return {
    node,
    version: engine,
    isDraining,
    isAnswering,
    pools,
    shards: shards.length,
    startedAt,
    jobs,
    active,
    nextDueAt,
  };
}
