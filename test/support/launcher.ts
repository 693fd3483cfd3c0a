import * as fs from "node:fs";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type ProcessLauncherOptions, startLauncher } from "../../src/actors/launcher/daemon/process-launcher.js";
import type { Launcher, ProcessArm } from "../../src/actors/launcher/port.js";
import { readStat } from "../../src/actors/process-identity.js";
import { ProcessScanner } from "../../src/actors/process-scan.js";
import type { Armed, Ended, RunnerEvent } from "../../src/actors/runner/port.js";
import { bundleEntry } from "./bundle.js";

export const isRoot = process.geteuid?.() === 0;
/** For titles of rows that need root. */
export const ROOT_ONLY = isRoot ? "" : " (skipped: this needs root)";

/** Waits for a condition of the outside world, bounded by the runner's own patience. */
export async function eventually(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  await expect.poll(isSo, { interval: 5, message: what }).toBe(true);
}

export function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return typeof stat === "object" && stat.state !== "Z";
}

let launchers = 0;
/** Each launcher runs its own name of the bundle, by which its processes are told from those of others. */
function ownEntry(bundle: string): string {
  const entry = `${bundle}.${++launchers}.mjs`;
  fs.symlinkSync(bundle, entry);
  return entry;
}

let attempts = 0;
/** Ids that no other test process uses, so that what is left of them can be found. */
export function newAttemptId(): string {
  return `test-${process.pid}-${++attempts}`;
}

export function shellRequest(text: string, more: Partial<ProcessArm> = {}): ProcessArm {
  const attemptId = more.attemptId ?? newAttemptId();
  return {
    kind: "process",
    attemptId,
    command: { kind: "shell", text },
    user: null,
    group: null,
    cwd: "/",
    umask: null,
    env: { KRON_ATTEMPT_ID: attemptId, PATH: "/usr/bin:/bin" },
    accountEnv: false,
    openFiles: 1024,
    stdin: null,
    output: { to: "discard" },
    ...more,
  };
}

export interface TestLauncher {
  readonly port: Launcher;
  /** The file that its processes run. */
  readonly entry: string;
  readonly events: RunnerEvent[];
  /** Arms; fails the test when that is refused. */
  ready(request: ProcessArm): Promise<Armed>;
  /** Arms and releases. */
  run(request: ProcessArm): Promise<Armed>;
  /** How this attempt ended, when it has. */
  exitOf(armed: Armed): Promise<Ended>;
  /** PIDs of the launcher processes. */
  processes(): Promise<readonly number[]>;
}

let bundle: ReturnType<typeof bundleEntry> | null = null;

/** The launcher process as a file that Node runs, made once for each file of tests. */
export async function launcherEntry(): Promise<string> {
  bundle ??= bundleEntry("src/actors/launcher/child/process.ts");
  return (await bundle).file;
}

function useBundle(): void {
  beforeAll(async () => {
    await launcherEntry();
  });
  afterAll(async () => {
    (await bundle)?.remove();
  });
}

/** Real launchers over a freshly bundled launcher process; after each test nothing of theirs is left. */
export function testLaunchers(): (options?: ProcessLauncherOptions) => Promise<TestLauncher> {
  const started: Launcher[] = [];
  useBundle();
  afterEach(async () => {
    await Promise.all(started.splice(0).map((launcher) => launcher.close()));
    await killLeftovers();
  });
  return async (options = {}) => {
    const entry = options.entry ?? ownEntry(await launcherEntry());
    const launcher = await startLauncher({ count: 1, ...options, entry });
    started.push(launcher);
    return watched(launcher, entry);
  };
}

/** One launcher for a whole file of tests that do not harm it. */
export function sharedLauncher(): () => TestLauncher {
  let shared: TestLauncher;
  useBundle();
  beforeAll(async () => {
    const entry = ownEntry(await launcherEntry());
    shared = watched(await startLauncher({ entry, count: 1 }), entry);
  });
  afterEach(killLeftovers);
  afterAll(() => shared.port.close());
  return () => shared;
}

function watched(launcher: Launcher, entry: string): TestLauncher {
  const events: RunnerEvent[] = [];
  launcher.subscribe((event) => events.push(event));
  const ready = async (request: ProcessArm) => {
    const answer = await launcher.arm(request);
    if (!answer.ok) throw new Error(`refused: ${answer.error.code}: ${answer.error.message}`);
    return answer.value;
  };
  const find = (armed: Armed) =>
    events.find((event): event is Ended => event.kind === "ended" && event.attemptId === armed.attemptId);
  return {
    port: launcher,
    entry,
    events,
    ready,
    run: async (request: ProcessArm) => {
      const armed = await ready(request);
      expect(await launcher.go(armed, Date.now() + 60_000)).toBe("started");
      return armed;
    },
    exitOf: async (armed: Armed) => {
      await eventually(() => find(armed) !== undefined, `the exit of ${armed.attemptId}`);
      return find(armed) as Ended;
    },
    processes: () => launcherProcesses(entry),
  };
}

async function launcherProcesses(entry: string): Promise<readonly number[]> {
  const seen = await new ProcessScanner().scan();
  return seen.filter((it) => it.parentPid === process.pid && commandLine(it.pid).includes(entry)).map((it) => it.pid);
}

function commandLine(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Ends, one by one, what attempts of this test process left behind. */
async function killLeftovers(): Promise<void> {
  const seen = await new ProcessScanner().scan();
  for (const { pid } of seen.filter((it) => it.attemptId?.startsWith(`test-${process.pid}-`))) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone by itself.
    }
  }
}
