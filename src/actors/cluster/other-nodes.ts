/**
 * Other nodes, as far as runs of our jobs are there (C14, C15): they are asked to end runs, and it is looked again and again
 * whether they live, for as long as there is a run that depends on it.
 */
import { SECOND_MS } from "../../core/time/instant.js";
import type { ClusterMember, NodeFacts } from "../../persist/cluster.js";
import type { Clock, Timer } from "../clock.js";
import type { Termination } from "../runner/port.js";
import type { Supervisor } from "../supervisor/port.js";
import type { ElsewherePort, NodeNews } from "../supervisor/run/away.js";
import { TERMINATE } from "./commands.js";
import type { Mailbox } from "./mailbox.js";

const LOOK_MS = 2 * SECOND_MS;
/** Beyond the grace: until the letter is read, KILL has had its time, and the answer is written. */
const ANSWERED_MS = 15 * SECOND_MS;

export interface OtherNodesPorts {
  readonly member: Pick<ClusterMember, "nodes" | "isGone">;
  readonly mailbox: Pick<Mailbox, "ask">;
  /** Of this machine, by which is waited. */
  readonly clock: Pick<Clock, "after">;
  /** Of all shards that are held here. */
  supervisors(): readonly Pick<Supervisor, "elsewhere" | "hearOfNode">[];
  onFailure(error: unknown): void;
}

export class OtherNodes implements ElsewherePort {
  readonly #ports: OtherNodesPorts;
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(ports: OtherNodesPorts) {
    this.#ports = ports;
  }

  /** null: nobody can tell what became of it; whoever wants it ended asks again when more is known of the node. */
  async terminate(node: string, _identity: string, attemptId: string, graceMs: number): Promise<Termination | null> {
    try {
      const to = (await this.#ports.member.nodes()).find((facts) => facts.node === node);
      if (to === undefined) return null;
      const request = { do: TERMINATE.name, input: { attemptId, graceMs } };
      const answer = await this.#ports.mailbox.ask(to, request, graceMs + ANSWERED_MS);
      const read = answer.is === "done" ? TERMINATE.output.safeParse(answer.value) : null;
      return read?.success === true ? read.data : null;
    } catch {
      return null;
    }
  }

  watch(): void {
    this.#later();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #later(): void {
    if (this.#isClosed) return;
    this.#timer = this.#ports.clock.after(LOOK_MS, () => {
      const looked = this.#look().catch((error: unknown) => {
        if (!this.#isClosed) this.#ports.onFailure(error);
      });
      void looked.then(() => this.#later());
    });
  }

  async #look(): Promise<void> {
    const supervisors = this.#ports.supervisors();
    const names = new Set(supervisors.flatMap((supervisor) => supervisor.elsewhere().map(({ node }) => node)));
    if (names.size === 0) return;
    const living = await this.#ports.member.nodes();
    for (const name of names) {
      const news = await this.#newsOf(name, living);
      if (news === null) continue;
      await Promise.all(supervisors.map((supervisor) => supervisor.hearOfNode(name, news)));
    }
  }

  /** null: nothing is known of it that would say anything. */
  async #newsOf(name: string, living: readonly NodeFacts[]): Promise<NodeNews | null> {
    const facts = living.find(({ node }) => node === name);
    if (facts !== undefined) return { kind: "back", bootId: facts.bootId };
    const gone = await this.#ports.member.isGone(name);
    if (gone === null) return null;
    return gone.sinceAt === 0 ? { kind: "forgotten" } : { kind: "gone", sinceAt: gone.sinceAt };
  }
}
