/** A krond as a process, of the present build or of another version's: started, asked and ended from outside, and never left behind. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cpuMsOf, fineCpuMsOf, memoryOf, treeOf } from "../lib/proc.mjs";
import { eventually } from "../lib/workplace.mjs";
import { parseMetrics } from "./metrics.mjs";

const PRESENT = fileURLToPath(new URL("../../", import.meta.url));
const LOOP_PROBE = new URL("./loop-probe.mjs", import.meta.url).href;
const STOP_LIMIT_MS = 60_000;
const PROBE_LIMIT_MS = 30_000;
const LIST_BYTES = 2 ** 30;

export class Krond {
  #child;
  #ended;
  #ready = null;
  #lastWords = "";
  #startedMs = performance.now();
  /** From the start of the process to its line `ready`. */
  readyMs = null;

  /**
   * With `probe` the delays of its event loop are recorded from its first line on, and told through that file. Neither
   * that nor metrics are there unasked: both look at the loop many times a second. `root`: where the version lies that is
   * started.
   */
  constructor({
    config,
    state,
    probe = null,
    isCollectable = false,
    hasMetrics = false,
    hasPage = false,
    root = PRESENT,
  }) {
    this.state = state;
    this.root = root;
    this.probe = probe;
    this.#child = spawn(
      process.execPath,
      [
        ...(probe === null ? [] : ["--import", LOOP_PROBE]),
        ...(isCollectable ? ["--expose-gc"] : []),
        ...[join(root, "dist/krond.js"), "start", "--config", config, "--state", state, "--log-format", "json"],
        ...(hasMetrics ? ["--metrics", "127.0.0.1:0"] : []),
        ...(hasPage ? ["--web", "127.0.0.1:0"] : []),
      ],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, TZ: "UTC", BENCH_LOOP_FILE: probe ?? "" } },
    );
    this.#ended = once(this.#child, "exit");
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#heard(line));
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#lastWords = (this.#lastWords + text).slice(-2_000);
    });
  }

  get pid() {
    return this.#child.pid;
  }

  #heard(line) {
    // Thousands of lines come while jobs run; only two of all kinds are of interest.
    if (this.#ready === null && line.includes('"event":"ready"')) {
      this.readyMs = performance.now() - this.#startedMs;
      this.#ready = JSON.parse(line);
    } else if (line.includes('"event":"fatal"')) this.#lastWords += line;
  }

  async ready(limitMs) {
    const isOver = () => this.#ready !== null || this.#child.exitCode !== null || this.#child.signalCode !== null;
    await eventually(isOver, limitMs, "starting krond");
    if (this.#ready === null) throw new Error(`krond ended while it started: ${this.#lastWords.trim().slice(0, 400)}`);
    return this.#ready;
  }

  memory() {
    return memoryOf(this.pid);
  }

  /** With its launcher processes. */
  cpuMs() {
    return fineCpuMsOf(treeOf(this.pid));
  }

  /** All metrics as of now; the delays of the loop begin anew with it. */
  async metrics() {
    const response = await fetch(`http://${this.#ready.metrics}/metrics`);
    return parseMetrics(await response.text());
  }

  /** Since the process began, or it was asked last. Only with a probe; where it may, it collects its garbage before it answers. */
  async loopDelay() {
    rmSync(this.probe, { force: true });
    process.kill(this.pid, "SIGUSR2");
    const read = () => {
      try {
        return JSON.parse(readFileSync(this.probe, "utf8"));
      } catch {
        return null;
      }
    };
    return eventually(read, PROBE_LIMIT_MS, "asking for the delays of the loop");
  }

  /** The daemon's own processor time, without its launchers; threads that have ended are in it. */
  ownCpuMs() {
    return cpuMsOf(this.pid);
  }

  /** What a command of ours prints about it. */
  command(program, ...args) {
    const all = [join(this.root, `dist/${program}.js`), ...args, "--state", this.state];
    const stdio = ["ignore", "pipe", "ignore"];
    return execFileSync(process.execPath, all, { encoding: "utf8", maxBuffer: LIST_BYTES, stdio });
  }

  /** Outcomes by identity; older versions spelled it otherwise. */
  outcomes() {
    const text = this.command("kron", "list", "-o", "jsonl");
    const rows = text.split("\n").filter((line) => line !== "");
    return new Map(
      rows.map((line) => JSON.parse(line)).map((row) => [row.identity, row.last_outcome ?? row.lastOutcome]),
    );
  }

  async stop(signal = "SIGTERM") {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const overdue = setTimeout(() => this.#child.kill("SIGKILL"), STOP_LIMIT_MS);
    this.#child.kill(signal);
    await this.#ended;
    clearTimeout(overdue);
  }
}

/** Starts one that tells its metrics, waits until it is ready, hands it over and ends it. */
export async function withKrond({ config, state, limitMs, root }, use) {
  const krond = new Krond({ config, state, hasMetrics: true, root });
  try {
    await krond.ready(limitMs);
    return await use(krond);
  } finally {
    await krond.stop();
  }
}
