/**
 * The control socket: lines in, answers out, one request of a connection after another. It lies in the state directory,
 * which is its owner's alone; whoever holds the lock may remove what an earlier daemon left behind.
 */
import * as fs from "node:fs";
import * as net from "node:net";
import { KronError } from "../../core/base/errors/kron-error.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { CONTROL_LIMITS, CONTROL_VERSION, type ControlAnswer, type ControlHello } from "../control-answers.js";
import { readRequest } from "./protocol.js";
import { answerControl, type ControlPorts, ControlRefusal } from "./requests.js";

const SOCKET_MODE = 0o600;

export class ControlServer {
  private readonly server: net.Server;
  private readonly connections = new Set<net.Socket>();
  private closed: Promise<void> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly ports: ControlPorts,
  ) {
    this.server = net.createServer((socket) => this.accept(socket));
    this.server.maxConnections = CONTROL_LIMITS.connections;
  }

  async listen(): Promise<void> {
    fs.rmSync(this.path, { force: true });
    // The directory is 0700 already: between the two calls nobody else can connect.
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", (error) => reject(unavailable(this.path, error)));
      this.server.listen(this.path, () => resolve());
    });
    fs.chmodSync(this.path, SOCKET_MODE);
  }

  /** Nobody can connect any more, and the name is gone. To be done while the lock is still held. */
  hide(): void {
    if (!this.server.listening) return;
    // Resolves when every connection has ended too; the socket is closed, and its name removed, at once.
    this.closed = new Promise((resolve) => this.server.close(() => resolve()));
    fs.rmSync(this.path, { force: true });
  }

  /** Ends every connection: for a client that asked for a stop, the end is the answer. */
  async close(): Promise<void> {
    this.hide();
    for (const socket of this.connections) socket.destroySoon();
    await this.closed;
  }

  private accept(socket: net.Socket): void {
    this.connections.add(socket);
    socket.on("close", () => this.connections.delete(socket));
    // A client that went away needs no answer.
    socket.on("error", () => socket.destroy());
    socket.setTimeout(CONTROL_LIMITS.idleMs, () => socket.destroy());
    socket.setEncoding("utf8");
    const hello: ControlHello = { krond: CONTROL_VERSION, version: ENGINE_VERSION, pid: process.pid };
    socket.write(`${JSON.stringify(hello)}\n`);
    const lines = new LineSplitter(CONTROL_LIMITS.requestBytes);
    let previous = Promise.resolve();
    socket.on("data", (piece: string) => {
      const found = lines.push(piece);
      if (found === null) {
        this.answer(socket, { id: 0, ok: false, kind: "bad-request", message: "the request is too long" });
        socket.destroySoon();
        return;
      }
      for (const line of found) previous = previous.then(() => this.serve(socket, line));
    });
  }

  private async serve(socket: net.Socket, line: string): Promise<void> {
    const read = readRequest(line);
    if (!read.ok) {
      this.answer(socket, { id: read.id, ok: false, kind: "bad-request", message: read.message });
      return;
    }
    const { id, request } = read.envelope;
    // A graceful stop may take as long as the longest run.
    socket.setTimeout(0);
    try {
      this.answer(socket, { id, ok: true, value: await answerControl(request, this.ports) });
    } catch (error) {
      const kind = error instanceof ControlRefusal ? error.kind : "failed";
      const message = error instanceof Error ? error.message : String(error);
      const hint = error instanceof ControlRefusal ? error.hint : undefined;
      this.answer(socket, { id, ok: false, kind, message, ...(hint === undefined ? {} : { hint }) });
    }
    if (request.op !== "stop") socket.setTimeout(CONTROL_LIMITS.idleMs);
  }

  private answer(socket: net.Socket, answer: ControlAnswer): void {
    if (!socket.destroyed) socket.write(`${JSON.stringify(answer)}\n`);
  }
}

function unavailable(path: string, cause: unknown): KronError {
  const details = { component: "api", operation: "listen", cause } as const;
  return new KronError("socket-unavailable", `the control socket ${path} cannot be opened`, details);
}

/** Pieces in, whole lines out; null when a line grows beyond the limit. */
export class LineSplitter {
  private rest = "";

  constructor(private readonly limit: number) {}

  push(piece: string): string[] | null {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    if (this.rest.length > this.limit || lines.some((line) => line.length > this.limit)) return null;
    return lines.filter((line) => line !== "");
  }
}
