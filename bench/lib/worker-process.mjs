/**
 * A process that does one measurement and is led through it by messages. Whatever does not end within its bound, dies, or
 * eats the machine is cut off and named.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { memoryOf } from "./proc.mjs";

const HEAP_MIB = 3_072;
const MEMORY_LIMIT = 4 * 2 ** 30;
const LOOK_MS = 100;
const START_LIMIT_MS = 30_000;

export class CutOff extends Error {}

export class WorkerProcess {
  #child;
  #messages = [];
  #stderr = "";
  #ended;

  /** `file` is run with `args`, with the garbage collector at hand and in UTC. */
  constructor(file, ...args) {
    const all = ["--expose-gc", `--max-old-space-size=${HEAP_MIB}`, file, ...args.map(String)];
    const stdio = ["ignore", "ignore", "pipe", "ipc"];
    this.#child = spawn(process.execPath, all, { stdio, env: { ...process.env, TZ: "UTC" } });
    this.#child.on("message", (message) => this.#messages.push(message));
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-8_000);
    });
    this.#ended = once(this.#child, "exit");
  }

  get pid() {
    return this.#child.pid;
  }

  send(type, fields = {}) {
    // A process that died in between is noticed by whoever waits for the answer.
    if (this.#child.connected) this.#child.send({ type, ...fields }, () => {});
  }

  /** The next message of this type; cut off when it takes too long, when the process dies, or when it eats the machine. */
  async next(type, limitMs, what) {
    const giveUpAt = Date.now() + limitMs;
    for (;;) {
      const found = this.#messages.find((message) => message.type === type);
      if (found !== undefined) {
        this.#messages = this.#messages.filter((message) => message !== found);
        return found;
      }
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new CutOff(`${what}: the process ended: ${this.#lastWords()}`);
      }
      if (Date.now() > giveUpAt) throw new CutOff(`${what}: not done after ${Math.round(limitMs / 1000)} s`);
      if (this.#isGreedy()) throw new CutOff(`${what}: more than 4 GiB of memory`);
      await wait(LOOK_MS);
    }
  }

  async settled(what) {
    this.send("settle");
    await this.next("settled", START_LIMIT_MS, what);
    return memoryOf(this.pid);
  }

  async end() {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #isGreedy() {
    try {
      return memoryOf(this.pid).rss > MEMORY_LIMIT;
    } catch {
      return false;
    }
  }

  #lastWords() {
    const said = /FATAL ERROR: .*|\w*Error: .*/.exec(this.#stderr)?.[0].trim().slice(0, 160);
    return said ?? this.#child.signalCode ?? `exit ${this.#child.exitCode}`;
  }
}
