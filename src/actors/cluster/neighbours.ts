/**
 * What nodes ask each other beside what is about jobs: each is asked for what it alone knows. Whoever does not answer is named,
 * and keeps nobody waiting for longer than a moment.
 */
import { z } from "zod";
import { KronError } from "../../core/base/errors/kron-error.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { ClusterMember, NodeFacts, ShardHolder } from "../../persist/cluster.js";
import type { Undelivered } from "../messenger/messenger.js";
import type { DaemonStatus } from "../supervisor/port.js";
import type { SupervisorEvent } from "../supervisor/write/events.js";
import { type Command, command, type Servable } from "./commands.js";
import type { Answer, Mailbox, Request } from "./mailbox.js";
import { WORK_COMMANDS, type WorkHere } from "./work-letters.js";

const count = z.int().min(0);
/** Of what a run has printed; `file` null: nothing there. */
const OUTPUT = z.object({ file: z.string().nullable(), text: z.string(), from: count, next: count, size: count });
const OUTPUT_ASKED = z.strictObject({
  identity: z.string().max(4_096),
  periodAt: z.int().optional(),
  from: count.optional(),
  bytes: z.int().min(1).max(1_000_000),
});

const UNDELIVERED = z.object({ count, error: z.string().nullable() });

/** What a node says of itself. */
interface SaidOfNode {
  status(): DaemonStatus;
  /** What has ended there lately, oldest first. */
  ended(): readonly SupervisorEvent[];
  /** What a run of a job has printed there. */
  output(asked: z.output<typeof OUTPUT_ASKED>): Promise<z.output<typeof OUTPUT>>;
  /** What people are to be told of a job and were not yet, as far as that is told from there. */
  undelivered(identity: string): Undelivered;
  /** What it has told since; waits a while for something to tell. */
  news(after: NewsPlace | null, holdMs: number): Promise<News>;
  /** Runs that workers come for. */
  readonly work: WorkHere;
}

/** How far somebody has read what a daemon tells: `of` names that daemon's life. */
export interface NewsPlace {
  readonly of: string;
  readonly number: number;
}

export interface News {
  readonly place: NewsPlace;
  readonly events: readonly SupervisorEvent[];
  /** Some of what was told since is not remembered any more. */
  readonly hasGap: boolean;
  readonly status: DaemonStatus;
}

const STATUS = z.object({ jobs: count, active: count, armed: count, nextDueAt: z.int().nullable(), bootedAt: z.int() });

/** As it is told: shown as it came, and nothing is decided by it. */
const event = z.custom<SupervisorEvent>((value) => {
  return typeof value === "object" && value !== null && "event" in value && "at" in value;
});
const place = z.strictObject({ of: z.string(), number: count });
const MOST_HOLD_MS = 10 * SECOND_MS;

export const NODE_STATUS = command({
  name: "status",
  input: z.strictObject({}),
  output: STATUS,
  isRepeatable: true,
  run: async (to: SaidOfNode) => to.status(),
});

export const NODE_ENDED = command({
  name: "ended-lately",
  input: z.strictObject({}),
  output: z.array(event),
  isRepeatable: true,
  run: async (to: SaidOfNode) => to.ended().map(plain),
});

export const NODE_NEWS = command({
  name: "news",
  input: z.strictObject({ after: place.nullable(), holdMs: count.max(MOST_HOLD_MS) }),
  output: z.object({ place, events: z.array(event), hasGap: z.boolean(), status: STATUS }),
  isRepeatable: true,
  run: async (to: SaidOfNode, { after, holdMs }) => {
    const news = await to.news(after, holdMs);
    return { ...news, events: news.events.map(plain) };
  },
});

export const NODE_OUTPUT = command({
  name: "output",
  input: OUTPUT_ASKED,
  output: OUTPUT,
  isRepeatable: true,
  run: (to: SaidOfNode, asked) => to.output(asked),
});

export const NODE_UNDELIVERED = command({
  name: "undelivered",
  input: z.strictObject({ identity: z.string().max(4_096) }),
  output: UNDELIVERED,
  isRepeatable: true,
  run: async (to: SaidOfNode, { identity }) => to.undelivered(identity),
});

const COMMANDS: readonly Servable<SaidOfNode>[] = [
  NODE_STATUS,
  NODE_ENDED,
  NODE_NEWS,
  NODE_OUTPUT,
  NODE_UNDELIVERED,
  ...WORK_COMMANDS,
];

interface NeighboursPorts {
  readonly member: Pick<ClusterMember, "nodes" | "session">;
  readonly mailbox: Pick<Mailbox, "ask">;
  readonly here: SaidOfNode;
}

/** What one node has said; null: it did not answer. */
interface Said<Output> {
  readonly of: NodeFacts;
  readonly value: Output | null;
}

export class Neighbours {
  readonly #ports: NeighboursPorts;

  constructor(ports: NeighboursPorts) {
    this.#ports = ports;
  }

  /** What others ask. */
  async answer({ do: name, input }: Request): Promise<Answer> {
    const done = COMMANDS.find((each) => each.name === name)?.serve(this.#ports.here, input) ?? null;
    return done === null ? { is: "unreadable" } : { is: "done", value: (await done) ?? null };
  }

  async others(): Promise<readonly NodeFacts[]> {
    const { member } = this.#ports;
    return (await member.nodes()).filter(({ session }) => session !== member.session);
  }

  async askAll<Input, Output>(
    asked: Command<SaidOfNode, Input, Output>,
    input: Input,
    withinMs: number,
  ): Promise<readonly Said<Output>[]> {
    const others = await this.others();
    return Promise.all(others.map(async (of) => ({ of, value: await this.ask(of, asked, input, withinMs) })));
  }

  /** null: it does not answer, or does not understand. */
  async ask<Input, Output>(
    to: ShardHolder,
    asked: Command<SaidOfNode, Input, Output>,
    input: Input,
    withinMs: number,
  ): Promise<Output | null> {
    try {
      const answer = await this.#ports.mailbox.ask(to, { do: asked.name, input }, withinMs);
      const read = answer.is === "done" ? asked.output.safeParse(answer.value) : null;
      return read?.success === true ? read.data : null;
    } catch (error) {
      if (error instanceof KronError && (error.code === "node-silent" || error.code === "node-refused")) return null;
      throw error;
    }
  }
}

/** An error goes as its code and its words. */
function plain({ error, ...told }: SupervisorEvent): SupervisorEvent {
  if (error === undefined) return told;
  const { code, message } = error;
  return { ...told, error: { code, message } as KronError };
}
