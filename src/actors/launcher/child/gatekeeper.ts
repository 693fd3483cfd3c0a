/**
 * The heart of the launcher process: every attempt from its request to its end. It answers each request with exactly one
 * message, and tells of each end once. What is durable, and whether a period may run, is not its business.
 */
import * as fs from "node:fs";
import { identityOf, readBootId } from "../../process-identity.js";
import { ProcessScanner } from "../../process-scan.js";
import { type TreeTarget, terminateTree } from "../../process-tree.js";
import type { ArmFailure } from "../../runner/port.js";
import type { GatedRun, OutputPlan, ProcessArm, RunOutput } from "../port.js";
import type { DaemonFrame, LauncherFrame } from "../protocol.js";
import { argvOf, failure } from "../request-check.js";
import { Accounts } from "./accounts.js";
import { AdoptedProcesses } from "./adopted.js";
import { type Attempt, gateRefusal, newAttempt, runOf, unstartedEnd } from "./attempt.js";
import { RunCgroups } from "./cgroups.js";
import { hardOpenFiles } from "./descriptors.js";
import { findGateShell, type GateWord, gateArgv } from "./gate.js";
import { GatedProcess, type ProcessEnd } from "./gated-process.js";
import { LAUNCHER_LIMITS } from "./limits.js";
import { Lull } from "./lull.js";
import { discardOutput, type OpenOutput, openOutput, openStdin, rotate } from "./output.js";
import { OutputCap } from "./output-cap.js";
import { Pacer } from "./pacer.js";
import { type Identity, resolveIdentity, verifyIdentity } from "./privileges.js";

export class Gatekeeper {
  readonly #attempts = new Map<string, Attempt>();
  readonly #accounts = new Accounts();
  readonly #scanner = new ProcessScanner();
  readonly #pacer = new Pacer();
  readonly #lull = new Lull();
  readonly #shell = findGateShell();
  readonly #bootId = readBootId();
  readonly #hardFiles = hardOpenFiles();
  readonly #own = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  readonly #adopted: AdoptedProcesses;
  /** Files of ended runs that are being brought into their final form. */
  readonly #tidying = new Set<Promise<void>>();
  #cgroups = new RunCgroups(null);
  readonly #send: (frame: LauncherFrame) => void;

  constructor(send: (frame: LauncherFrame) => void) {
    this.#send = send;
    this.#adopted = new AdoptedProcesses(this.#bootId, (id) => this.#ended(id, { code: null, signal: null }));
  }

