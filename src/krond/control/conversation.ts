/**
 * What one client asks over the control socket. Requests are answered side by side: what one waits for, be it a write or the
 * end of a run, keeps no other from being answered. What is above the bound waits, and nothing more is read meanwhile.
 */
import type { Duplex } from "node:stream";
import { messageOf } from "../../core/base/errors/message.js";
import type { Problem } from "../../core/base/problem.js";
import { answerAsked } from "../../operations/answer.js";
import { OperationError } from "../../operations/operation.js";
import type { Acting } from "../../operations/ports.js";
import { hostAs } from "../../operations/tenant.js";
import { CONTROL_LIMITS, type ControlAnswer } from "../control-answers.js";
import { LineSplitter } from "./lines.js";
import { readRequest } from "./protocol.js";

/** What of a socket is needed here. */
interface ControlSocket extends Duplex {
  setTimeout(ms: number): unknown;
  destroySoon(): void;
}

export class Conversation {
  readonly #socket: ControlSocket;
  readonly #ports: Acting;
  readonly #gone = new AbortController();
  readonly #lines = new LineSplitter(CONTROL_LIMITS.requestBytes);
  #waiting: string[] = [];
  #underWay = 0;
  #isRefused = false;
  /** The daemon was told to stop, and whoever asked waits for its end, however long that takes. */
  #waitsForEnd = false;

  constructor(socket: ControlSocket, ports: Acting) {
    this.#socket = socket;
    this.#ports = ports;
    socket.on("close", () => this.#gone.abort());
    socket.on("data", (piece: string) => this.#take(piece));
  }

  #take(piece: string): void {
    if (this.#isRefused) return;
    const found = this.#lines.push(piece);
    if (found === null) this.#refuse();
    else this.#begin(found);
  }

  /** Nothing more is read of it: it may go on sending without end. */
  #refuse(): void {
    this.#isRefused = true;
    this.#waiting = [];
    this.#answer({ id: 0, ok: false, kind: "bad-request", message: "the request is too long" });
    this.#socket.pause();
    this.#socket.setTimeout(CONTROL_LIMITS.idleMs);
    this.#socket.destroySoon();
  }

  #begin(lines: readonly string[]): void {
    this.#waiting.push(...lines);
    while (this.#underWay < CONTROL_LIMITS.underWay) {
      const line = this.#waiting.shift();
      if (line === undefined) break;
      this.#underWay += 1;
      void this.#serve(line).then(() => this.#goOn());
    }
    if (this.#isRefused) return;
    if (this.#underWay < CONTROL_LIMITS.underWay) this.#socket.resume();
    else this.#socket.pause();
  }

  #goOn(): void {
    this.#underWay -= 1;
    if (this.#socket.destroyed) this.#waiting = [];
    this.#begin([]);
    if (this.#underWay === 0 && !this.#waitsForEnd) this.#socket.setTimeout(CONTROL_LIMITS.idleMs);
  }

  async #serve(line: string): Promise<void> {
    const read = readRequest(line);
    if (!read.ok) {
      const { id, message, problems } = read;
      return this.#answer({ id, ok: false, kind: "bad-request", message, ...toldProblems(problems) });
    }
    const { id, asked, tenant } = read;
    if (asked.operation.name === "stop") this.#waitsForEnd = true;
    // A graceful stop may take as long as the longest run.
    if (!this.#isRefused) this.#socket.setTimeout(0);
    try {
      const caller = { ...hostAs(tenant), gone: this.#gone.signal };
      this.#answer({ id, ok: true, value: await answerAsked(asked, this.#ports, caller) });
    } catch (error) {
      const kind = error instanceof OperationError ? error.kind : "failed";
      const message = messageOf(error);
      const { hint, problems = [] } = error instanceof OperationError ? error : {};
      const more = { ...(hint === undefined ? {} : { hint }), ...toldProblems(problems) };
      this.#answer({ id, ok: false, kind, message, ...more });
    }
  }

  #answer(answer: ControlAnswer): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(answer)}\n`);
  }
}

function toldProblems(problems: readonly Problem[]): { readonly problems?: readonly Problem[] } {
  return problems.length === 0 ? {} : { problems };
}
