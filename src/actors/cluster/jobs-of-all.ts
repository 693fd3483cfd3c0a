/**
 * Lists of jobs, whoever looks after them: of what this node has from its supervisors, of the rest from the nodes that have it,
 * merged as they are asked for. What no node looks after stands in the store.
 */
import { compareNames } from "../../core/base/identity.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { ClusterMember, NodeFacts, ShardHolder } from "../../persist/cluster.js";
import type { Clock } from "../clock.js";
import type { JobPage, JobQuery, JobStatus, ListOptions, Supervisor } from "../supervisor/port.js";
import type { Attendance } from "./attendance.js";
import * as commands from "./commands.js";
import type { Mailbox } from "./mailbox.js";
import { type Membership, nameOf } from "./membership.js";
import { findIn, type JobSource } from "./merged-jobs.js";
import type { UnservedJobs } from "./unserved-jobs.js";

const QUESTION_WITHIN_MS = 3 * SECOND_MS;
const LOOK_AGAIN_MS = 100;
/** How long a list waits for shards that are on their way. */
const WHOLE_WITHIN_MS = 2 * SECOND_MS;

interface JobsPorts {
  readonly member: Pick<ClusterMember, "node" | "session" | "nodes" | "shardOf">;
  readonly membership: Pick<Membership, "shards">;
  readonly mailbox: Pick<Mailbox, "ask">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
}

/** What is looked after here. */
export class JobsHere implements commands.Jobs {
  readonly #ports: Pick<JobsPorts, "member" | "membership">;

  constructor(ports: Pick<JobsPorts, "member" | "membership">) {
    this.#ports = ports;
  }

  async list({ identities, afterIdentity, limit }: ListOptions = {}): Promise<readonly JobStatus[]> {
    await this.#begun();
    const asked = {
      ...(identities === undefined ? {} : { identities }),
      ...(afterIdentity === undefined ? {} : { afterIdentity }),
      ...(limit === undefined ? {} : { limit }),
    };
    const lists = await Promise.all(this.#supervisors().map((supervisor) => supervisor.list(asked)));
    return lists
      .flat()
      .sort((one, other) => compareNames(one.identity, other.identity))
      .slice(0, limit);
  }

  async find(query: JobQuery): Promise<JobPage> {
    await this.#begun();
    const served = this.#ports.membership.shards.filter(({ supervisor }) => supervisor !== null);
    const { node: name } = this.#ports.member;
    const sources = this.#supervisors().map((supervisor): JobSource => {
      return { name, find: (asked) => supervisor.find(asked) };
    });
    const page = await findIn(sources, query);
    return { ...page, shards: served.map(({ shard }) => nameOf(shard)) };
  }

  #supervisors(): readonly Supervisor[] {
    return this.#ports.membership.shards.flatMap(({ supervisor }) => supervisor ?? []);
  }

  async #begun(): Promise<void> {
    await Promise.all(this.#ports.membership.shards.map(({ ready }) => ready));
  }
}

export class JobsOfAll implements commands.Jobs {
  readonly #ports: JobsPorts;
  readonly #here: JobsHere;
  readonly #attendance: Pick<Attendance, "holderOf">;
  readonly #unserved: UnservedJobs;

  constructor(ports: JobsPorts, here: JobsHere, attendance: Pick<Attendance, "holderOf">, unserved: UnservedJobs) {
    this.#ports = ports;
    this.#here = here;
    this.#attendance = attendance;
    this.#unserved = unserved;
  }

  /** Of named jobs; a node that does not answer is told of, because nobody else knows how they are. */
  async list(options: ListOptions = {}): Promise<readonly JobStatus[]> {
    const { identities } = options;
    if (identities === undefined) return this.#here.list(options);
    const ofNobody = await this.#unserved.ofNobody(identities);
    const told = new Set(ofNobody.map(({ identity }) => identity));
    const rest = await this.#listServed(identities.filter((identity) => !told.has(identity)));
    const rows = new Map([...ofNobody, ...rest].map((row) => [row.identity, row]));
    return identities.flatMap((identity) => rows.get(identity) ?? []);
  }