  /** Each gate holds one descriptor of ours. */
  get maxArmed(): number {
    return Math.max(this.#hardFiles - LAUNCHER_LIMITS.reservedDescriptors, 1);
  }

  handle(frame: DaemonFrame): void {
    switch (frame.t) {
      case "hello":
        this.#cgroups = new RunCgroups(frame.cgroupRoot);
        return;
      case "arm":
        void this.#arm(frame.request);
        return;
      case "go":
        this.#go(frame.id, frame.latest);
        return;
      case "abort":
        this.#abort(frame.id);
        return;
      case "adopt":
        this.#adopt(frame.run, frame.output);
        return;
      case "tidy":
        this.#tidyUp(frame.output.plan, this.#capOf(frame.output.path, frame.output.plan, null));
        return;
      case "terminate":
        void this.#terminate(frame.run, frame.graceMs, frame.call);
        return;
      case "ping":
        this.#send({ t: "pong" });
        return;
    }
  }

  /** The daemon is gone: nothing that waits will ever run. What runs goes on (S29); files get their final form. */
  async close(): Promise<void> {
    for (const attempt of this.#attempts.values()) {
      if (attempt.phase === "opening" || attempt.phase === "armed") {
        attempt.process?.close();
        discardOutput(attempt.file);
        this.#cgroups.leave(attempt.cgroup);
      }
      attempt.cap?.stop();
    }
    this.#lull.end();
    await Promise.all(this.#tidying);
  }

  async #arm(request: ProcessArm): Promise<void> {
    const refusal = await this.#open(request);
    if (refusal !== null) this.#send({ t: "refused", id: request.attemptId, ...refusal });
  }

  /** null: a process exists, and everything more comes as events. */
  async #open(request: ProcessArm): Promise<ArmFailure | null> {
    const identity = await resolveIdentity(this.#accounts, this.#own, request.user, request.group);
    if (!identity.ok) return identity.error;
    await this.#pacer.turn();
    const { account, gid } = identity.value;
    const output = openOutput(request.output, { uid: account.uid, gid });
    if (!output.ok) return output.error;
    const stdin = openStdin(request.stdin);
    if (stdin.ok) this.#spawn(request, identity.value, output.value, stdin.value);
    else discardOutput(output.value.path);
    output.value.release();
    if (stdin.ok && stdin.value !== "ignore") fs.closeSync(stdin.value);
    return stdin.ok ? null : stdin.error;
  }

  #spawn(request: ProcessArm, identity: Identity, output: OpenOutput, stdin: number | "ignore"): void {
    const { account } = identity;
    const gate = gateArgv({
      shell: this.#shell,
      umask: request.umask,
      openFiles: Math.min(request.openFiles, this.#hardFiles),
      cwd: request.cwd ?? homeOf(account.home),
      argv: argvOf(request.command),
    });
    const attempt = newAttempt(request.attemptId, request.output, output.path, identity);
    const env = request.accountEnv ? { ...accountEnv(identity), ...request.env } : request.env;
    const process = GatedProcess.spawn(
      { argv: [...identity.prefix, ...gate], env, stdin, output: output.stdio },
      {
        said: (word) => this.#hear(attempt, () => this.#said(attempt, word)),
        notCreated: (why) => this.#refuse(attempt, why),
        ended: (end) => {
          attempt.cap?.stop();
          this.#hear(attempt, () => this.#ended(attempt.id, end));
        },
      },
    );
    // What could not be created has been, or will be, refused by the handler above.
    if (process === null) return;
    attempt.process = process;
    attempt.pid = process.pid;
    attempt.overdue = setTimeout(() => this.#giveUp(attempt), LAUNCHER_LIMITS.armMs);
    this.#attempts.set(attempt.id, attempt);
  }

  #refuse(attempt: Attempt, why: ArmFailure): void {
    this.#forget(attempt);
    discardOutput(attempt.file);
    this.#send({ t: "refused", id: attempt.id, ...why });
  }

  #giveUp(attempt: Attempt): void {
    if (attempt.phase !== "opening") return;
    attempt.refusal = failure("gate-failed", `the process was not ready after ${LAUNCHER_LIMITS.armMs} ms`);
    attempt.process?.close();
  }

