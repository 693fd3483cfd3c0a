import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../../support/krond.js";
import { job, NEVER, placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const ROUNDS = 5;

describe("krond start", () => {
  test("R15: a run is started, recorded and shown; SIGTERM ends the daemon with 0", async () => {
    const here = place(job("t/hello", "echo hello from $KRON_IDENTITY"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    expect(here.kron("run", "t/hello").status).toBe(0);
    await krond.event("completed", { identity: "t/hello", exit_code: 0 });
    expect(here.kron("logs", "t/hello").out).toBe("hello from t/hello\n");
    const history = JSON.parse(here.kron("history", "t/hello", "-o", "json").out) as { source: string | null }[];
    expect(history[0]).toMatchObject({ source: "manual", outcome: "executed", exit_code: 0 });
    expect(await krond.kill("SIGTERM")).toBe(0);
    expect(krond.lines.map(({ event }) => event).slice(-2)).toEqual(["draining", "stopped"]);
  });

  test("S33: a second daemon on the same state directory exits with 4", async () => {
    const here = place(job("t/one", "true"));
    await startKrond(here.config, here.state).ready();
    const second = startKrond(here.config, here.state);
    expect(await second.ended).toBe(4);
    expect(second.stderr).toContain("another process holds");
  });

  test("R9: of daemons that start at once one runs and all others exit with 4; SIGKILL of the holder frees the lock", async () => {
    const here = place(job("t/one", "true"));
    const link = path.join(path.dirname(here.state), "link");
    fs.mkdirSync(here.state, { mode: 0o700 });
    fs.symlinkSync(path.dirname(here.state), link);
    let heldTwice = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const paths = [here.state, `${here.state}/`, path.join(link, "state")];
      const all = paths.map((state) => startKrond(here.config, state));
      const ends = all.map((krond) => krond.ended.then((status) => ({ krond, status })));
      const losers = [await Promise.race(ends)];
      const rest = ends.filter((_, index) => all[index] !== losers[0]?.krond);
      losers.push(await Promise.race(rest));
      expect(losers.map(({ status }) => status)).toEqual([4, 4]);
      const winner = all.find((krond) => losers.every((loser) => loser.krond !== krond));
      await winner?.ready();
      heldTwice += losers.filter(({ krond }) => krond.lines.some(({ event }) => event === "ready")).length;
      await winner?.kill();
    }
    console.log(
      `R9: ${ROUNDS} rounds of 3 simultaneous starts by path, by path with a slash and by link: ${heldTwice} double holders`,
    );
    expect(heldTwice).toBe(0);
  });

  test("metrics, health and readiness are served where --metrics says", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--metrics", "0"]);
    const { metrics } = await krond.ready();
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" });
    const text = await (await fetch(`http://${String(metrics)}/metrics`)).text();
    expect(text).toContain('kron_runs_total{result="success"} 1');
    expect((await fetch(`http://${String(metrics)}/readyz`)).status).toBe(200);
    expect(await krond.kill("SIGTERM")).toBe(0);
  });

  test("an address that is taken refuses the start with 5 and leaves nothing behind", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--metrics", "192.0.2.1:9"]);
    expect(await krond.ended).toBe(5);
    expect(krond.stderr).toContain("cannot listen");
    expect(fs.existsSync(path.join(here.state, "krond.sock"))).toBe(false);
  });

  test("S35: an invalid configuration exits with 2, names every problem with its place, and leaves no state", async () => {
    const here = place(
      `  - { identity: t/a, schedule: "61 * * * *", command: [x] }\n  - { identity: t/b, schedule: "* * * * *" }\n`,
    );
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("jobs.yaml:4:");
    expect(krond.stderr).toContain("jobs.yaml:5:");
    expect(krond.stderr).toMatch(/\d problems/);
    expect(fs.existsSync(here.state)).toBe(false);
  });

  test("a refused start prints no line of the configuration: it may hold a secret", async () => {
    const here = place(job("t/a", "true", ", env: { PASSWORD: [canary-5up3r] }"));
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("env: a field has the wrong type");
    expect(krond.stderr).toContain("kron lint");
    expect(krond.stderr + JSON.stringify(krond.lines)).not.toContain("canary");
  });

  test("a request to a private address is refused with the way out, and with it the daemon starts", async () => {
    const here = place(`  - { identity: t/h, schedule: "* * * * *", http: { url: "http://127.0.0.1:9/" } }\n`);
    fs.writeFileSync(here.config, fs.readFileSync(here.config, "utf8").replace(/^defaults:\n.*\n/m, ""));
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("requests may not go to a private address");
    expect(krond.stderr).toContain("--allow-private");
    for (const way of [["--allow-private"], ["--allow", "10.0.0.0/8,127.0.0.0/8"]]) {
      const allowed = startKrond(here.config, here.state, way);
      await allowed.ready();
      await allowed.kill("SIGTERM");
    }
  });

  test("S31: a state directory that is open to others exits with 3", async () => {
    const here = place(job("t/a", "true"));
    fs.mkdirSync(here.state, { mode: 0o755 });
    fs.chmodSync(here.state, 0o755);
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(3);
    expect(krond.stderr).toContain("it must be 0700");
  });

  test("a configuration that strangers may write exits with 2", async () => {
    const here = place(job("t/a", "true"));
    fs.chmodSync(here.config, 0o666);
    const krond = startKrond(here.config, here.state);
    expect(await krond.ended).toBe(2);
    expect(krond.stderr).toContain("may be written by others");
  });

  test("S31: the socket is its owner's alone, in a directory that is too, and is gone after the stop", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const socket = path.join(here.state, "krond.sock");
    expect(fs.statSync(here.state).mode & 0o7777).toBe(0o700);
    expect(fs.statSync(socket).mode & 0o7777).toBe(0o600);
    expect(here.krond("stop").status).toBe(0);
    expect(await krond.ended).toBe(0);
    expect(fs.existsSync(socket)).toBe(false);
  });

  test("a socket that a killed daemon left behind does not hinder the next one", async () => {
    const here = place(job("t/a", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill();
    expect(here.krond("status").status).toBe(1);
    await startKrond(here.config, here.state).ready();
    expect(here.krond("status").status).toBe(0);
  });
});

describe("reload", () => {
  test("S16, S35: SIGHUP takes what is valid; an invalid job keeps its definition and is reported", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(job("t/a", "false").replace(NEVER, "61 * * * *") + job("t/c", "true"));
    krond.child.kill("SIGHUP");
    await krond.event("config_reloaded", { added: 1, removed: 1, changed: 0, unchanged: 1 });
    await krond.event("error", { identity: "t/a", operation: "reload", error_type: "ValidationError" });
    const jobs = JSON.parse(here.kron("list", "-o", "json").out) as { identity: string; schedule: string }[];
    expect(jobs.map(({ identity, schedule }) => [identity, schedule])).toEqual([
      ["t/a", NEVER],
      ["t/c", NEVER],
    ]);
  });

  test("S35: a file that cannot be read at all takes nothing away", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    fs.writeFileSync(here.config, "jobs: [\n");
    const reload = here.krond("reload");
    expect(reload.status).toBe(2);
    expect(JSON.parse(here.kron("list", "-o", "json").out)).toHaveLength(1);
  });

  test("S16: a changed file of dates is a changed definition, for a reload and for a start; a broken one changes nothing", async () => {
    const here = place("");
    const dates = path.join(here.root, "days.ics");
    const days = (day: string): void =>
      fs.writeFileSync(dates, `BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:${day}\nEND:VEVENT\nEND:VCALENDAR\n`, {
        mode: 0o644,
      });
    const used = job("t/a", "true", ", constraints: { avoid: calendar=x }") + job("t/b", "true");
    here.write(`${used}calendars: { x: { file: days.ics } }\n`);
    days("20261225");
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const reload = (): unknown => JSON.parse(here.krond("reload", "-o", "json").out);
    expect(reload()).toMatchObject({ added: [], removed: [], changed: [], unchanged: 2 });
    days("20261226");
    const changed = [{ identity: "t/a", fields: ["constraints"] }];
    expect(reload()).toMatchObject({ added: [], removed: [], changed, unchanged: 1 });
    days("20261226T100000");
    expect(here.krond("reload").status).toBe(2);
    days("20261226");
    expect(reload()).toMatchObject({ changed: [], unchanged: 2 });
    expect(await krond.kill("SIGTERM")).toBe(0);
    days("20261227");
    const next = startKrond(here.config, here.state);
    await next.ready();
    // As the start read it: had it gone by what it knew of the files, the job would have changed now.
    expect(JSON.parse(here.kron("plan", "-o", "json").out)).toMatchObject({ changed: [], unchanged: 2 });
    fs.chmodSync(dates, 0o666);
    expect(here.krond("reload").out + here.krond("reload").err).toContain(
      "days.ics may be written by others than its owner",
    );
  });

  test("S16: kron plan tells what krond reload then does", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(job("t/a", "echo changed") + job("t/c", "true"));
    const plan = here.kron("plan", "-o", "json");
    expect(plan.status).toBe(0);
    const expected = { added: ["t/c"], removed: ["t/b"], unchanged: 0, kept: [], problems: [] };
    expect(JSON.parse(plan.out)).toMatchObject(expected);
    expect(JSON.parse(plan.out).changed).toMatchObject([{ identity: "t/a", fields: ["command"] }]);
    expect(JSON.parse(here.krond("reload", "-o", "json").out)).toMatchObject(expected);
    expect(JSON.parse(here.kron("plan", "-o", "json").out)).toMatchObject({ added: [], removed: [], unchanged: 2 });
  });
});

