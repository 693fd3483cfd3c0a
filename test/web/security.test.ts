/** Who may see and do what on the page of a real daemon, over real HTTP. */
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { ask, FROM_PAGE, followed, logIn, withBoth } from "../support/page.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

interface Served {
  readonly here: Place;
  readonly krond: RunningKrond;
  readonly address: string;
}

async function served(): Promise<Served> {
  const here = place(job("t/one", "true"));
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
  const { api } = await krond.ready();
  return { here, krond, address: String(api) };
}

function linkOf(here: Place, ...more: readonly string[]): URL {
  const { status, out, err } = here.kron("open", ...more);
  if (status !== 0) throw new Error(err);
  return new URL(out.trim());
}

function codeOf(here: Place, ...more: readonly string[]): string {
  return linkOf(here, ...more).hash.slice(1);
}

const JOBS = "/api/v1/schedules";
const RUN = "/api/v1/schedules/t%2Fone/run";

describe("kron open", () => {
  test("makes a link that logs in once: the code stands where no server and no log sees it", async () => {
    const { here, krond, address } = await served();
    const link = linkOf(here);
    expect([link.origin, link.pathname, link.search]).toEqual([`http://${address}`, "/login", ""]);
    const code = link.hash.slice(1);
    // 160 bits.
    expect(code).toMatch(/^[\w-]{27}$/);
    const halves = await logIn(address, { code });
    const again = await ask(address, "/web/session", { method: "POST", headers: FROM_PAGE, body: { code } });
    expect(again.status).toBe(401);
    const jobs = await ask(address, JOBS, { headers: withBoth(halves) });
    expect([jobs.status, JSON.parse(jobs.body).total]).toEqual([200, 1]);
    expect(JSON.stringify(krond.lines) + krond.stderr).not.toContain(code);
  });

  test("--scope read opens a page on which nothing can be done", async () => {
    const { here, address } = await served();
    const headers = withBoth(await logIn(address, { code: codeOf(here, "--scope", "read") }));
    const run = await ask(address, RUN, { method: "POST", headers, body: {} });
    expect([run.status, JSON.parse(run.body).code]).toEqual([403, "scope-missing"]);
    expect((await ask(address, JOBS, { headers })).status).toBe(200);
  });

  test("says so where the daemon serves no page, and no page is there then", async () => {
    const here = place(job("t/one", "true"));
    const krond = startKrond(here.config, here.state, ["--api", "127.0.0.1:0"]);
    const { api } = await krond.ready();
    const { status, err } = here.kron("open");
    expect([status === 0, err]).toEqual([false, expect.stringContaining("this daemon serves no page")]);
    expect((await ask(String(api), "/")).status).toBe(404);
    const own = { headers: { Origin: `http://${String(api)}` } };
    expect((await ask(String(api), "/api/v1/openapi.json", own)).status).toBe(403);
  });
});

