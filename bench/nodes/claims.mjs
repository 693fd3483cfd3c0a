/** Runs claimed and finished by several processes at the same time, on one database: from the first start to the last end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const WORKER = fileURLToPath(new URL("../postgres/worker.mjs", import.meta.url));

class Worker {
  #lines;
  #child;

  constructor(settings) {
    this.#child = spawn(process.execPath, [WORKER, JSON.stringify(settings)], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async line() {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("a process ended before it was done");
    return value;
  }

  async run() {
    this.#child.stdin.write("go\n");
    await this.line();
  }

  async end() {
    this.#child.kill("SIGKILL");
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}

/** Runs a second, of all together; each has `count` of them. */
export async function claimsOf(nodes, settings) {
  const workers = [];
  try {
    // The first makes what all of them need.
    for (let number = 0; number < nodes; number += 1) {
      const worker = new Worker({ ...settings, process: { number, of: nodes } });
      workers.push(worker);
      await worker.line();
    }
    const from = performance.now();
    await Promise.all(workers.map((worker) => worker.run()));
    return { rate: (nodes * settings.count * 1_000) / (performance.now() - from) };
  } finally {
    for (const worker of workers) await worker.end();
  }
}
