/** The other end of the control socket: one connection, requests answered in order. */
import * as net from "node:net";
import type { Problem } from "../../core/base/problem.js";
import type { OperationRequest } from "../../operations/registry.js";
import {
  CONTROL_LIMITS,
  type ControlAnswer,
  type ControlErrorKind,
  type ControlHello,
  isHello,
} from "../control-answers.js";

/** What the daemon said instead of doing what it was asked, or why it could not be asked. */
export class ControlError extends Error {
  constructor(
    readonly kind: ControlErrorKind | "no-answer" | "forbidden",
    message: string,
    readonly hint?: string,
    readonly problems: readonly Problem[] = [],
  ) {
    super(message);
    this.name = "ControlError";
  }
}

interface Expected {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout | null;
}

export class ControlClient {
  readonly hello: ControlHello;
  /** Resolves when the connection ends, from either side. */
  readonly ended: Promise<void>;
  #lastId = 0;
  readonly #expected = new Map<number, Expected>();
  readonly #socket: net.Socket;

  private constructor(socket: net.Socket, hello: ControlHello, lines: LineQueue) {
    this.#socket = socket;
    this.hello = hello;
    this.ended = new Promise((resolve) => socket.once("close", () => resolve()));
    void this.ended.then(() => this.#refuseAll(new ControlError("no-answer", "the daemon closed the connection")));
    lines.handOver((line) => this.#heard(line));
  }

  /** null when no daemon listens there. */
  static async connect(path: string): Promise<ControlClient | null> {
    const socket = net.connect(path);
    const lines = new LineQueue(socket);
    try {
      const hello: unknown = JSON.parse(await lines.first(CONTROL_LIMITS.helloMs));
      if (isHello(hello)) return new ControlClient(socket, hello, lines);
      throw new ControlError("no-answer", "the daemon speaks another version of the control protocol");
    } catch (error) {
      socket.destroy();
      const code = error instanceof Error && "code" in error ? error.code : "";
      if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR") return null;
      if (code === "EACCES" || code === "EPERM") throw new ControlError("forbidden", `${path} is not yours to use`);
      throw error;
    }
  }

  /** `timeoutMs` null waits for as long as it takes. */
  async ask(
    request: OperationRequest,
    timeoutMs: number | null = CONTROL_LIMITS.answerMs,
    /** Whose jobs and endpoints are meant; absent: those of the tenant that is always there. */
    tenant?: string,
  ): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const late = () =>
        this.#settle(id, (it) => it.reject(new ControlError("no-answer", "the daemon does not answer")));
      const timer = timeoutMs === null ? null : setTimeout(late, timeoutMs);
      this.#expected.set(id, { resolve, reject, timer });
      this.#socket.write(`${JSON.stringify({ id, tenant, request })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #heard(line: string): void {
    // From our own daemon, over a socket that only its owner can open.
    const answer = JSON.parse(line) as ControlAnswer;
    this.#settle(answer.id, (it) => {
      if (answer.ok) it.resolve(answer.value);
      else it.reject(new ControlError(answer.kind, answer.message, answer.hint, answer.problems));
    });
  }

  #settle(id: number, how: (expected: Expected) => void): void {
    const expected = this.#expected.get(id);
    if (expected === undefined) return;
    this.#expected.delete(id);
    if (expected.timer !== null) clearTimeout(expected.timer);
    how(expected);
  }

  #refuseAll(error: ControlError): void {
    for (const id of [...this.#expected.keys()]) this.#settle(id, (it) => it.reject(error));
  }
}

/** Lines of a socket: the first one is waited for, the rest go to whoever takes over. */
class LineQueue {
  #pieces: string[] = [];
  readonly #waiting: string[] = [];
  #take: ((line: string) => void) | null = null;
  readonly #failed: Promise<never>;

  constructor(socket: net.Socket) {
    socket.setEncoding("utf8");
    this.#failed = new Promise((_, reject) => {
      socket.on("error", reject);
      socket.once("close", () => reject(new ControlError("no-answer", "the daemon closed the connection")));
    });
    this.#failed.catch(() => undefined);
    socket.on("data", (piece: string) => this.#push(piece));
  }

  async first(timeoutMs: number): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new ControlError("no-answer", "the daemon does not answer")), timeoutMs);
    });
    const line = new Promise<string>((resolve) => {
      this.#take = (first) => {
        // What follows the hello waits for its reader.
        this.#take = null;
        resolve(first);
      };
    });
    try {
      return await Promise.race([line, late, this.#failed]);
    } finally {
      clearTimeout(timer);
    }
  }

  handOver(take: (line: string) => void): void {
    this.#take = take;
    for (const line of this.#waiting.splice(0)) take(line);
  }

  /** Answers may be large: pieces are put together once, at the end of their line. */
  #push(piece: string): void {
    const lines = piece.split("\n");
    const rest = lines.pop() ?? "";
    for (const [index, line] of lines.entries()) {
      this.#hand(index === 0 ? this.#pieces.splice(0).join("") + line : line);
    }
    if (rest !== "") this.#pieces.push(rest);
  }

  #hand(line: string): void {
    if (this.#take === null) this.#waiting.push(line);
    else this.#take(line);
  }
}
