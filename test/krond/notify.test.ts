/** Being told of what becomes of jobs, by a real daemon: commands, mail and servers that behave badly. */
import { createHmac } from "node:crypto";
import * as fs from "node:fs";
import type { Socket } from "node:net";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../src/core/decision/seed.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { NEVER, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { answer, type Manners, WELL, wildServers } from "../support/wild-server.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();
const place = placesIn(temporary, programs);
const server = wildServers();
const PRIVATE = ["--allow-private"];
const SECRET = "a secret that nobody is told";

type Row = Readonly<Record<string, unknown>>;

/** Ends well exactly while this file is there. */
function job(identity: string, flag: string, notify: string): string {
  const command = `[/bin/sh, -c, "echo said; test -e ${flag}"]`;
  return `  - { identity: ${identity}, schedule: "${NEVER}", command: ${command}, notify: [${notify}] }\n`;
}

function told(file: string): readonly Row[] {
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : "";
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as Row);
}

async function runs(krond: RunningKrond, here: Place, identity: string): Promise<void> {
  const from = krond.lines.length;
  expect(here.kron("run", identity).status).toBe(0);
  await krond.event("completed", { identity }, from);
}

describe("a command", () => {
  test("hears of a trouble once, and of its end once", async () => {
    const directory = temporary();
    const [flag, heard] = [path.join(directory, "fine"), path.join(directory, "heard")];
    const here = place(job("t/a", flag, `{ command: [/bin/sh, -c, "cat >> ${heard}"] }`));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    await runs(krond, here, "t/a");
    await krond.event("notified", { identity: "t/a", of: "failure" });
    await runs(krond, here, "t/a");
    fs.writeFileSync(flag, "");
    await runs(krond, here, "t/a");
    await krond.event("notified", { identity: "t/a", of: "recovered" });
    await runs(krond, here, "t/a");
    await krond.kill("SIGTERM");
    const [failure, recovered, ...more] = told(heard);
    expect(more).toEqual([]);
    expect(failure).toMatchObject({
      event: "failure",
      identity: "t/a",
      source: "manual",
      result: "exit 1",
      exit_code: 1,
    });
    expect(recovered).toMatchObject({ event: "recovered", result: "exit 0", since: failure?.["at"] });
  });

  test("whose program is not there says which one", async () => {
    const here = place(job("t/a", "/no", "{ command: [/no/such/teller, --secret] }"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    await runs(krond, here, "t/a");
    const line = await krond.event("notify_failed", { identity: "t/a" });
    expect(line["message"]).toBe("the command was not found: /no/such/teller");
  });

  test("that fails is tried again, and its message is not lost with the daemon", async () => {
    const directory = temporary();
    const [flag, heard] = [path.join(directory, "willing"), path.join(directory, "heard")];
    const command = `[/bin/sh, -c, "test -e ${flag} || exit 1; cat >> ${heard}"]`;
    const here = place(job("t/a", "/no", `{ command: ${command} }`));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await runs(first, here, "t/a");
    const line = await first.event("notify_failed", { identity: "t/a" });
    expect(line).toMatchObject({ level: "warn", to: "command", tries: 1, message: "it ended with 1" });
    await first.kill("SIGKILL");
    fs.writeFileSync(flag, "");
    const second = startKrond(here.config, here.state);
    expect(await second.event("notified")).toMatchObject({ delivery_id: line["delivery_id"] });
    await second.kill("SIGTERM");
    const third = startKrond(here.config, here.state);
    await third.ready();
    await third.kill("SIGTERM");
    expect(told(heard).map(({ id }) => id)).toEqual([line["delivery_id"]]);
  });
});

describe("a mail", () => {
  test("of what a run has printed comes by sendmail, as from cron", async () => {
    const directory = temporary();
    const mailbox = path.join(directory, "mailbox");
    const settings = `notifications: { sendmail: [/bin/sh, -c, "cat >> ${mailbox}"], mail_from: kron@example.org }\n`;
    const here = place(job("t/a", "/no", "{ on: [output], mail: ops@example.org }") + settings);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    await runs(krond, here, "t/a");
    await krond.event("notified", { to: "mail", of: "output" });
    const mail = fs.readFileSync(mailbox, "utf8");
    expect(mail).toMatch(/^From: kron@example.org\nTo: ops@example.org\nSubject: Cron <\S+@\S+> t\/a\n/);
    expect(mail.endsWith("\n\nsaid\n")).toBe(true);
    await krond.kill("SIGTERM");
  });
});

describe("a mail of a run that ended badly", () => {
  test.each(["file", "log"])("has what it printed, with output to: %s", async (to) => {
    const directory = temporary();
    const mailbox = path.join(directory, "mailbox");
    const settings = `notifications: { sendmail: [/bin/sh, -c, "cat >> ${mailbox}"] }\n`;
    const rule = "{ mail: ops@example.org }";
    const here = place(job("t/a", "/no", rule).replace(" notify:", ` output: { to: ${to} }, notify:`) + settings);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    await runs(krond, here, "t/a");
    await krond.event("notified", { to: "mail", of: "failure" });
    const mail = fs.readFileSync(mailbox, "utf8");
    expect(mail).toMatch(/^Subject: Kron <\S+> t\/a failed \(exit 1\)$/m);
    expect(mail.endsWith("\nsaid\n")).toBe(true);
    await krond.kill("SIGTERM");
  });
});

describe("a live crontab", () => {
  test("MAILTO: what a run prints is mailed to whom it names, and a silent run to nobody", async () => {
    const directory = temporary();
    const mailbox = path.join(directory, "mailbox");
    const here = place("  []\n");
    fs.appendFileSync(here.config, `notifications: { sendmail: [/bin/sh, -c, "cat >> ${mailbox}"] }\n`);
    const crontab = path.join(here.root, "crontab");
    const table = [
      "MAILTO=ops@example.org,root",
      `${NEVER} true`,
      `${NEVER} echo said`,
      'MAILTO=""',
      `${NEVER} echo unheard`,
    ];
    fs.writeFileSync(crontab, `${table.join("\n")}\n`);
    const krond = startKrond(here.config, here.state, ["--crontab", crontab]);
    await krond.ready();
    const identityOf = (command: string): string => `crontab:crontab:${sha256Hex(NEVER + command).slice(0, 12)}`;
    const identities = ["true", "echo unheard", "echo said"].map(identityOf);
    for (const identity of identities) await runs(krond, here, identity);
    await krond.event("notified", { identity: identities[2] ?? "", to: "mail", of: "output" });
    await krond.kill("SIGTERM");
    const mail = fs.readFileSync(mailbox, "utf8");
    expect(mail.match(/^To: .*$/gm)).toEqual(["To: ops@example.org, root"]);
    expect(mail.endsWith("\n\nsaid\n")).toBe(true);
  });
});

describe("a server that misbehaves", () => {
  test("gets each message until it has taken it, always under the same key", async () => {
    const manners: Manners[] = [
      (socket) => socket.destroy(),
      () => undefined,
      (socket) => answer(socket, 500, "no"),
      (socket) => answer(socket, 302, "", { location: "/elsewhere" }),
      WELL,
    ];
    let asked = 0;
    const wild = await server((socket, hit) => (manners[asked++] ?? WELL)(socket, hit));
    const here = place(job("t/a", "/no", `{ webhook: { url: "${wild.url}", timeout: 500ms } }`));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    await runs(krond, here, "t/a");
    expect(await krond.event("notified", { identity: "t/a" })).toMatchObject({ to: "webhook", tries: 5 });
    expect(new Set(wild.hits.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(wild.hits.map(({ path: asked }) => asked)).toEqual(["/", "/", "/", "/", "/"]);
    const last = wild.hits.at(-1);
    expect(last?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(last?.body ?? "")).toMatchObject({ event: "failure", identity: "t/a", host: expect.any(String) });
    await krond.kill("SIGTERM");
  });

  test("kill -9 between send and answer: the message comes again with its key, none is lost, no job waits", async () => {
    let isWilling = false;
    const wild = await server((socket, hit) => (isWilling ? WELL(socket, hit) : undefined));
    const rule = `{ webhook: { url: "${wild.url}" } }`;
    const here = place(["t/a", "t/b", "t/c"].map((identity) => job(identity, "/no", rule)).join(""));
    const first = startKrond(here.config, here.state, PRIVATE);
    await first.ready();
    for (const identity of ["t/a", "t/b", "t/c"]) await runs(first, here, identity);
    await wild.hitsReached(1);
    await first.kill("SIGKILL");
    isWilling = true;
    const second = startKrond(here.config, here.state, PRIVATE);
    for (const identity of ["t/a", "t/b", "t/c"]) await second.event("notified", { identity });
    const keys = wild.hits.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
    await second.kill("SIGTERM");
  });

  test("many at once: no more than the limit, and the last of them counts all the others", async () => {
    const held: Socket[] = [];
    let isHolding = true;
    const wild = await server((socket, hit) => (isHolding ? held.push(socket) : WELL(socket, hit)));
    const rule = `{ webhook: { url: "${wild.url}" } }`;
    const names = Array.from({ length: 12 }, (_, index) => `t/${index}`);
    const here = place(
      `${names.map((identity) => job(identity, "/no", rule)).join("")}notifications: { per_minute: 3 }\n`,
    );
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    for (const identity of names) await runs(krond, here, identity);
    await wild.hitsReached(1);
    isHolding = false;
    for (const socket of held) answer(socket, 200, "");
    await wild.hitsReached(3);
    const bodies = wild.hits.map(({ body }) => JSON.parse(body) as Row);
    expect(bodies.map(({ event }) => event)).toEqual(["failure", "failure", "group"]);
    expect(bodies[2]).toMatchObject({ count: 10, left_out: 0 });
    const all = bodies.flatMap((body) => (body["events"] as readonly Row[] | undefined) ?? [body]);
    expect(all.map(({ identity }) => identity)).toEqual(names);
    await krond.kill("SIGTERM");
  });
});

describe("a webhook", () => {
  test("is signed as a Standard Webhook, by a secret that is on no record", async () => {
    const wild = await server(WELL);
    const secretFile = path.join(temporary(), "secret");
    fs.writeFileSync(secretFile, SECRET, { mode: 0o600 });
    const rule = `{ webhook: { url: "${wild.url}", signature: { secret_file: ${secretFile} } } }`;
    const here = place(job("t/a", "/no", rule));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    await runs(krond, here, "t/a");
    await krond.event("notified", { identity: "t/a" });
    const [hit] = wild.hits;
    const header = (name: string): string => String(hit?.headers[name]);
    const id = header("webhook-id");
    const signed = createHmac("sha256", SECRET).update(`${id}.${header("webhook-timestamp")}.${hit?.body}`);
    expect(header("webhook-signature")).toBe(`v1,${signed.digest("base64")}`);
    expect(header("idempotency-key")).toBe(id);
    expect(JSON.stringify(krond.lines)).not.toContain(SECRET);
    await krond.kill("SIGTERM");
  });
});

describe("recipes", () => {
  test("Alertmanager: an alert that fires and is resolved", async () => {
    const flag = path.join(temporary(), "fine");
    const wild = await server(WELL);
    const rule = `{ webhook: { url: "${wild.url}api/v2/alerts" }, format: alertmanager }`;
    const here = place(job("t/a", flag, rule));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    await runs(krond, here, "t/a");
    await wild.hitsReached(1);
    fs.writeFileSync(flag, "");
    await runs(krond, here, "t/a");
    await wild.hitsReached(2);
    const [fired, resolved] = wild.hits.map(({ body }) => (JSON.parse(body) as Row[])[0]);
    expect(fired).toMatchObject({ labels: { alertname: "KronJob", identity: "t/a" } });
    expect(fired).not.toHaveProperty("endsAt");
    expect(resolved).toMatchObject({
      labels: fired?.["labels"],
      startsAt: fired?.["startsAt"],
      endsAt: expect.any(String),
    });
    await krond.kill("SIGTERM");
  });

  test("healthchecks: a ping at each start, success and failure, in order", async () => {
    const flag = path.join(temporary(), "fine");
    const wild = await server(WELL);
    const ping = (on: string, tail: string): string =>
      `{ on: [${on}], repeat: true, webhook: { url: "${wild.url}ping/id${tail}" } }`;
    const rules = [ping("start", "/start"), ping("success", ""), ping("failure, missed", "/fail")].join(", ");
    const here = place(job("t/a", flag, rules));
    const krond = startKrond(here.config, here.state, PRIVATE);
    await krond.ready();
    await runs(krond, here, "t/a");
    await wild.hitsReached(2);
    await runs(krond, here, "t/a");
    await wild.hitsReached(4);
    fs.writeFileSync(flag, "");
    await runs(krond, here, "t/a");
    await wild.hitsReached(6);
    const paths = wild.hits.map(({ path: asked }) => asked.replace("/ping/id", "") || "ok");
    expect([...paths].sort()).toEqual(["/fail", "/fail", "/start", "/start", "/start", "ok"]);
    await krond.kill("SIGTERM");
  });
});
