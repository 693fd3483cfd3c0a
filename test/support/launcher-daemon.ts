/**
 * A daemon reduced to its launcher, for tests that kill it. Reads commands from standard input, one JSON text a line, and
 * answers each with one line.
 */
import { createInterface } from "node:readline";
import { startLauncher } from "../../src/actors/launcher/daemon/process-launcher.js";
import type { ProcessArm } from "../../src/actors/launcher/port.js";
import type { Armed } from "../../src/actors/runner/port.js";

export type DaemonCommand =
  | { readonly do: "arm"; readonly requests: readonly ProcessArm[] }
  | { readonly do: "go"; readonly armed: Armed; readonly latestAt: number };

const [entry = ""] = process.argv.slice(2);
const launcher = await startLauncher({ entry, count: 1 });
process.stdout.write("ready\n");

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await obey(JSON.parse(line) as DaemonCommand))}\n`);
}

async function obey(command: DaemonCommand): Promise<unknown> {
  if (command.do === "go") return launcher.go(command.armed, command.latestAt);
  const answers = await Promise.all(command.requests.map((request) => launcher.arm(request)));
  return answers.map((answer) => (answer.ok ? answer.value : null));
}