  /** What is said of a run can wait, all of it in its order; of a gate that is being made ready it cannot. */
  #hear({ phase }: Attempt, act: () => void): void {
    if (phase === "released" || phase === "running") this.#lull.whenOver(act);
    else act();
  }

  #said(attempt: Attempt, word: GateWord): void {
    switch (word) {
      case "READY":
        this.#ready(attempt);
        return;
      case "EXEC":
        this.#started(attempt);
        return;
      case "NOEXEC":
        attempt.cause ??= "exec-failed";
        return;
      case "LATE":
        attempt.wasLate = true;
        return;
      default:
        attempt.refusal ??= gateRefusal(word);
    }
  }

  /** READY counts once the kernel has confirmed who the process is. */
  #ready(attempt: Attempt): void {
    if (attempt.phase !== "opening") return;
    const identity = identityOf(attempt.pid, this.#bootId);
    const wrong = attempt.identity?.mustVerify ? verifyIdentity(attempt.pid, attempt.identity) : null;
    if (identity === null || wrong !== null) {
      if (wrong !== null) this.#accounts.forget();
      attempt.refusal = failure(
        "privilege-drop-failed",
        `the process is not what it should be: ${wrong ?? "it is gone"}`,
      );
      attempt.process?.close();
      return;
    }
    if (attempt.overdue !== null) clearTimeout(attempt.overdue);
    attempt.startTicks = identity.startTicks;
    attempt.cgroup = this.#cgroups.enter(attempt.id, attempt.pid);
    attempt.phase = "armed";
    this.#send({ t: "armed", id: attempt.id, pid: attempt.pid, startTicks: attempt.startTicks });
  }

  /** S20: the gate itself judges whether it is too late, and is told the moment in a form that no clock jump moves. */
  #go(id: string, latest: number): void {
    const attempt = this.#attempts.get(id);
    if (attempt?.phase !== "armed") {
      this.#send({ t: "gone", id });
      return;
    }
    attempt.phase = "released";
    attempt.process?.release(latest);
    this.#lull.released();
  }

  #abort(id: string): void {
    const attempt = this.#attempts.get(id);
    if (attempt?.phase === "armed") {
      attempt.phase = "closing";
      attempt.process?.close();
    } else if (attempt?.phase !== "closing") {
      this.#send({ t: "aborted", id });
    }
  }

  #started(attempt: Attempt): void {
    if (attempt.phase !== "released") return;
    attempt.phase = "running";
    attempt.cap = this.#capOf(attempt.file, attempt.plan, attempt);
    this.#send({ t: "started", id: attempt.id });
  }

  #ended(id: string, end: ProcessEnd): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    this.#forget(attempt);
    if (attempt.phase === "running") {
      this.#sendExit(attempt, end);
      this.#cgroups.leave(attempt.cgroup);
      this.#tidyUp(attempt.plan, attempt.cap);
      return;
    }
    const answer = unstartedEnd(attempt, end);
    discardOutput(attempt.file);
    this.#cgroups.leave(attempt.cgroup);
    this.#send(answer);
  }

  #sendExit(attempt: Attempt, end: ProcessEnd): void {
    this.#send({
      t: "exited",
      id: attempt.id,
      code: end.code,
      signal: end.signal,
      wasObserved: attempt.process !== null,
      cause: attempt.cause,
    });
  }

  #tidyUp(plan: OutputPlan, cap: OutputCap | null): void {
    const tidying = (cap?.finish() ?? Promise.resolve()).then(() => this.#rotate(plan));
    this.#tidying.add(tidying);
    void tidying.finally(() => this.#tidying.delete(tidying));
  }

  #rotate(plan: OutputPlan): void {
    try {
      rotate(plan);
    } catch (error) {
      this.#trouble(`old output cannot be removed: ${String(error)}`);
    }
  }

  #adopt(run: GatedRun, output: RunOutput | null): void {
    const plan: OutputPlan = output?.plan ?? { to: "discard" };
    const attempt = newAttempt(run.attemptId, plan, output?.path ?? null, null);
    attempt.pid = run.pid;
    attempt.startTicks = run.startTicks;
    attempt.phase = "running";
    attempt.cgroup = this.#cgroups.find(run.attemptId);
    attempt.cap = this.#capOf(attempt.file, attempt.plan, attempt);
    this.#attempts.set(attempt.id, attempt);
    this.#adopted.watch(run);
  }

  #capOf(file: string | null, plan: OutputPlan, attempt: Attempt | null): OutputCap | null {
    if (plan.to !== "file" || file === null) return null;
    return new OutputCap(file, plan, {
      exceeded: ({ killGraceMs }) => void (attempt !== null && this.#endForOutput(attempt, killGraceMs)),
      trouble: (message) => this.#trouble(message),
    });
  }

  async #endForOutput(attempt: Attempt, graceMs: number): Promise<void> {
    attempt.cause = "output-exceeded";
    const { survivors } = await terminateTree(this.#targetOf(runOf(attempt)), limitsOf(graceMs), this.#scanner);
    if (survivors.length > 0)
      this.#trouble(`a run above its output cap cannot be ended: processes ${survivors.join(", ")}`);
  }

  async #terminate(run: GatedRun, graceMs: number, call: number): Promise<void> {
    const target = this.#targetOf(run);
    const end = await terminateTree(target, limitsOf(graceMs), this.#scanner);
    this.#cgroups.leave(target.cgroup);
    this.#send({ t: "terminated", call, ...end });
  }

  #targetOf(run: GatedRun): TreeTarget {
    const cgroup = this.#attempts.get(run.attemptId)?.cgroup ?? this.#cgroups.find(run.attemptId);
    return { ...run, bootId: this.#bootId, cgroup };
  }

  #forget(attempt: Attempt): void {
    if (attempt.overdue !== null) clearTimeout(attempt.overdue);
    this.#attempts.delete(attempt.id);
  }

  #trouble(message: string): void {
    this.#send({ t: "trouble", code: "output-unusable", message });
  }
}

/** Many a system account names a home that does not exist; nobody asked for it, so that is no reason to refuse. */
function homeOf(home: string): string {
  return fs.existsSync(home) ? home : "/";
}

function limitsOf(graceMs: number): { readonly graceMs: number; readonly killMs: number } {
  return { graceMs, killMs: LAUNCHER_LIMITS.killMs };
}

/** As cron does: the shell is the one that runs commands here, whatever the account logs in with. */
function accountEnv({ account }: Identity): Readonly<Record<string, string>> {
  return { HOME: account.home, LOGNAME: account.name, USER: account.name, SHELL: "/bin/sh" };
}
