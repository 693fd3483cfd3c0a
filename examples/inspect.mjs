/**
 * Watches jobs live, as any client of the inspector protocol can. `node examples/inspect.mjs ws://127.0.0.1:PORT` prints
 * what the daemon does that was started with `krond start --inspect PORT`, until it stops.
 *
 * Without an address it starts a daemon of its own for a moment, runs a job and checks that it saw all of its life.
 * Needs the package @statelyai/inspect.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createWebSocketReceiver } from "@statelyai/inspect";

/** Calls `see` with each frame and one line that says what it is. */
function watch(server, see) {
  createWebSocketReceiver({ server }).subscribe((frame) => {
    const state =
      frame.snapshot === undefined ? "" : ` ${JSON.stringify(frame.snapshot.value ?? frame.snapshot.status)}`;
    const event = frame.event === undefined ? "" : ` ${frame.event.type}`;
    see(frame, `${frame.type.padEnd(16)} ${frame.sessionId}${event}${state}`);
  });
}

const [address] = process.argv.slice(2);
if (address === undefined) await watchOwn();
else watch(address, (_, line) => console.log(line));

async function watchOwn() {
  const directory = mkdtempSync(join(tmpdir(), "kron-inspect-"));
  const [config, state] = [join(directory, "jobs.yaml"), join(directory, "state")];
  writeFileSync(config, 'jobs: [{ identity: demo/watched, schedule: "@yearly", command: [sleep, "0.5"] }]\n');
  const program = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
  const options = ["start", "--inspect", "--config", config, "--state", state, "--log-format", "json"];
  const krond = spawn(process.execPath, [program("krond"), ...options], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const states = await new Promise((resolve, reject) => {
      krond.on("exit", (code) => reject(new Error(`krond has ended with ${code}`)));
      const seen = [];
      const see = (frame, line) => {
        console.log(line);
        // Everything that there is has been listed: now something happens.
        if (frame.event?.type === "LISTED")
          execFileSync(process.execPath, [program("kron"), "run", "demo/watched", "--state", state]);
        if (frame.snapshot?.context?.attemptId === undefined) return;
        seen.push(JSON.stringify(frame.snapshot.value));
        if (frame.snapshot.status === "done") resolve(seen);
      };
      createInterface({ input: krond.stdout }).on("line", (text) => {
        const { event, inspect } = JSON.parse(text);
        if (event === "ready") watch(inspect, see);
      });
    });
    assert.deepEqual(states, [
      '"arming"',
      '{"gated":"claiming"}',
      '{"running":"released"}',
      '{"running":"confirmed"}',
      '{"ended":"recorded"}',
    ]);
  } finally {
    krond.removeAllListeners("exit");
    krond.kill("SIGTERM");
    await new Promise((resolve) => krond.once("exit", resolve));
    rmSync(directory, { recursive: true });
  }
}
