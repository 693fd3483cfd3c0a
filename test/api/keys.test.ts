/** Who may ask for what: every route with every kind of key, over the wire, against a real daemon. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newKey } from "../../src/operations/keys/secret.js";
import { OPERATIONS } from "../../src/operations/registry.js";
import { SCOPES, type Scope } from "../../src/operations/scope.js";
import { job } from "../support/place.js";
import { apiClient, type Reply } from "./support/client.js";
import { apiDaemon, placeOf } from "./support/daemon.js";
import { type Receiver, receiverOf, type Sample, samples, type Things, thingsOf } from "./support/routes.js";

const IDENTITY = "t/good";
const daemon = apiDaemon({ jobs: `${job(IDENTITY, "true")}http: { allow: ["127.0.0.1"] }\n` });
let receiver: Receiver;

const HOLDERS = [
  "nobody",
  "wrong",
  "mistyped",
  "revoked",
  "expired",
  "host read",
  "host write",
  "host admin",
  "acme read",
  "acme write",
  "acme admin",
  "other admin",
] as const;
type Holder = (typeof HOLDERS)[number];

const keys = new Map<Holder, string>();
let acme: Things;
let other: Things;
let rows: readonly Sample[];

beforeAll(async () => {
  receiver = await receiverOf();
  const { url } = receiver;
  acme = await thingsOf(daemon, "acme", url);
  other = await thingsOf(daemon, "other", url);
  rows = samples(acme, IDENTITY);
  const wrong = newKey((count) => new Uint8Array(count).fill(7)).key;
  keys.set("wrong", wrong);
  keys.set("mistyped", `${wrong.slice(0, -1)}${wrong.endsWith("0") ? "1" : "0"}`);
  const [revoked, expired] = [await daemon.key("acme", "admin"), await daemon.key("acme", "admin")];
  await daemon.ask({ op: "keys.revoke", id: revoked.id });
  await daemon.ask({ op: "keys.rotate", id: expired.id, graceMs: 0 });
  keys.set("revoked", revoked.key);
  keys.set("expired", expired.key);
  for (const scope of SCOPES) {
    keys.set(`host ${scope}`, (await daemon.key(null, scope)).key);
    keys.set(`acme ${scope}`, (await daemon.key("acme", scope)).key);
  }
  keys.set("other admin", (await daemon.key("other", "admin")).key);
});

afterAll(() => receiver.close());

let addresses = 0;

/** From an address of its own: how many wrong keys an address may show is told elsewhere. */
async function askAs(holder: Holder, { method, path, body }: Omit<Sample, "op" | "status">): Promise<Reply> {
  addresses += 1;
  const localAddress = `127.0.${1 + (addresses >> 8)}.${1 + (addresses & 127)}`;
  const client = apiClient({ ...placeOf(daemon.address), localAddress });
  const key = keys.get(holder);
  try {
    return await client.send(method, `/api/v1${path}`, { ...(key === undefined ? {} : { key }), body });
  } finally {
    client.close();
  }
}

const NEEDED = { read: 0, operate: 1, admin: 2 } as const;

/** What the wrong ones hear; null: this one may ask. */
function refusalOf(holder: Holder, { op }: Sample): readonly [status: number, code: string] | null {
  const operation = OPERATIONS.find(({ name }) => name === op);
  if (operation === undefined) throw new Error(`no operation ${op}`);
  if (holder === "nobody") return [401, "key-missing"];
  if (holder === "wrong" || holder === "mistyped") return [401, "key-invalid"];
  if (holder === "revoked") return [401, "key-revoked"];
  if (holder === "expired") return [401, "key-expired"];
  const [whose, scope] = holder.split(" ");
  if ((whose === "host") !== (operation.of === "host")) return [403, "key-of-another-kind"];
  const isEnough = SCOPES.indexOf(scope as Scope) >= NEEDED[operation.access];
  return isEnough ? null : [403, "scope-missing"];
}

/** What a request is answered, but for the names in it and what is of this one request. */
function wording({ status, body, headers }: Reply, names: readonly string[]): unknown {
  let text = JSON.stringify({ ...body, instance: "" });
  for (const name of names) text = text.replaceAll(name, "NAME");
  const { date: _date, "content-length": _length, ratelimit: _rate, ...others } = headers;
  return { status, text, others };
}

