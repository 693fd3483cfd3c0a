import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { stateFileName } from "../../src/core/state/file-name.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

function identitiesIn(list: string): string[] {
  return (JSON.parse(list) as { identity: string }[]).map(({ identity }) => identity);
}

const children: { kill(signal: NodeJS.Signals): boolean }[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

describe("a crontab that krond runs itself", () => {
  test("its lines are jobs; after a change and SIGHUP the new lines are", async () => {
    const here = place(job("t/beside", "true"));
    const crontab = path.join(here.root, "crontab");
    fs.writeFileSync(crontab, `${NEVER} echo one\n${NEVER} echo two\n`);
    const krond = startKrond(here.config, here.state, ["--crontab", crontab]);
    await krond.ready();
    const before = identitiesIn(here.kron("list", "-o", "json").out);
    expect(before).toHaveLength(3);
    const one = before.find((identity) => identity.startsWith("crontab:crontab:")) ?? "";
    expect(here.kron("run", one).status).toBe(0);
    await krond.event("completed", { identity: one, exit_code: 0 });
    expect(["one\n", "two\n"]).toContain(here.kron("logs", one).out);
    for (const verb of ["list", "history"]) {
      expect(here.kron(verb).out, verb).toMatch(/\ncrontab:crontab:[0-9a-f]{12} {2}crontab: echo (one|two) /);
      const rows = JSON.parse(here.kron(verb, "-o", "json").out) as { identity: string; called?: string }[];
      const called = rows.flatMap(({ identity, called: name }) => (identity === one ? [name] : []));
      expect(called[0], verb).toMatch(/^crontab: echo (one|two)$/);
      expect(rows.filter(({ identity }) => identity === "t/beside").every((row) => !("called" in row))).toBe(true);
    }
    fs.writeFileSync(crontab, `${NEVER} echo two\n${NEVER} echo three\n`);
    krond.child.kill("SIGHUP");
    await krond.event("config_reloaded", { added: 1, removed: 1, changed: 0, unchanged: 2 });
    expect(here.kron("history").out).toContain(`${one}  crontab: echo`);
    const after = identitiesIn(here.kron("list", "-o", "json").out);
    expect(after).toHaveLength(3);
    expect(before.filter((identity) => after.includes(identity))).toHaveLength(2);
  });

  test("S35: while a line of it cannot be read its jobs stay; a crontab alone needs no configuration", async () => {
    const here = place("");
    const crontab = path.join(here.root, "crontab");
    fs.writeFileSync(crontab, `${NEVER} echo one\n`);
    fs.rmSync(here.config);
    const krond = startKrond(crontab, here.state, []);
    expect(await krond.ended).toBe(2);
    const alone = spawn(process.execPath, [
      ...[programs().krond, "start", "--crontab", crontab],
      ...["--state", here.state, "--log-format", "json"],
    ]);
    children.push(alone);
    const lines = createInterface({ input: alone.stdout });
    for await (const line of lines) if (line.includes('"event":"ready"')) break;
    expect(identitiesIn(here.kron("list", "-o", "json").out)).toHaveLength(1);
    fs.writeFileSync(crontab, "61 * * * * echo broken\n");
    expect(here.krond("reload").status).toBe(2);
    expect(identitiesIn(here.kron("list", "-o", "json").out)).toHaveLength(1);
  });
});

const isRoot = process.geteuid?.() === 0;

describe("whose configuration is believed", () => {
  test.skipIf(!isRoot)(
    `--trust-owner: a file of another user${isRoot ? "" : " (skipped: only root can make one)"}`,
    async () => {
      const here = place(job("t/a", "true"));
      fs.chownSync(here.config, 1234, 1234);
      const refused = startKrond(here.config, here.state);
      expect(await refused.ended).toBe(2);
      expect(refused.stderr).toContain("--trust-owner 1234");
      const trusted = startKrond(here.config, here.state, ["--trust-owner", "1234,0"]);
      await trusted.ready();
      fs.chownSync(here.config, 4321, 4321);
      expect(here.krond("reload").status).toBe(2);
      expect(identitiesIn(here.kron("list", "-o", "json").out)).toEqual(["t/a"]);
      const unknown = startKrond(here.config, here.state, ["--trust-owner", "nobody-of-that-name"]);
      expect(await unknown.ended).toBe(1);
    },
  );
});

describe("repairs", () => {
  const hourly = (identity: string): string =>
    `  - { identity: ${identity}, schedule: "0 * * * *", command: [/bin/true] }\n`;

  test("S32: a clock that ran ahead: nothing runs, the log warns; rewind frees the job, and only while no daemon runs", async () => {
    const here = place(hourly("t/a") + hourly("t/b"));
    const first = startKrond(here.config, here.state, ["--store", "files"]);
    await first.ready();
    await first.kill("SIGTERM");
    const file = path.join(here.state, stateFileName("t/a"));
    const ahead = { LastHandledPeriodID: "2099-01-01T00:00:00Z", LastNominalTime: "2099-01-01T00:00:00Z" };
    const chosen = { LastOutcome: "executed", LastChosenTime: "2099-01-01T00:00:00Z" };
    const document = JSON.parse(fs.readFileSync(file, "utf8")) as object;
    fs.writeFileSync(file, JSON.stringify({ ...document, ...ahead, ...chosen }));
    const second = startKrond(here.config, here.state, ["--store", "files"]);
    await second.ready();
    await second.event("state_ahead_of_clock", { identity: "t/a", level: "warn" });
    const rewind = ["state", "rewind", "t/a", "--config", here.config];
    expect(here.krond(...rewind).status).toBe(4);
    await second.kill("SIGTERM");
    const rewound = here.krond(...rewind, "-o", "json");
    expect([rewound.status, JSON.parse(rewound.out).from]).toEqual([0, "2099-01-01T00:00:00Z"]);
    expect(here.krond("state", "rewind", "t/b", "--config", here.config).status).toBe(3);
    const third = startKrond(here.config, here.state, ["--store", "files"]);
    await third.ready();
    const [job] = JSON.parse(here.kron("list", "--identity", "t/a", "-o", "json").out) as { next_period_id: string }[];
    expect(job?.next_period_id.slice(0, 4)).not.toBe("2099");
    expect(third.lines.filter(({ event }) => event === "state_ahead_of_clock")).toEqual([]);
    expect(here.kron("history", "t/a").status).toBe(0);
  });

  test("S32: recover --fence: refused while a daemon runs; afterwards what could be read is there and nothing repeats", async () => {
    const here = place(hourly("t/a") + job("t/b", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    here.kron("run", "t/b");
    await first.event("completed", { identity: "t/b" });
    const recover = ["state", "recover", "--fence", "--config", here.config];
    expect(here.krond(...recover).status).toBe(4);
    await first.kill();
    expect(here.krond("state", "recover").status).toBe(1);
    expect(here.krond(...recover).status).toBe(0);
    const second = startKrond(here.config, here.state);
    await second.ready();
    expect(here.kron("history", "t/b").out).toContain("(manual)");
    const [fenced] = JSON.parse(here.kron("list", "--identity", "t/a", "-o", "json").out) as Record<string, unknown>[];
    expect(fenced).toMatchObject({ last_reason: "state_recovered", active: [] });
    expect(second.lines.filter(({ event, identity }) => event === "started" && identity === "t/a")).toEqual([]);
  });

  test("S32: one document that cannot be read beside good ones: it is kept aside and fenced, the others go on", async () => {
    const here = place(hourly("t/bad") + job("t/good", "echo good"));
    const first = startKrond(here.config, here.state, ["--store", "files"]);
    await first.ready();
    await first.kill("SIGTERM");
    const name = stateFileName("t/bad");
    fs.writeFileSync(path.join(here.state, name), '{"Version":"1","Identi');
    const second = startKrond(here.config, here.state, ["--store", "files"]);
    await second.ready();
    await second.event("state_recovered", { identity: "t/bad", level: "error" });
    expect(fs.readdirSync(here.state).filter((entry) => entry.startsWith(`${name}.corrupt.`))).toHaveLength(1);
    expect(here.kron("run", "t/good").status).toBe(0);
    await second.event("completed", { identity: "t/good", exit_code: 0 });
    const [bad] = JSON.parse(here.kron("list", "--identity", "t/bad", "-o", "json").out) as Record<string, unknown>[];
    expect(bad).toMatchObject({ last_outcome: "skipped", last_reason: "state_recovered" });
  });
});

describe("signals", () => {
  test("a second SIGTERM does not wait for what the first one waits for", async () => {
    const here = place(job("t/long", "sleep 60"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/long");
    const stop = spawn(process.execPath, [programs().krond, "stop", "--graceful", "--state", here.state]);
    children.push(stop);
    await krond.event("draining", { graceful: true });
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.at(-1)).toMatchObject({ event: "stopped", level: "warn", signal: "SIGTERM" });
  });

  test("after a storm of SIGHUP the last configuration is in force, and few reloads were made", async () => {
    const here = place(job("t/0", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    for (let count = 1; count <= 100; count += 1) {
      here.write(job(`t/${count}`, "true"));
      krond.child.kill("SIGHUP");
    }
    const added = `t/100`;
    while (!here.kron("list", "-o", "jsonl").out.includes(`"${added}"`)) krond.child.kill("SIGHUP");
    expect(identitiesIn(here.kron("list", "-o", "json").out)).toEqual([added]);
    const reloads = krond.lines.filter(({ event }) => event === "config_reloaded").length;
    expect(reloads).toBeLessThan(100);
    expect(await krond.kill("SIGTERM")).toBe(0);
  });
});

const hasBoth = ["systemd-notify", "perl"].every((name) => spawnSync(name, ["--version"]).status === 0);

describe("a service manager", () => {
  test.skipIf(!hasBoth)(
    `is told of readiness, reload, life and stop${hasBoth ? "" : " (skipped: needs systemd-notify and perl)"}`,
    async () => {
      const here = place(job("t/a", "true"));
      const socket = path.join(here.root, "notify");
      const receive = `use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])); $| = 1; print "bound\\n";
      while (defined recv(S, $m, 4096, 0)) { next if $m =~ /BARRIER/; $m =~ s/\\n/|/g; print "$m\\n"; }`;
      const receiver = spawn("perl", ["-e", receive, socket], { stdio: ["ignore", "pipe", "inherit"] });
      children.push(receiver);
      const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
      const heard: string[] = [];
      const until = async (wanted: RegExp): Promise<void> => {
        for (let text = ""; !wanted.test(text); heard.push(text)) text = String((await lines.next()).value);
      };
      await until(/bound/);
      const krond = startKrond(here.config, here.state, [], { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "400000" });
      await until(/READY=1\|STATUS=1 jobs/);
      await until(/WATCHDOG=1/);
      await until(/WATCHDOG=1/);
      here.write(job("t/a", "true") + job("t/b", "true"));
      krond.child.kill("SIGHUP");
      await until(/RELOADING=1\|MONOTONIC_USEC=\d+/);
      await until(/READY=1\|STATUS=2 jobs/);
      krond.child.kill("SIGTERM");
      await until(/STOPPING=1/);
      expect(await krond.ended).toBe(0);
    },
  );
});
