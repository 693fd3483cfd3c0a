/**
 * Sessions of planners on record: what one was made from, what was called and proposed, and what became of it. A session is
 * written before anything of it is carried out, so that no crash carries a proposal out twice: what was not known by then stays
 * unknown. Bounded for each endpoint by number, for each tenant by number and age.
 */

import { randomBytes } from "node:crypto";
import { z } from "zod";
import { turnOfLoop } from "../../actors/turns.js";
import { jsonIn } from "../../core/base/fields.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { ObjectWrite, StateReader, StoredObject } from "../../persist/store.js";
import { SESSION_LIMITS } from "../../planner/limits.js";
import { decodeSession, encodeSession, type Session } from "../../planner/session.js";

/** `unknown`: the daemon ended in between. It is not tried again. */
export const FATES = ["pending", "applied", "refused", "unknown"] as const;

const FATE = z.strictObject({ result: z.enum(FATES), message: z.string() });
export type Fate = z.output<typeof FATE>;

export interface SessionRecord {
  readonly id: string;
  /** `planner:rules`, or `planner:MODEL`. */
  readonly by: string;
  readonly session: Session;
  /** Of each of its proposals. */
  readonly fates: readonly Fate[];
  /** The situation, as it was told. */
  readonly inputs: unknown;
  /** When the daemon began that has held it. */
  readonly bootedAt: EpochMs;
}

const VERSION = 1;
/** Written before the session, which is a line of its own. */
const ABOUT = z.strictObject({
  v: z.literal(VERSION),
  by: z.string(),
  fates: z.array(FATE),
  inputs: z.unknown(),
  bootedAt: z.number(),
});

export const SESSION_ID = /^ps_[0-9a-z]{11}_[0-9a-f]{8}$/;
/** Further than any instant that is known: the newest name comes first. */
const LAST_AT = 8_640_000_000_000_000;
const AT_CHARS = 11;
const PAGE = 1_000;

type Write = (objects: readonly ObjectWrite[]) => Promise<void>;

export class SessionLog {
  /** By tenant: sessions that are new since all of them were counted; absent: never counted. */
  readonly #newSince = new Map<string, number>();

  newIdAt(at: EpochMs): string {
    return `${beginningAt(at)}_${randomBytes(4).toString("hex")}`;
  }