describe("every route", () => {
  test("has a request here", () => {
    expect(rows.map(({ op }) => op).sort()).toEqual(OPERATIONS.map(({ name }) => name).sort());
  });

  test("answers whoever may ask, and tells everybody else why not", async () => {
    const seen: unknown[] = [];
    const expected: unknown[] = [];
    for (const row of rows) {
      const refused = HOLDERS.map((holder) => [holder, refusalOf(holder, row)] as const);
      for (const [holder, refusal] of refused) {
        if (refusal === null) continue;
        const reply = await askAs(holder, row);
        const challenge = reply.headers["www-authenticate"] === undefined ? "" : "challenged";
        seen.push([row.op, holder, reply.status, reply.body?.code, reply.headers["content-type"], challenge]);
        const hasChallenge = refusal[1] === "key-of-another-kind" ? "" : "challenged";
        expected.push([row.op, holder, ...refusal, "application/problem+json", hasChallenge]);
      }
      // A foreign one first: it must not change anything.
      const may = refused.filter(([holder, refusal]) => refusal === null && holder !== "other admin");
      if (row.op === "stop") continue;
      for (const [index, [holder]] of may.entries()) {
        const { status, text } = await askAs(holder, row);
        // What was deleted by the first of them is not there for the second.
        const isAsked = index === 0 ? status === row.status : ![400, 401, 403, 500].includes(status);
        seen.push([row.op, holder, isAsked ? "answered" : [status, text]]);
        expected.push([row.op, holder, "answered"]);
      }
    }
    expect(seen).toEqual(expected);
  });

  test("finds nothing that is another tenant's, and says so in the words for what there is not", async () => {
    const things = Object.values(other);
    const missing = {
      jobId: `job_${"0".repeat(16)}`,
      endpointId: `ep_${"0".repeat(16)}`,
      runId: other.runId.replace(/[0-9a-z]{16}_[0-9a-z]{16}/, `${"0".repeat(16)}_${"0".repeat(16)}`),
      keyId: "aaaaaaaa",
    };
    const foreign = samples(other, IDENTITY);
    const unknown = samples(missing, IDENTITY);
    const compared = foreign.flatMap((row, at) => {
      const isOfTenant = OPERATIONS.some(({ name, of }) => name === row.op && of === "tenant");
      const isNaming = things.some((thing) => row.path.includes(thing));
      return isOfTenant && isNaming ? [[row, unknown[at] as Sample] as const] : [];
    });
    expect(compared.length).toBeGreaterThan(20);
    const before = await daemon.ask({ op: "endpoints.get", endpointId: other.endpointId }, "other");
    for (const [theirs, none] of compared) {
      const [one, another] = [await askAs("acme admin", theirs), await askAs("acme admin", none)];
      expect([theirs.op, one.status]).toEqual([theirs.op, 404]);
      expect(wording(one, things)).toEqual(wording(another, Object.values(missing)));
    }
    expect(await daemon.ask({ op: "endpoints.get", endpointId: other.endpointId }, "other")).toEqual(before);
  });

  test("shows a tenant nothing but what is its own", async () => {
    const lists = ["/jobs", "/endpoints", "/runs", "/limits"];
    for (const path of lists) {
      const { status, text } = await askAs("other admin", { method: "GET", path });
      expect([path, status]).toEqual([path, 200]);
      for (const thing of [...Object.values(acme), "acme"]) expect(text).not.toContain(thing);
    }
    const [theirs, ours] = [`/runs/${acme.runId}`, `/runs/${other.runId}`];
    const found = [theirs, ours].map((path) => askAs("other admin", { method: "GET", path }));
    expect((await Promise.all(found)).map(({ status }) => status)).toEqual([404, 200]);
    // A tenant is the key's, whatever the request says of it.
    const client = apiClient(placeOf(daemon.address));
    const headers = { "kron-tenant": "acme" };
    const { text } = await client.send("GET", "/api/v1/limits", { key: keys.get("other admin") ?? "", headers });
    client.close();
    expect(JSON.parse(text).tenant).toBe("other");
  });

  test("what is served beside operations has its keys too", async () => {
    const statuses = async (path: string) =>
      Promise.all(HOLDERS.map(async (holder) => [holder, await statusOf(holder, path)] as const));
    const open = Object.fromEntries(await statuses("/openapi.json"));
    expect(new Set(Object.values(open))).toEqual(new Set([200]));
    const events = Object.fromEntries(await statuses("/events"));
    for (const holder of ["nobody", "wrong", "mistyped", "revoked", "expired"]) expect(events[holder]).toBe(401);
    for (const whose of ["host", "acme"]) for (const scope of SCOPES) expect(events[`${whose} ${scope}`]).toBe(200);
  });

  test("an address that shows wrong keys is slowed down, and a right key is good there all the same", async () => {
    const client = apiClient({ ...placeOf(daemon.address), localAddress: "127.0.200.1" });
    const wrong = { key: keys.get("wrong") ?? "" };
    const replies: Reply[] = [];
    for (let at = 0; at < 25; at++) replies.push(await client.send("GET", "/api/v1/jobs", wrong));
    expect(replies.slice(0, 20).map(({ status }) => status)).toEqual(Array(20).fill(401));
    const last = replies.at(-1);
    expect([last?.status, last?.body.code]).toEqual([429, "wrong-keys-exceeded"]);
    expect(Number(last?.headers["retry-after"])).toBeGreaterThan(0);
    const right = await client.send("GET", "/api/v1/jobs", { key: keys.get("acme read") ?? "" });
    expect(right.status).toBe(200);
    client.close();
  });
});

/** Of a stream the beginning is enough. */
async function statusOf(holder: Holder, path: string): Promise<number> {
  addresses += 1;
  const client = apiClient({ ...placeOf(daemon.address), localAddress: `127.0.99.${addresses & 255}` });
  const key = keys.get(holder);
  const response = await client.open(`/api/v1${path}`, key === undefined ? {} : { key });
  response.destroy();
  client.close();
  return response.statusCode ?? 0;
}

describe("stop", () => {
  test("is for an admin of the host", async () => {
    const stop = rows.at(-1) as Sample;
    expect((await askAs("host admin", stop)).status).toBe(stop.status);
    expect(await daemon.krond.ended).toBe(0);
  });
});
