/**
 * Questions between nodes. Whoever asks writes a letter to the session of another node and waits for its answer; a letter is
 * answered once, or never: then nobody knows whether what it asks for was done, and whoever asked is told so.
 */
import { z } from "zod";
import { KronError } from "../../core/base/errors/kron-error.js";
import { messageOf } from "../../core/base/errors/message.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { ClusterMember, Letter, ShardHolder } from "../../persist/cluster.js";
import type { Clock } from "../clock.js";

/** How often an answer is looked for: most come within the next look of whoever is asked. */
const LOOK_MS = 20;
const LATER_LOOK_MS = 100;
const SOON_MS = SECOND_MS;

const REQUEST = z.strictObject({ do: z.string().max(64), input: z.unknown() });
export type Request = z.output<typeof REQUEST>;

/** `elsewhere`: nothing was done, the job is not looked after there. */
const ANSWER = z.discriminatedUnion("is", [
  z.strictObject({ is: z.literal("done"), value: z.unknown() }),
  z.strictObject({ is: z.literal("elsewhere") }),
  z.strictObject({ is: z.literal("unreadable") }),
  z.strictObject({ is: z.literal("failed"), message: z.string() }),
]);
export type Answer = z.output<typeof ANSWER>;

interface MailboxPorts {
  /** Of this machine. */
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly member: Pick<ClusterMember, "send" | "answerOf" | "answer">;
  /** What this node answers. */
  serve(request: Request): Promise<Answer>;
  /** An answer could not be written. */
  onFailure(error: unknown): void;
}

export class Mailbox {
  readonly #ports: MailboxPorts;
  #isClosed = false;

  constructor(ports: MailboxPorts) {
    this.#ports = ports;
  }

  /** Nobody is waited for any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Rejects with `node-silent` where nobody knows whether it was done. */
  async ask(to: ShardHolder, request: Request, withinMs: number): Promise<Exclude<Answer, { readonly is: "failed" }>> {
    const { clock, member } = this.#ports;
    if (this.#isClosed) throw notAsked(to);
    const fromMs = clock.monotonicMs();
    const id = await member.send(to.session, JSON.stringify(request));
    for (;;) {
      const text = await member.answerOf(id);
      if (text === null) throw silent(to, "is gone");
      if (text !== undefined) return this.#told(to, text);
      const passedMs = clock.monotonicMs() - fromMs;
      if (passedMs >= withinMs) throw silent(to, `did not answer within ${withinMs / SECOND_MS} s`);
      if (this.#isClosed) throw silent(to, "was not waited for: this node is stopping");
      await new Promise<void>((resolve) => clock.after(passedMs < SOON_MS ? LOOK_MS : LATER_LOOK_MS, resolve));
    }
  }

  /** Each by itself: what one takes keeps no other waiting. */
  take(letters: readonly Letter[]): void {
    for (const letter of letters) {
      this.#answer(letter).catch((error: unknown) => {
        if (!this.#isClosed) this.#ports.onFailure(error);
      });
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  async #answer({ id, text }: Letter): Promise<void> {
    const request = readJson(REQUEST, text);
    const answer: Answer = request === null ? { is: "unreadable" } : await this.#served(request);
    await this.#ports.member.answer(id, JSON.stringify(answer));
  }

  async #served(request: Request): Promise<Answer> {
    try {
      return await this.#ports.serve(request);
    } catch (error) {
      return { is: "failed", message: messageOf(error) };
    }
  }

  #told(to: ShardHolder, text: string): Exclude<Answer, { readonly is: "failed" }> {
    const answer = readJson(ANSWER, text);
    if (answer === null) throw foreign(to);
    if (answer.is !== "failed") return answer;
    const details = { component: "scheduler", operation: "ask" } as const;
    throw new KronError("node-refused", `the node ${to.node} says: ${answer.message}`, details);
  }
}

function readJson<Shape extends z.ZodType>(shape: Shape, text: string): z.output<Shape> | null {
  try {
    const read = shape.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function silent({ node }: ShardHolder, how: string): KronError {
  const message = `the node ${node} ${how}: whether it was done is not known`;
  return new KronError("node-silent", message, { component: "scheduler", operation: "ask" });
}

function notAsked({ node }: ShardHolder): KronError {
  const message = `the node ${node} was not asked: this node is stopping`;
  return new KronError("node-silent", message, { component: "scheduler", operation: "ask" });
}

/** Another version that does not know what is asked, or whose answer this one does not know. */
export function foreign({ node }: Pick<ShardHolder, "node">): KronError {
  const message = `the node ${node} is of another version, and does not understand this: ask on that node`;
  return new KronError("node-refused", message, { component: "scheduler", operation: "ask" });
}
