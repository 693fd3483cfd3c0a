/**
 * One connection, made when it is needed and made again when it broke. It keeps nothing on the server from one statement to
 * the next (no named statements, settings, locks), so that a pooler may hand each of them to another server process (C19).
 *
 * What it cannot do is tell whether a statement without an answer was carried out: that is for whoever has sent it.
 */
import * as fs from "node:fs";
import type { Client, ClientConfig } from "pg";
import type { PostgresAddress } from "./address.js";
import { isOfServer } from "./trouble.js";

/** Who we are to a server, and where it is. */
export interface Credentials {
  readonly address: PostgresAddress;
  /** A file that holds the password; null: what the environment names, as for every program of PostgreSQL. */
  readonly passwordFile: string | null;
}

const CONNECT_WITHIN_MS = 5_000;

type Row = Readonly<Record<string, unknown>>;

/** What can be asked for rows, one statement at a time. */
export interface Queries {
  rows<R extends Row>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

function tlsOptions({ tls, rootCertificate }: PostgresAddress): NonNullable<ClientConfig["ssl"]> {
  if (tls === "disable") return false;
  const ca = rootCertificate === null ? {} : { ca: fs.readFileSync(rootCertificate, "utf8") };
  if (tls === "verify-full") return { ...ca, rejectUnauthorized: true };
  // As libpq takes it: whoever names an authority wants it to be asked.
  const isVerified = tls === "verify-ca" || rootCertificate !== null;
  return isVerified
    ? { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false };
}

function passwordOf({ passwordFile }: Credentials): { readonly password?: string } {
  return passwordFile === null ? {} : { password: fs.readFileSync(passwordFile, "utf8").replace(/\r?\n$/, "") };
}

async function connected(credentials: Credentials, onWarning: () => void): Promise<Client> {
  const { address } = credentials;
  const { host, port, database, user } = address;
  // Nothing of it is loaded unless somebody keeps state there.
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    ...{ host, port, database, user, ssl: tlsOptions(address), ...passwordOf(credentials) },
    ...{ application_name: "krond", connectionTimeoutMillis: CONNECT_WITHIN_MS, keepAlive: true },
  });
  // Whoever waits for an answer is told of it; a connection that nobody uses is made anew.
  client.on("error", () => undefined);
  client.on("notice", ({ severity }) => {
    if (severity === "WARNING") onWarning();
  });
  try {
    await client.connect();
  } catch (error) {
    cut(client);
    throw error;
  }
  return client;
}

/** Without a farewell, which would wait for an answer. */
function cut(client: Client): void {
  client.connection.stream.destroy();
}

export class Connection implements Queries {
  readonly #credentials: Credentials;
  readonly #answerWithinMs: number;
  #client: Promise<Client> | null = null;
  /** One statement after the other. */
  #turn: Promise<void> = Promise.resolve();
  #isClosed = false;
  #warnings = 0;

  /** How often the server has warned of something that it has done all the same. */
  get warnings(): number {
    return this.#warnings;
  }

  /** `answerWithinMs`: a connection that says nothing for longer counts as broken. */
  constructor(credentials: Credentials, answerWithinMs: number) {
    this.#credentials = credentials;
    this.#answerWithinMs = answerWithinMs;
  }

  /** `more`: so many times as long as usual it may take. */
  rows<R extends Row>(text: string, values: readonly unknown[] = [], more = 1): Promise<readonly R[]> {
    const before = this.#turn;
    const asked = before.then(() => this.#ask<R>(text, values, more * this.#answerWithinMs));
    this.#turn = asked.then(
      () => undefined,
      () => undefined,
    );
    return asked;
  }

  async #ask<R extends Row>(text: string, values: readonly unknown[], withinMs: number): Promise<readonly R[]> {
    const client = await this.#connect();
    try {
      return await this.#answered<R>(client, text, values, withinMs);
    } catch (error) {
      // After anything but a plain refusal of the statement nobody knows what the connection is good for.
      if (!isOfServer(error)) this.#drop(client);
      throw error;
    }
  }

  /** Nothing comes in between, and nothing of it is there unless all of it is. */
  async transaction<T>(kind: string, use: () => Promise<T>): Promise<T> {
    await this.rows(`begin ${kind}`);
    try {
      const result = await use();
      await this.rows("commit");
      return result;
    } catch (error) {
      await this.rows("rollback").catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => null);
    this.#client = null;
    if (client == null) return;
    const isGone = new Promise<void>((resolve) => client.connection.stream.once("close", () => resolve()));
    if (client.connection.stream.destroyed) return;
    void client.end().catch(() => cut(client));
    await isGone;
  }

  async #connect(): Promise<Client> {
    if (this.#isClosed) throw new Error("invariant broken: a closed connection was used");
    this.#client ??= connected(this.#credentials, () => {
      this.#warnings += 1;
    });
    const connecting = this.#client;
    try {
      return await connecting;
    } catch (error) {
      if (this.#client === connecting) this.#client = null;
      throw error;
    }
  }

  #answered<R extends Row>(
    client: Client,
    text: string,
    values: readonly unknown[],
    withinMs: number,
  ): Promise<readonly R[]> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        cut(client);
        reject(new Error(`no answer within ${withinMs} ms`));
      }, withinMs);
      const done = (settle: () => void): void => {
        clearTimeout(late);
        settle();
      };
      client.query<R>(text, [...values]).then(
        ({ rows }) => done(() => resolve(rows)),
        (error: unknown) => done(() => reject(error)),
      );
    });
  }

  #drop(client: Client): void {
    this.#client = null;
    cut(client);
  }
}