  /** A new one; what is too old, or one too many, is taken out with it. */
  async add(reader: StateReader, write: Write, tenant: string, record: SessionRecord): Promise<void> {
    const { id, session } = record;
    const { endpoint, startedAt } = session;
    const writes = [
      { key: atKey(tenant, id), text: endpoint },
      { key: ofKey(tenant, endpoint, id), text: textOf(record) },
    ];
    const gone = new Map<string, ObjectWrite>();
    const tooMany = await this.#beyondNumber(reader, tenant, endpoint);
    for (const one of [...tooMany, ...(await this.#tooOld(reader, tenant, startedAt))]) gone.set(one.key, one);
    await write([...writes, ...gone.values()]);
    await this.#countAll(reader, write, tenant);
  }

  async change(write: Write, tenant: string, record: SessionRecord): Promise<void> {
    await write([{ key: ofKey(tenant, record.session.endpoint, record.id), text: textOf(record) }]);
  }

  async newest(reader: StateReader, tenant: string, endpointId: string): Promise<SessionRecord | null> {
    const [stored] = await reader.objects({ prefix: ofKey(tenant, endpointId, ""), limit: 1 });
    return stored === undefined ? null : recordIn(stored);
  }

  async get(reader: StateReader, tenant: string, id: string): Promise<SessionRecord | null> {
    const endpoint = await reader.object(atKey(tenant, id));
    if (endpoint === undefined || !endpoint.isIntact) return null;
    const stored = await reader.object(ofKey(tenant, endpoint.text, id));
    return stored === undefined ? null : recordIn(stored);
  }

  /** Newest first, behind one of them; what cannot be read is left out. `next`: where to go on; null: these were the last. */
  async list(
    reader: StateReader,
    tenant: string,
    { endpointId, after, limit }: { readonly endpointId: string | null; readonly after: string | null; limit: number },
  ): Promise<{ readonly records: readonly SessionRecord[]; readonly next: string | null }> {
    const prefix = endpointId === null ? atKey(tenant, "") : ofKey(tenant, endpointId, "");
    const behind = after === null ? {} : { after: prefix + after };
    const found = await reader.objects({ prefix, ...behind, limit: limit + 1 });
    const page = found.slice(0, limit);
    const read = page.map((stored) => {
      return endpointId === null ? this.get(reader, tenant, stored.key.slice(prefix.length)) : recordIn(stored);
    });
    const records = (await Promise.all(read)).filter((record) => record !== null);
    return { records, next: found.length > limit ? (page.at(-1)?.key.slice(prefix.length) ?? null) : null };
  }

  /** There is room for the one that is about to be written. */
  async #beyondNumber(reader: StateReader, tenant: string, endpointId: string): Promise<ObjectWrite[]> {
    const prefix = ofKey(tenant, endpointId, "");
    const limit = SESSION_LIMITS.ofEndpoint + SESSION_LIMITS.takenOutAtOnce;
    const found = await reader.objects({ prefix, limit });
    const ids = found.slice(SESSION_LIMITS.ofEndpoint - 1).map(({ key }) => key.slice(prefix.length));
    return ids.flatMap((id) => removed(tenant, endpointId, id));
  }

  async #tooOld(reader: StateReader, tenant: string, now: EpochMs): Promise<ObjectWrite[]> {
    const after = atKey(tenant, beginningAt(now - SESSION_LIMITS.ageMs));
    const prefix = atKey(tenant, "");
    const found = await reader.objects({ prefix, after, limit: SESSION_LIMITS.takenOutAtOnce });
    return found.flatMap(({ key, text }) => removed(tenant, text, key.slice(prefix.length)));
  }

  /** Now and then: names are in the order of time, and those behind the last that is kept go. */
  async #countAll(reader: StateReader, write: Write, tenant: string): Promise<void> {
    const since = (this.#newSince.get(tenant) ?? SESSION_LIMITS.countedEvery) + 1;
    this.#newSince.set(tenant, since > SESSION_LIMITS.countedEvery ? 0 : since);
    if (since <= SESSION_LIMITS.countedEvery) return;
    const prefix = atKey(tenant, "");
    let [count, after] = [0, prefix];
    for (;;) {
      const page = await reader.objects({ prefix, after, limit: PAGE });
      const last = page.at(-1);
      if (last === undefined) return;
      const beyond = page.slice(Math.max(0, SESSION_LIMITS.ofTenant - count));
      if (beyond.length > 0) {
        await write(beyond.flatMap(({ key, text }) => removed(tenant, text, key.slice(prefix.length))));
      }
      [count, after] = [count + page.length, last.key];
      await turnOfLoop();
    }
  }
}

/** What every name of that instant begins with. */
function beginningAt(at: EpochMs): string {
  return `ps_${(LAST_AT - at).toString(36).padStart(AT_CHARS, "0")}`;
}

/** In the order of time, newest first; its text is the endpoint. */
function atKey(tenant: string, id: string): string {
  return `planner/${tenant}/at/${id}`;
}

function ofKey(tenant: string, endpointId: string, id: string): string {
  return `planner/${tenant}/of/${endpointId}/${id}`;
}

function removed(tenant: string, endpointId: string, id: string): ObjectWrite[] {
  return [
    { key: atKey(tenant, id), text: null },
    { key: ofKey(tenant, endpointId, id), text: null },
  ];
}

function textOf({ by, fates, inputs, bootedAt, session }: SessionRecord): string {
  return `${JSON.stringify({ v: VERSION, by, fates, inputs, bootedAt })}\n${encodeSession(session)}`;
}

/** null: it cannot be read; nothing but an account is lost. */
function recordIn({ key, text, isIntact }: StoredObject): SessionRecord | null {
  if (!isIntact) return null;
  const [first = "", ...rest] = text.split("\n");
  const about = ABOUT.safeParse(jsonIn(first));
  const session = decodeSession(rest.join("\n"));
  if (!about.success || session === null) return null;
  const { by, fates, inputs, bootedAt } = about.data;
  return { id: key.slice(key.lastIndexOf("/") + 1), by, fates, inputs, bootedAt, session };
}
