/** Ctrl-C as a terminal does it: SIGINT to a whole process group, of which npm or the like passes its own on. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { builtPrograms, childrenOf, RunningKrond } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const newDirectory = temporaryDirectories();
const place = placesIn(newDirectory, programs);

/** Passes SIGINT on as npm does, and says on standard error that it has. */
const FORWARDER = `
const { spawn } = require("node:child_process");
const [program, ...args] = process.argv.slice(1);
const child = spawn(program, args, { stdio: "inherit" });
process.on("SIGINT", () => { child.kill("SIGINT"); process.stderr.write("passed on\\n"); });
child.on("exit", (code) => process.exit(code));
`;

const groups: RunningKrond[] = [];
const stopped: number[] = [];

function pressCtrlC(group: RunningKrond): void {
  process.kill(-group.pid, "SIGINT");
}

function letGo(): void {
  for (const pid of stopped.splice(0)) {
    try {
      process.kill(pid, "SIGCONT");
    } catch {
      // It ended by itself in between.
    }
  }
}

afterEach(async () => {
  letGo();
  for (const group of groups.splice(0)) {
    try {
      process.kill(-group.pid, "SIGKILL");
    } catch {
      // Nobody of it is left.
    }
    await group.ended;
  }
});

function inGroup(program: string, args: readonly string[], cwd: string): RunningKrond {
  const env = { ...process.env, KRON_CONFIG: "", KRON_STATE: "" };
  const group = new RunningKrond(spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true }));
  groups.push(group);
  return group;
}

/** While launchers stand still the daemon cannot come to its end. */
async function drainIsHeldUp(group: RunningKrond): Promise<void> {
  const { pid } = await group.ready();
  stopped.push(...childrenOf(Number(pid)));
  expect(stopped.length).toBeGreaterThan(0);
  for (const launcher of stopped) process.kill(launcher, "SIGSTOP");
}

function daemon(): readonly string[] {
  const { config, state } = place(job("t/a", "true"));
  return [process.execPath, programs().krond, "start", "--config", config, "--state", state, "--log-format", "json"];
}

describe("Ctrl-C", () => {
  test("drains, although a forwarder in the group sends it a second time", async () => {
    const group = inGroup(process.execPath, ["-e", FORWARDER, ...daemon()], "/");
    await drainIsHeldUp(group);
    pressCtrlC(group);
    await group.event("draining", { signal: "SIGINT" });
    await expect.poll(() => group.stderr).toBe("passed on\n");
    letGo();
    expect(await group.ended).toBe(0);
    expect(group.lines.at(-1)).toMatchObject({ event: "stopped", level: "info" });
  });

  test("pressed again while it drains, it ends at once", async () => {
    const group = inGroup(process.execPath, ["-e", FORWARDER, ...daemon()], "/");
    await drainIsHeldUp(group);
    pressCtrlC(group);
    await group.event("draining", { signal: "SIGINT" });
    // Somebody who keeps pressing until it helps.
    const pressing = setInterval(() => pressCtrlC(group), 100);
    const said = await group.event("stopped").finally(() => clearInterval(pressing));
    expect(said).toMatchObject({ level: "warn", signal: "SIGINT" });
    letGo();
    expect(await group.ended).toBe(0);
  });

  test("under 'npm start' it drains", async () => {
    const root = newDirectory();
    const start = `exec ${daemon()
      .map((word) => `'${word}'`)
      .join(" ")}`;
    fs.writeFileSync(path.join(root, "package.json"), JSON.stringify({ name: "x", scripts: { start } }));
    const group = inGroup("npm", ["start", "--silent"], root);
    await drainIsHeldUp(group);
    pressCtrlC(group);
    await group.event("draining", { signal: "SIGINT" });
    letGo();
    await group.ended;
    expect(group.lines.at(-1)).toMatchObject({ event: "stopped", level: "info" });
  });
});