describe("a session has two halves", () => {
  test("the page's own files hold nothing, and everything else takes a login, on loopback too", async () => {
    const { address } = await served();
    const shell = await ask(address, "/");
    expect([shell.status, shell.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const bare = [await ask(address, JOBS), await ask(address, "/web/feed"), await ask(address, "/web/session")];
    expect(bare.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  test("a stolen cookie without the page's half is worth nothing, nor is the page's half without the cookie", async () => {
    const { here, address } = await served();
    const halves = await logIn(address, { code: codeOf(here) });
    const { Cookie: cookie = "", "X-Kron-Page": page = "" } = withBoth(halves);
    const stolen = { ...FROM_PAGE, Cookie: cookie };
    const wrong = { ...stolen, "X-Kron-Page": page.replace(/./, (first) => (first === "A" ? "B" : "A")) };
    for (const headers of [stolen, wrong, { ...FROM_PAGE, "X-Kron-Page": page }]) {
      const told = [await ask(address, JOBS, { headers }), await ask(address, "/web/feed", { headers })];
      const run = await ask(address, RUN, { method: "POST", headers, body: {} });
      expect([...told, run].map(({ status }) => status)).toEqual([401, 401, 401]);
    }
    expect((await ask(address, JOBS, { headers: withBoth(halves) })).status).toBe(200);
  });

  test("the cookie is for this daemon's server alone and no script's", async () => {
    const { here, address } = await served();
    const told = await ask(address, "/web/session", {
      method: "POST",
      headers: FROM_PAGE,
      body: { code: codeOf(here) },
    });
    const port = address.replace(/^.*:/, "");
    const cookie = new RegExp(`^kron-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`);
    expect(told.headers["set-cookie"]).toEqual([expect.stringMatching(cookie)]);
  });

  test("whoever logs out is not known any more", async () => {
    const { here, address } = await served();
    const headers = withBoth(await logIn(address, { code: codeOf(here) }));
    expect((await ask(address, "/web/session", { method: "DELETE", headers })).status).toBe(204);
    expect((await ask(address, JOBS, { headers })).status).toBe(401);
  });

  test("a session that a key has opened may what the key may, and ends with it", async () => {
    const { here, address } = await served();
    const made = JSON.parse(here.krond("keys", "create", "--scope", "read", "-o", "json").out);
    const headers = withBoth(await logIn(address, { key: made.key }));
    expect((await ask(address, JOBS, { headers })).status).toBe(200);
    expect((await ask(address, RUN, { method: "POST", headers, body: {} })).status).toBe(403);
    expect(here.krond("keys", "revoke", made.id).status).toBe(0);
    const after = await ask(address, JOBS, { headers });
    expect([after.status, JSON.parse(after.body).code]).toEqual([401, "session-over"]);
  });

  test("a session of a link that a key has asked for ends with that key; one of kron open does not", async () => {
    const { here, address } = await served();
    const made = JSON.parse(here.krond("keys", "create", "--scope", "admin", "-o", "json").out);
    const asking = { Authorization: `Bearer ${made.key}` };
    const link = await ask(address, "/api/v1/system/login-links", { method: "POST", headers: asking, body: {} });
    expect(link.status).toBe(201);
    const { hash } = new URL(String(JSON.parse(link.body).url));
    const ofKey = withBoth(await logIn(address, { code: hash.slice(1) }));
    const ofHost = withBoth(await logIn(address, { code: codeOf(here) }));
    expect((await ask(address, JOBS, { headers: ofKey })).status).toBe(200);
    expect(here.krond("keys", "revoke", made.id).status).toBe(0);
    const after = await ask(address, JOBS, { headers: ofKey });
    expect([after.status, JSON.parse(after.body).code]).toEqual([401, "session-over"]);
    expect((await ask(address, JOBS, { headers: ofHost })).status).toBe(200);
  });
});

describe("who is logged in", () => {
  const LIST = "/web/sessions";

  test("is told to whoever may do everything, who can end any of them", async () => {
    const { here, address } = await served();
    const admin = withBoth(await logIn(address, { code: codeOf(here) }));
    const other = withBoth(await logIn(address, { code: codeOf(here, "--scope", "read") }));
    const told = JSON.parse((await ask(address, LIST, { headers: admin })).body);
    expect(told.rows).toMatchObject([
      { scope: "read", tenant: null, keyId: null, isOwn: false },
      { scope: "admin", tenant: null, keyId: null, isOwn: true },
    ]);
    // Nothing of what opens a session is told, nor its hash.
    expect(Object.keys(told.rows[0]).sort()).toEqual(
      ["endsInMs", "id", "idleForMs", "isOwn", "keyId", "openForMs", "scope", "tenant"].sort(),
    );
    const streams = ["/web/feed", "/api/v1/events"].map((path) => followed(address, path, other));
    await Promise.all(streams.map(({ open }) => open));
    const end = { method: "DELETE", headers: admin };
    expect((await ask(address, `${LIST}/${told.rows[0].id}`, end)).status).toBe(204);
    // What it follows ends with it; how soon, says test/api/reconsidered.test.ts.
    await Promise.all(streams.map(({ ended }) => ended));
    expect((await ask(address, JOBS, { headers: other })).status).toBe(401);
    expect((await ask(address, JOBS, { headers: admin })).status).toBe(200);
    expect((await ask(address, `${LIST}/${told.rows[0].id}`, end)).status).toBe(404);
    expect(JSON.parse((await ask(address, LIST, { headers: admin })).body).rows).toHaveLength(1);
  });

  test("is nobody else's business: no login, a login that may less, a tenant's, another page", async () => {
    const { here, address } = await served();
    const writer = withBoth(await logIn(address, { code: codeOf(here, "--scope", "write") }));
    const made = JSON.parse(here.krond("keys", "create", "--tenant", "acme", "--scope", "admin", "-o", "json").out);
    const tenant = withBoth(await logIn(address, { key: made.key }));
    const admin = withBoth(await logIn(address, { code: codeOf(here) }));
    const { id } = JSON.parse((await ask(address, LIST, { headers: admin })).body).rows.at(-1);
    const strangers = [{}, writer, tenant, { ...admin, "Sec-Fetch-Site": "same-site" }];
    const listed = strangers.map((headers) => ask(address, LIST, { headers }));
    const ended = strangers.map((headers) => ask(address, `${LIST}/${id}`, { method: "DELETE", headers }));
    const statuses = (await Promise.all([...listed, ...ended])).map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 403, 403, 401, 403, 403, 403]);
    expect((await ask(address, JOBS, { headers: writer })).status).toBe(200);
  });
});

describe("pages of others", () => {
  const strangers: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["a page of another site", { "Sec-Fetch-Site": "cross-site" }],
    ["another port of this machine", { "Sec-Fetch-Site": "same-site" }],
    ["an address that was typed", { "Sec-Fetch-Site": "none" }],
    ["a browser that says neither", {}],
    ["another origin, from a browser that does not say more", { Origin: "http://127.0.0.1:1" }],
    ["another origin that calls itself ours", { Origin: "http://127.0.0.1:1", "Sec-Fetch-Site": "same-origin" }],
    ["a page without an origin", { Origin: "null", "Sec-Fetch-Site": "cross-site" }],
  ];

  test.each(strangers)("%s can neither look, act nor log in, with both halves in hand", async (_title, headers) => {
    const { here, address } = await served();
    const { Cookie = "", "X-Kron-Page": page = "" } = withBoth(await logIn(address, { code: codeOf(here) }));
    const asking = { Cookie, "X-Kron-Page": page, ...headers };
    const looked = await ask(address, JOBS, { headers: asking });
    const acted = await ask(address, RUN, { method: "POST", headers: asking, body: {} });
    const entered = await ask(address, "/web/session", { method: "POST", headers, body: { code: codeOf(here) } });
    const left = await ask(address, "/web/session", { method: "DELETE", headers: asking });
    expect([looked, acted, entered, left].map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(looked.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("a name that was pointed here is no name of ours", async () => {
    const { here, address } = await served();
    const halves = withBoth(await logIn(address, { code: codeOf(here) }));
    const headers = { ...halves, Host: `evil.test:${address.replace(/^.*:/, "")}` };
    for (const path of ["/", JOBS, "/web/session"]) expect((await ask(address, path, { headers })).status).toBe(421);
  });

  test("a form cannot act: what changes something is JSON", async () => {
    const { here, address } = await served();
    const form = { ...FROM_PAGE, "Content-Type": "application/x-www-form-urlencoded", "Content-Length": "0" };
    const halves = withBoth(await logIn(address, { code: codeOf(here) }));
    const entered = await ask(address, "/web/session", { method: "POST", headers: form });
    const body = { method: "POST", headers: { ...halves, "Content-Type": "text/plain" }, body: {} };
    expect([entered.status, (await ask(address, RUN, body)).status]).toEqual([415, 415]);
  });

  test("a preflight is told nothing that lets it go on", async () => {
    const { address } = await served();
    const headers = { Origin: "http://127.0.0.1:1", "Access-Control-Request-Method": "POST" };
    const told = await ask(address, RUN, { method: "OPTIONS", headers });
    expect([told.status, told.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  });
});

test("wrong logins are limited and all told the same; a right one is let in all the same", async () => {
  const { here, address } = await served();
  const wrongs = ["", "x", "A".repeat(27)].map((code) => ({ code }));
  const tried = [...wrongs, { key: "kron_aaaaaaaa_b" }, { key: "nothing" }, { code: "late" }];
  const told = [];
  for (const body of tried) {
    told.push(await ask(address, "/web/session", { method: "POST", headers: FROM_PAGE, body }));
  }
  expect(told.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
  const words = told.slice(0, 5).map(({ body }) => JSON.parse(body).detail);
  expect(new Set(words).size).toBe(1);
  expect(Number(told[5]?.headers["retry-after"])).toBeGreaterThan(0);
  await logIn(address, { code: codeOf(here) });
});

test("the page says what it may load: its own files, and no text that becomes code", async () => {
  const { address } = await served();
  const { headers, body } = await ask(address, "/jobs/some%2Fjob");
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  );
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
  });
  const [, script = ""] = /src="(\/assets\/[^"]+)"/.exec(body) ?? [];
  const told = await ask(address, script, { headers: { "Accept-Encoding": "gzip" } });
  expect([told.status, told.headers["content-encoding"]]).toEqual([200, "gzip"]);
  expect(told.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  for (const path of ["/assets/none.js", "/.source-digest", "/index.html.map"]) {
    const { status, body: text } = await ask(address, path);
    expect([path, status === 404 || text === body]).toEqual([path, true]);
  }
  expect((await ask(address, "/%2e%2e/package.json")).status).toBe(400);
});

test.each([
  [["--api", "127.0.0.1:0", "--web", "127.0.0.1:0"], "share one address"],
  [["--web", "0.0.0.0:0"], "can be reached from other machines"],
  [["--api", "unix:api.sock", "--web"], "a browser cannot open a page at a socket"],
])("krond start %j is refused", (args, said) => {
  const here = place(job("t/one", "true"));
  const { status, err } = here.krond("start", "--config", here.config, ...args);
  expect([status, err]).toEqual([1, expect.stringContaining(said)]);
});
