/** Stands between a store and its server, and breaks connections where it hurts: in the middle of a commit. */
import * as net from "node:net";
import * as path from "node:path";
import { afterEach } from "vitest";

const SOCKET = ".s.PGSQL.5432";
const COMMIT = "kron.apply";

/** What becomes of a commit on its way. */
export type Fault =
  /** Nothing of it arrives. */
  | "before"
  /** Half of it arrives. */
  | "within"
  /** All of it arrives, and nobody hears of it. */
  | "unheard"
  /** It is answered, and the answer is lost. */
  | "after"
  /** It arrives when whoever sent it has given up on it: by `deliver`. */
  | "late";

export class FaultyProxy {
  /** Asked for each commit, which are counted from 1. */
  faultOf: (commit: number) => Fault | null = () => null;
  /** How long everything takes that a client says. */
  delayMs = 0;
  commits = 0;
  #onRefused: () => void = () => undefined;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #late: (() => Promise<void>)[] = [];

  private constructor(
    private target: string,
    readonly directory: string,
  ) {
    this.#server = net.createServer((client) => this.#connect(client));
  }

  static async between(serverDirectory: string, directory: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(path.join(serverDirectory, SOCKET), directory);
    await new Promise<void>((resolve) => proxy.#server.listen(path.join(directory, SOCKET), resolve));
    return proxy;
  }

  /** Every connection there is, without a word. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Whoever connects from now on comes to another server; null: to none. */
  lead(serverDirectory: string | null): void {
    this.target = serverDirectory === null ? "" : path.join(serverDirectory, SOCKET);
    this.reset();
  }

  /** Resolves when somebody has been turned away, because it leads to no server. */
  refused(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRefused = resolve;
    });
  }

  /** What was held back; resolves when the server has answered, or broken off. */
  async deliver(): Promise<void> {
    for (const deliver of this.#late.splice(0)) await deliver();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.reset();
    await closed;
  }

  #connect(client: net.Socket): void {
    if (this.target === "") {
      client.destroy();
      this.#onRefused();
      return;
    }
    const upstream = net.connect(this.target);
    const both = [client, upstream];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    }
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.pipe(client);
    client.on("data", (chunk: Buffer) => void this.#forward(client, upstream, chunk));
  }

  async #forward(client: net.Socket, upstream: net.Socket, chunk: Buffer): Promise<void> {
    if (this.delayMs > 0) {
      client.pause();
      await new Promise((resolve) => setTimeout(resolve, this.delayMs));
      client.resume();
    }
    const fault = chunk.includes(COMMIT) ? this.#nextFault() : null;
    if (fault === null) upstream.write(chunk);
    else this.#spoil(fault, client, upstream, chunk);
  }

  #nextFault(): Fault | null {
    this.commits += 1;
    return this.faultOf(this.commits);
  }

  #spoil(fault: Fault, client: net.Socket, upstream: net.Socket, chunk: Buffer): void {
    upstream.unpipe(client);
    if (fault === "before") client.destroy();
    if (fault === "within") upstream.write(chunk.subarray(0, chunk.length / 2), () => client.destroy());
    if (fault === "unheard") upstream.write(chunk, () => client.destroy());
    if (fault === "after") {
      upstream.once("data", () => client.destroy()).resume();
      upstream.write(chunk);
    }
    if (fault === "late") {
      client.removeAllListeners("close");
      client.destroy();
      this.#late.push(async () => {
        const answered = new Promise((resolve) => upstream.once("data", resolve).once("close", resolve).resume());
        upstream.write(chunk);
        await answered;
        upstream.destroy();
      });
    }
  }
}

/** Proxies that are gone after each test of the calling file. */
export function proxies(newDirectory: () => string): (serverDirectory: string) => Promise<FaultyProxy> {
  const made: FaultyProxy[] = [];
  afterEach(async () => {
    for (const proxy of made.splice(0)) await proxy.close();
  });
  return async (serverDirectory) => {
    const proxy = await FaultyProxy.between(serverDirectory, newDirectory());
    made.push(proxy);
    return proxy;
  };
}