  async #listServed(identities: readonly string[]): Promise<readonly JobStatus[]> {
    const byNode = new Map<string, { readonly holder: ShardHolder; readonly names: string[] }>();
    const looked = (await this.#byShard(identities)).map(async (names) => {
      const holder = await this.#attendance.holderOf(names[0] ?? "");
      const known = byNode.get(holder.session);
      if (known === undefined) byNode.set(holder.session, { holder, names: [...names] });
      else known.names.push(...names);
    });
    await Promise.all(looked);
    const lists = await Promise.all([...byNode.values()].map(({ holder, names }) => this.#statusesOf(holder, names)));
    return lists.flat();
  }

  /** It is looked once for each shard who has it, however many jobs of it are asked for. */
  async #byShard(identities: readonly string[]): Promise<readonly (readonly string[])[]> {
    const { member } = this.#ports;
    const groups = new Map<string, string[]>();
    const placed = identities.map(async (identity) => {
      const name = nameOf(await member.shardOf(identity));
      const group = groups.get(name) ?? [];
      group.push(identity);
      groups.set(name, group);
    });
    await Promise.all(placed);
    return [...groups.values()];
  }

  /** Nodes that do not answer are named beside the rows of the others; a shard on its way between two is waited for. */
  async find(query: JobQuery): Promise<JobPage> {
    const { clock } = this.#ports;
    const fromMs = clock.monotonicMs();
    for (;;) {
      const { page, isWhole } = await this.#findOnce(query);
      if (isWhole || clock.monotonicMs() - fromMs >= WHOLE_WITHIN_MS) return page;
      await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
    }
  }

  /** Whole: each shard that somebody has was looked at by one node. */
  async #findOnce(query: JobQuery): Promise<{ readonly page: JobPage; readonly isWhole: boolean }> {
    const asked = await this.#nodesToAsk();
    const looks = new Looks();
    const sources = asked.map((node) => looks.seen(node.node, (it) => this.#findOn(node, it)));
    const unserved = looks.seen(this.#unserved.name, (it) => this.#unserved.find(it));
    const page = await findIn([...sources, unserved], query);
    const answered = asked.filter(({ node }) => page.absent?.includes(node) !== true);
    return { page, isWhole: looks.isWhole(answered.flatMap(({ shards }) => shards.map(nameOf))) };
  }

  /** This one and those that have something. */
  async #nodesToAsk(): Promise<readonly AskedNode[]> {
    const { member } = this.#ports;
    const nodes = await member.nodes();
    // A heartbeat that is late makes this one no less there.
    const me = nodes.find(({ session }) => session === member.session) ?? {
      node: member.node,
      session: member.session,
      shards: [],
    };
    return [me, ...nodes.filter((node) => node !== me && node.shards.length > 0)];
  }

  async #findOn(node: AskedNode, query: JobQuery): Promise<JobPage> {
    const isHere = node.session === this.#ports.member.session;
    const page = isHere ? await this.#here.find(query) : await this.#ask(node, commands.FIND, query);
    return { ...page, shards: page.shards ?? node.shards.map(nameOf) };
  }

  #statusesOf(holder: ShardHolder, identities: readonly string[]): Promise<readonly JobStatus[]> {
    if (holder.session === this.#ports.member.session) return this.#here.list({ identities });
    return this.#ask(holder, commands.STATUSES, { identities: [...identities] });
  }

  async #ask<Input, Output>(
    node: ShardHolder,
    command: commands.Command<commands.Jobs, Input, Output>,
    input: Input,
  ): Promise<Output> {
    const answer = await this.#ports.mailbox.ask(node, { do: command.name, input }, QUESTION_WITHIN_MS);
    return commands.readAnswer(node, command, answer);
  }
}

type AskedNode = Pick<NodeFacts, "node" | "session" | "shards">;

/** Who has looked at which shard for one page. */
class Looks {
  readonly #byShard = new Map<string, string>();
  #isTwice = false;

  seen(node: string, find: JobSource["find"]): JobSource {
    return {
      name: node,
      find: async (query) => {
        const page = await find(query);
        for (const shard of page.shards ?? []) {
          this.#isTwice ||= (this.#byShard.get(shard) ?? node) !== node;
          this.#byShard.set(shard, node);
        }
        return page;
      },
    };
  }

  isWhole(shards: readonly string[]): boolean {
    return !this.#isTwice && shards.every((shard) => this.#byShard.has(shard));
  }
}