describe("what changed while no daemon ran", () => {
  test("S16: a job that is gone at the start counts as removed, keeps its state, and can come back", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill("SIGTERM");
    here.write(job("t/a", "true"));
    const second = startKrond(here.config, here.state);
    await second.event("removed", { identity: "t/b" });
    await second.ready();
    expect(here.kron("run", "t/b").status).toBe(1);
    expect(here.kron("list", "-o", "jsonl").out).not.toContain("t/b");
    await second.kill("SIGTERM");
    expect(here.kron("list", "-o", "jsonl").out).not.toContain("t/b");
    here.write(job("t/a", "true") + job("t/b", "true"));
    const third = startKrond(here.config, here.state);
    await third.ready();
    expect(here.kron("run", "t/b").status).toBe(0);
    await third.event("completed", { identity: "t/b", exit_code: 0 });
  });

  test("S16: the same over a reload", async () => {
    const here = place(job("t/a", "true") + job("t/b", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.write(job("t/a", "true"));
    expect(here.krond("reload").status).toBe(0);
    expect(here.kron("run", "t/b").status).toBe(1);
    here.write(job("t/a", "true") + job("t/b", "true"));
    expect(here.krond("reload").status).toBe(0);
    expect(here.kron("run", "t/b").status).toBe(0);
  });
});
