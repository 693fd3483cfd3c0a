/**
 * Debian's cron with crontabs of our own, in namespaces of its own: its tables, its pid file and its view of processes are
 * private to it, those of the machine are neither read nor touched, and everything it started ends with it.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fineCpuMsOf, memoryOf, treeOf } from "../lib/proc.mjs";

const CRON = "/usr/sbin/cron";
const UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
/** Every place that cron reads or writes, as far as it exists on this machine, is covered before it starts. */
const SETUP = `set -e
for place in spool:/var/spool/cron run:/run; do mount --bind "$1/\${place%%:*}" "\${place#*:}"; done
mount --bind "$1/cron.d" /etc/cron.d
if [ -e /etc/crontab ]; then mount --bind "$1/empty" /etc/crontab; fi
if [ -n "$2" ]; then export LD_PRELOAD="$2" CLOCK_SHIFT_S="$3"; fi
exec ${CRON} -f -L 0`;

/** Why it cannot be measured here; null when it can. */
export function cronRefusal() {
  if (!existsSync(CRON)) return "it is not installed";
  if (process.geteuid?.() !== 0) return "giving it tables of its own needs root";
  const [command, ...args] = [...UNSHARE, "true"];
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) return "unshare is not installed";
  return status === 0 ? null : `this system gives no namespaces: ${stderr.trim().split("\n").at(-1)}`;
}

export function cronVersion() {
  const { stdout } = spawnSync("dpkg-query", ["--show", "cron"], { encoding: "utf8" });
  return stdout?.trim().split("\t")[1] ?? "(version unknown)";
}

/** The `sh` and what it becomes are one process, and the only child of `unshare`. */
export class DebianCron {
  #child;
  #ended;
  #stderr = "";
  startedMs = performance.now();

  /** `tables`: texts of system crontabs. With `shift` its clock runs ahead: `{ library, seconds }`. */
  constructor({ directory, tables, shift = null }) {
    for (const name of ["cron.d", "spool/crontabs", "run"]) mkdirSync(join(directory, name), { recursive: true });
    for (const [index, text] of tables.entries()) {
      // Cron believes only what nobody else could have written.
      const file = join(directory, "cron.d", `bench-${index}`);
      writeFileSync(file, text);
      chmodSync(file, 0o600);
    }
    writeFileSync(join(directory, "empty"), "");
    const [command, ...args] = UNSHARE;
    const setup = ["sh", "-c", SETUP, "cron", directory, shift?.library ?? "", String(shift?.seconds ?? 0)];
    this.startedMs = performance.now();
    this.#child = spawn(command, [...args, ...setup], { stdio: ["ignore", "ignore", "pipe"], env: cronEnv() });
    this.#ended = once(this.#child, "exit");
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-1_000);
    });
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get lastWords() {
    return this.#stderr.trim();
  }

  get pid() {
    return treeOf(this.#child.pid)[1] ?? null;
  }

  memory() {
    return memoryOf(this.pid);
  }

  cpuMs() {
    return fineCpuMsOf([this.pid]);
  }

  /** With it ends its namespace, and with that everything in it. */
  async stop() {
    if (this.isRunning) this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

function cronEnv() {
  return { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", TZ: "UTC" };
}
