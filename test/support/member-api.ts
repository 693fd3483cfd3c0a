/** Nodes with their API open, asked over HTTP as programs ask them, and the server that their endpoints send to. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { ControlClient } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import type { NewKeyAnswer } from "../../src/operations/keys/keys.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import type { Scope } from "../../src/operations/scope.js";
import { type ApiClient, apiClient, type Reply, type Wish } from "../api/support/client.js";
import type { Member, Members } from "./member-daemons.js";

const OPEN = ["--api", "127.0.0.1:0", "--api-rate", "10000", "--allow-private"] as const;

export class ApiMember {
  readonly name: string;
  readonly member: Member;
  readonly address: string;
  readonly #client: ApiClient;

  constructor(member: Member, address: string) {
    this.name = member.name;
    this.member = member;
    this.address = address;
    const { hostname, port } = new URL(`http://${address}`);
    this.#client = apiClient({ host: hostname, port: Number(port) });
  }

  send(method: string, path: string, wish: Wish = {}): Promise<Reply> {
    return this.#client.send(method, `/api/v1${path}`, wish);
  }

  /** What must be so; the answer's body. */
  async must(status: number, method: string, path: string, wish: Wish = {}): Promise<Reply["body"]> {
    const reply = await this.send(method, path, wish);
    if (reply.status !== status) throw new Error(`${method} ${path} on ${this.name}: ${reply.status} ${reply.text}`);
    return reply.body;
  }

  open(path: string, wish: Wish): Promise<http.IncomingMessage> {
    return this.#client.open(path, wish);
  }

  /** Over the control socket, as whoever runs the daemon. */
  async ask<T>(request: OperationRequest, tenant?: string): Promise<T> {
    const client = await ControlClient.connect(socketPathIn(this.member.state));
    if (client === null) throw new Error("no daemon");
    try {
      return (await client.ask(request, undefined, tenant)) as T;
    } finally {
      client.close();
    }
  }

  key(tenant: string | null, scope: Scope): Promise<NewKeyAnswer> {
    return this.ask<NewKeyAnswer>({ op: "keys.create", tenant, scope });
  }

  close(): void {
    this.#client.close();
  }
}

export function apiMembers(): (cluster: Members, name: string, ...more: string[]) => Promise<ApiMember> {
  const open: ApiMember[] = [];
  afterEach(() => {
    for (const member of open.splice(0)) member.close();
  });
  return async (cluster, name, ...more) => {
    const member = await cluster.started(name, ...OPEN, ...more);
    const api = new ApiMember(member, String((await member.daemon.ready())["api"]));
    open.push(api);
    return api;
  };
}

/** What has come in, and how it is answered. */
export class Witness {
  /** A key for each request: the same one twice is one that was sent twice. */
  readonly keys: string[] = [];
  readonly paths: string[] = [];
  readonly headers: http.IncomingHttpHeaders[] = [];
  /** Those whose path begins so are never answered. */
  silentFor: string | null = null;
  readonly #server: http.Server;

  constructor() {
    this.#server = http.createServer((request, response) => {
      this.keys.push(String(request.headers["idempotency-key"]));
      this.paths.push(request.url ?? "");
      this.headers.push(request.headers);
      if (this.silentFor === null || request.url?.startsWith(this.silentFor) !== true) response.end("done");
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  of(path: string): number {
    return this.paths.filter((seen) => seen === path).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function witnesses(): () => Promise<Witness> {
  const open: Witness[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((witness) => witness.close()));
  });
  return async () => {
    const witness = new Witness();
    open.push(witness);
    await witness.listen();
    return witness;
  };
}
