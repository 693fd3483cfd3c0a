import * as fs from "node:fs";
import * as path from "node:path";
import { type SimulatedBehaviour, SimulatedHost } from "../../../src/actors/launcher/daemon/simulated-launcher.js";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { eventually, shellRequest, testLaunchers } from "../../support/launcher.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { launcherContract, type Work } from "./contract.js";

const start = testLaunchers();
const temporary = temporaryDirectories();

launcherContract("the process launcher", async () => {
  const witnesses = temporary();
  const { port } = await start();
  return {
    launcher: port,
    request: (attemptId, work) =>
      shellRequest(textOf(work, path.join(witnesses, attemptId)), commandOf(attemptId, work)),
    timesRun: (attemptId) => linesOf(path.join(witnesses, attemptId)),
    now: () => Date.now(),
    until: (isSo) => eventually(isSo, "what the contract waits for"),
    restart: async () => (await start()).port,
    close: () => port.close(),
  };
});

function textOf(work: Work, witness: string): string {
  const run = `echo ran >>${witness}`;
  if (work.do === "exit") return `${run}; exit ${work.code}`;
  return "ignoring" in work ? `trap '' TERM; ${run}; exec sleep 1000` : `${run}; exec sleep 1000`;
}

function commandOf(attemptId: string, work: Work): Partial<ProcessArm> {
  const missing = { kind: "argv", argv: ["/nonexistent/command"] } as const;
  return work.do === "not-exist" ? { attemptId, command: missing } : { attemptId };
}

function linesOf(file: string): number {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

launcherContract("the simulated launcher", async () => {
  const clock = new SimulatedClock({ startAt: Date.UTC(2026, 10, 18, 12) });
  const works = new Map<string, Work>();
  const host = new SimulatedHost(clock, (request) => behaviourOf(works.get(request.attemptId)));
  const launcher = host.launcher();
  return {
    launcher,
    request: (attemptId, work) => {
      works.set(attemptId, work);
      return shellRequest("make-believe", { attemptId });
    },
    timesRun: (attemptId) => host.executions.filter((execution) => execution.attemptId === attemptId).length,
    now: () => clock.now(),
    until: async (isSo) => {
      for (let turns = 0; !isSo() && turns < 1_000; turns++) await clock.advanceAsync(100);
    },
    restart: async () => host.launcher(),
    close: () => launcher.close(),
  };
});

function behaviourOf(work: Work | undefined): SimulatedBehaviour {
  switch (work?.do) {
    case "exit":
      return { runMs: 10, exitCode: work.code };
    case "wait":
      return { runMs: null, exitCode: 0, ignoresTerm: "ignoring" in work };
    default:
      return { runMs: 0, exitCode: 0, refusal: { code: "command-not-found", message: "there is no such command" } };
  }
}
