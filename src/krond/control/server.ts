/**
 * The control socket: lines in, answers out. It lies in the state directory, which is its owner's alone; whoever holds the
 * lock may remove what an earlier daemon left behind.
 */

import * as fs from "node:fs";
import * as net from "node:net";
import { KronError } from "../../core/base/errors/kron-error.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import type { Acting } from "../../operations/ports.js";
import { CONTROL_LIMITS, CONTROL_VERSION, type ControlHello } from "../control-answers.js";
import { Conversation } from "./conversation.js";

const SOCKET_MODE = 0o600;

export class ControlServer {
  readonly #server: net.Server;
  readonly #connections = new Set<net.Socket>();
  #closed: Promise<void> = Promise.resolve();
  readonly #path: string;
  readonly #ports: Acting;

  constructor(path: string, ports: Acting) {
    this.#path = path;
    this.#ports = ports;
    this.#server = net.createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = CONTROL_LIMITS.connections;
  }

  async listen(): Promise<void> {
    fs.rmSync(this.#path, { force: true });
    // The directory is 0700 already: between the two calls nobody else can connect.
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(unavailable(this.#path, error)));
      this.#server.listen(this.#path, () => resolve());
    });
    fs.chmodSync(this.#path, SOCKET_MODE);
  }

  /** Nobody can connect any more, and the name is gone. To be done while the lock is still held. */
  hide(): void {
    if (!this.#server.listening) return;
    // Resolves when every connection has ended too; the socket is closed, and its name removed, at once.
    this.#closed = new Promise((resolve) => this.#server.close(() => resolve()));
    fs.rmSync(this.#path, { force: true });
  }

  /** Ends every connection: for a client that asked for a stop, the end is the answer. */
  async close(): Promise<void> {
    this.hide();
    for (const socket of this.#connections) socket.destroySoon();
    await this.#closed;
  }

  #accept(socket: net.Socket): void {
    this.#connections.add(socket);
    socket.on("close", () => this.#connections.delete(socket));
    // A client that went away needs no answer.
    socket.on("error", () => socket.destroy());
    socket.setTimeout(CONTROL_LIMITS.idleMs, () => socket.destroy());
    socket.setEncoding("utf8");
    const hello: ControlHello = { krond: CONTROL_VERSION, version: ENGINE_VERSION, pid: process.pid };
    socket.write(`${JSON.stringify(hello)}\n`);
    new Conversation(socket, this.#ports);
  }
}

function unavailable(path: string, cause: unknown): KronError {
  const details = { component: "api", operation: "listen", cause } as const;
  return new KronError("socket-unavailable", `the control socket ${path} cannot be opened`, details);
}
