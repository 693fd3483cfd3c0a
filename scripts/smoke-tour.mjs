/**
 * The tour of somebody who has just installed the package: two small jobs, every command of the daemon's
 * guide, a kill -9 in the middle. Each exit status and the words that matter are asserted.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 20_000;
const LONG_AGO = "2020-01-01T00:00:00Z";

const jobs = (words) => `jobs:
  - identity: prod/db-backup
    schedule: "0 0 * * *"
    window: { mode: after, duration: 3h }
    seed: { salt: backup }
    command: [/usr/bin/backup, --full]
  - identity: prod/hello
    schedule: "0 0 1 1 *"
    command: [echo, ${words}]
`;

/** `bin`: where the programs are; `home`: an empty directory of the user; `as`: a command that becomes the user. */
export async function tour({ name, bin, home, as }) {
  const [program, ...prefix] = [...as, "env"];
  const env = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", NO_COLOR: "1" };
  const state = ["--state", join(home, "state")];
  const config = join(home, "jobs.yaml");
  let steps = 0;

  const run = (words, expected = 0) => {
    const [command, ...args] = words;
    const result = spawnSync(program, [...prefix, join(bin, command), ...args], { cwd: home, env, encoding: "utf8" });
    const said = `${result.stdout}${result.stderr}`;
    if (result.status !== expected) throw new Error(`${name}: ${words.join(" ")}: exit ${result.status}\n${said}`);
    return said;
  };
  const step = (words, wanted, expected = 0) => {
    const said = run(words, expected);
    if (!wanted.test(said)) throw new Error(`${name}: ${words.join(" ")}: no ${wanted} in:\n${said}`);
    steps += 1;
  };
  const eventually = async (words, wanted) => {
    const untilMs = performance.now() + PATIENCE_MS;
    while (!wanted.test(run(words)) && performance.now() < untilMs) await sleep(50);
    step(words, wanted);
  };

  const start = async () => {
    const args = [...prefix, join(bin, "krond"), "start", "--config", config, ...state, "--log-format", "text"];
    const daemon = spawn(program, args, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(daemon, "close");
    let said = "";
    const isReady = new Promise((resolve, reject) => {
      for (const stream of [daemon.stdout, daemon.stderr]) {
        stream.on("data", (piece) => {
          said += piece;
          if (said.includes("event=ready")) resolve();
        });
      }
      ended.then(([status]) => reject(new Error(`${name}: krond start: exit ${status}\n${said}`)));
    });
    await isReady;
    steps += 1;
    return { daemon, ended };
  };

  const expectEnd = async ({ ended }, wanted) => {
    const [status, signal] = await ended;
    if ((status ?? signal) !== wanted) throw new Error(`${name}: krond ended with ${status ?? signal}, not ${wanted}`);
    steps += 1;
  };

  writeFileSync(config, jobs("hello"), { mode: 0o644 });
  step(["kron", "lint", config], /jobs\.yaml/);
  step(["krond", "status", ...state], /no daemon|no state/, 1);
  let running = await start();
  try {
    step(["krond", "status", ...state], /jobs +2/);
    step(["krond", "start", "--config", config, ...state], /another process holds/, 4);
    step(["kron", "list", ...state], /prod\/db-backup[\s\S]*prod\/hello/);
    step(["kron", "why", `prod/hello@2026-01-01T00:00:00Z`, ...state], /before the definition/);
    step(["kron", "why", `prod/hello@${LONG_AGO}`, ...state], /before the definition/);
    step(["kron", "why", "prod/nobody", ...state], /no job/, 1);
    step(["kron", "run", "prod/hello", ...state], /./);
    await eventually(["kron", "history", "prod/hello", ...state], /\(manual\) +executed .* 0 *$/m);
    step(["kron", "logs", "prod/hello", ...state], /^hello$/m);
    step(["kron", "run", "prod/db-backup", ...state], /command was not found/, 1);
    step(["kron", "pause", "prod/hello", "--until", "2h", "--reason", "an upgrade", ...state], /./);
    step(["kron", "list", ...state], /paused/);
    step(["kron", "resume", "prod/hello", ...state], /./);
    step(["kron", "cancel", "prod/hello", ...state], /nothing to cancel/, 1);
    writeFileSync(config, jobs("goodbye"));
    step(["kron", "plan", ...state], /prod\/hello[\s\S]*command|command[\s\S]*prod\/hello/);
    step(["krond", "reload", ...state], /prod\/hello|reloaded/);
    step(["kron", "run", "prod/hello", ...state], /./);
    await eventually(["kron", "logs", "prod/hello", ...state], /^goodbye$/m);
    writeFileSync(config, jobs("x").replace("0 0 * * *", "0 25 * * *"));
    step(["krond", "reload", ...state], /25/, 2);
    step(["kron", "lint", config], /hour field: 25 is out of range/, 2);
    writeFileSync(config, jobs("goodbye"));

    // kill -9, and everything is still there.
    const { pid } = JSON.parse(run(["krond", "status", "-o", "json", ...state]));
    process.kill(pid, "SIGKILL");
    await expectEnd(running, "SIGKILL");
    step(["krond", "status", ...state], /no daemon/, 1);
    step(["kron", "list", ...state], /prod\/hello/);
    step(["kron", "run", "prod/hello", ...state], /no daemon/, 1);
    running = await start();
    step(["kron", "history", "prod/hello", ...state], /\(manual\)[\s\S]*\(manual\)/);
    step(["kron", "why", "prod/db-backup", ...state], /./);
    step(["krond", "stop", ...state], /has stopped/);
    await expectEnd(running, 0);
    step(["krond", "stop", ...state], /no daemon/, 1);

    const [copy, other] = [join(home, "copy"), ["--state", join(home, "other")]];
    step(["krond", "state", "check", ...state], /./);
    step(["krond", "state", "export", copy, ...state], /2 documents/);
    step(["krond", "state", "import", copy, "--store", "files", ...other], /2 documents/);
    step(["krond", "state", "check", ...other], /./);
    const [before, after] = [state, other].map((it) => run(["kron", "history", "prod/hello", "-o", "json", ...it]));
    if (before !== after) throw new Error(`${name}: another history after the import:\n${before}\n${after}`);
  } finally {
    running.daemon.kill("SIGKILL");
  }
  process.stdout.write(`pack: tour ${name}: ${steps} steps\n`);
}

/** In no database, as little as a user can be. */
const SOMEBODY = 61_234;

/** As whoever we are, and as a normal user where we are root. */
export async function tours(bin, folder) {
  const isRoot = process.geteuid?.() === 0;
  const users = [{ name: isRoot ? "as root" : "as a normal user", uid: null, as: [] }];
  const as = ["setpriv", `--reuid=${SOMEBODY}`, `--regid=${SOMEBODY}`, "--clear-groups", "--"];
  if (isRoot && spawnSync(as[0], [...as.slice(1), "true"]).status === 0) {
    users.push({ name: "as a normal user", uid: SOMEBODY, as });
  } else
    process.stdout.write(`pack: tour as ${isRoot ? "a normal user" : "root"}: skipped, it needs root and setpriv\n`);
  // All come to their end, so that none that fails leaves the daemon of another behind.
  const ends = await Promise.allSettled(
    users.map(async ({ name, as: prefix, uid }, index) => {
      const home = join(folder, `home-${index}`);
      mkdirSync(home, { mode: 0o700 });
      if (uid !== null) spawnSync("chown", [`${uid}:${uid}`, home]);
      await tour({ name, bin, home, as: prefix });
    }),
  );
  for (const { status, reason } of ends) if (status === "rejected") throw reason;
}
