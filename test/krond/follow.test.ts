import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const followers: ChildProcess[] = [];
afterEach(() => {
  for (const child of followers.splice(0)) child.kill("SIGKILL");
});

/** A command that goes on, and what it has printed so far. */
class Follower {
  text = "";
  readonly ended: Promise<number | null>;
  #wake = (): void => {};

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [programs().kron, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    followers.push(child);
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      this.text += piece;
      this.#wake();
    });
    this.ended = once(child, "close").then(([code]) => code as number | null);
  }

  async until(wanted: RegExp): Promise<void> {
    while (!wanted.test(this.text)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Prints a word, and another one when the gate is open. */
const talks = (gate: string): string =>
  job("t/talks", `echo begin; while [ ! -e ${gate} ]; do sleep 0.05; done; echo end`);

describe("--follow", () => {
  test("logs: what a run prints while it runs, then what the next one prints", async () => {
    const here = place("");
    const gate = path.join(here.root, "gate");
    here.write(talks(gate));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const follower = new Follower(["logs", "t/talks", "--follow", "--state", here.state]);
    here.kron("run", "t/talks");
    await follower.until(/^begin\n$/);
    fs.writeFileSync(gate, "");
    await follower.until(/^begin\nend\n$/);
    here.kron("run", "t/talks");
    await follower.until(/^begin\nend\nbegin\nend\n$/);
  });

  test("logs of one period: ends with its run", async () => {
    const here = place("");
    const gate = path.join(here.root, "gate");
    here.write(talks(gate));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const { slot } = JSON.parse(here.kron("run", "t/talks", "-o", "json").out) as { slot: string };
    const follower = new Follower(["logs", `t/talks@${slot}`, "-f", "--state", here.state]);
    await follower.until(/^begin\n$/);
    fs.writeFileSync(gate, "");
    expect(await follower.ended).toBe(0);
    expect(follower.text).toBe("begin\nend\n");
  });

  test("history: what happened, oldest first, and what happens", async () => {
    const here = place("");
    const gate = path.join(here.root, "gate");
    here.write(talks(gate) + job("t/fails", "exit 3"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const { slot } = JSON.parse(here.kron("run", "t/talks", "-o", "json").out) as { slot: string };
    const follower = new Follower(["history", "t/talks", "-f", "-o", "jsonl", "--state", here.state]);
    await follower.until(/\n/);
    fs.writeFileSync(gate, "");
    await follower.until(/"exit_code":0/);
    const rows = follower.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { source: string | null });
    expect(rows.filter(({ source }) => source === "manual")).toMatchObject([
      { period_id: slot, source: "manual", ended_at: null },
      { period_id: slot, source: "manual", exit_code: 0 },
    ]);
  });

  test.each(["logs t/none -f", "history t/none -f", "logs t/talks -f -o json", "history t/talks -f -o json"])(
    "kron %s exits with 1",
    async (line) => {
      const here = place(job("t/talks", "true"));
      await startKrond(here.config, here.state).ready();
      expect(here.kron(...line.split(" ")).status).toBe(1);
    },
  );
});

describe("completion", () => {
  test("offers the jobs of the daemon", async () => {
    const here = place(job("t/one", "true") + job("t/two", "true") + job("u/three", "true"));
    await startKrond(here.config, here.state).ready();
    const wrapper = `#!/bin/sh\nexec ${process.execPath} ${programs().kron} "$@"\n`;
    fs.writeFileSync(path.join(here.root, "kron"), wrapper, { mode: 0o755 });
    const line = `kron why --state ${here.state} t/`;
    const script = `source <(kron completion bash); COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=(t/) COMP_CWORD=0
      __kron_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${here.root}:${process.env["PATH"]}` };
    const { stdout } = spawnSync("bash", ["--norc", "-c", script, "bash", line], { encoding: "utf8", env });
    expect(stdout).toBe("t/one\nt/two\n");
  });
});
