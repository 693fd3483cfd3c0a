/** Measures what the daemon's promises rest on, with the daemon's own means. It changes nothing and leaves nothing behind. */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../actors/clock.js";
import { startLauncher } from "../../actors/launcher/daemon/process-launcher.js";
import type { Launcher, ProcessArm } from "../../actors/launcher/port.js";
import type { Armed } from "../../actors/runner/port.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { MINUTE_MS } from "../../core/time/instant.js";
import type { ClockSample, HostSample, PlaceSample, SpawnSample } from "./judge.js";
import { type Sample, sampleOf } from "./model.js";

const SYNCS = 200;
const SYNC_BYTES = 4_096;
const PROCESSES = 200;
const TIMERS = 100;
const TIMER_MS = 10;
const CLOCK_MS = 1_000;

const { monotonicMs } = systemClock;

/** The directory, or the nearest one above it that exists: a first start makes the rest. */
export function existing(directory: string): string {
  const above = path.dirname(directory);
  return fs.existsSync(directory) || above === directory ? directory : existing(above);
}

/** One page written and synced, over and over: what a commit costs at least. */
export function measureSync(directory: string): Sample {
  const file = path.join(directory, `.kron-doctor.${randomBytes(6).toString("hex")}`);
  const descriptor = fs.openSync(file, "wx", 0o600);
  const page = randomBytes(SYNC_BYTES);
  const times: number[] = [];
  try {
    for (let count = 0; count < SYNCS; count++) {
      const from = monotonicMs();
      fs.writeSync(descriptor, page, 0, page.length, 0);
      fs.fdatasyncSync(descriptor);
      times.push(monotonicMs() - from);
    }
  } finally {
    fs.closeSync(descriptor);
    fs.unlinkSync(file);
  }
  return sampleOf(times);
}

/** Through the launcher and its gates, as jobs are. Throws what a start of the daemon would. */
export async function measureSpawn(): Promise<SpawnSample> {
  const launcher = await startLauncher();
  try {
    let ended = 0;
    let allEnded = (): void => {};
    const done = new Promise<void>((resolve) => {
      allEnded = resolve;
    });
    launcher.subscribe((event) => {
      if (event.kind === "ended" && ++ended === PROCESSES) allEnded();
    });
    const from = monotonicMs();
    const gates = await Promise.all(Array.from({ length: PROCESSES }, (_, index) => armTrue(launcher, index)));
    const armedMs = monotonicMs() - from;
    const latestAt = systemClock.now() + MINUTE_MS;
    const released = monotonicMs();
    await Promise.all(gates.map((armed) => launcher.go(armed, latestAt)));
    await done;
    return { count: PROCESSES, armedMs, releasedMs: monotonicMs() - released };
  } finally {
    await launcher.close();
  }
}

async function armTrue(launcher: Launcher, index: number): Promise<Armed> {
  const attemptId = `doctor-${process.pid}-${index}`;
  const request: ProcessArm = {
    kind: "process",
    attemptId,
    command: { kind: "argv", argv: ["/bin/true"] },
    user: null,
    group: null,
    cwd: "/",
    umask: null,
    env: { PATH: "/usr/bin:/bin", KRON_ATTEMPT_ID: attemptId },
    accountEnv: false,
    openFiles: 1_024,
    stdin: null,
    output: { to: "discard" },
  };
  const armed = await launcher.arm(request);
  if (!armed.ok) throw new Error(armed.error.message);
  return armed.value;
}

export async function measureTimers(): Promise<Sample> {
  const late: number[] = [];
  for (let count = 0; count < TIMERS; count++) {
    const from = monotonicMs();
    await sleep(TIMER_MS);
    late.push(Math.max(0, monotonicMs() - from - TIMER_MS));
  }
  return sampleOf(late);
}

export async function measureClock(): Promise<ClockSample> {
  const [wall, steady] = [Date.now(), monotonicMs()];
  await sleep(CLOCK_MS);
  const watchedMs = monotonicMs() - steady;
  const driftMs = Date.now() - wall - watchedMs;
  // A clock in whole milliseconds is never nearer than one.
  return { driftMs: Math.abs(driftMs) <= 1 ? 0 : driftMs, watchedMs, ...clockFacts() };
}

function clockFacts(): Pick<ClockSample, "isSynchronised" | "source"> {
  const source = readOrNull("/sys/devices/system/clocksource/clocksource0/current_clocksource")?.trim() ?? null;
  const isServiceKnown = fs.existsSync("/run/systemd/timesync");
  return { source, isSynchronised: isServiceKnown ? fs.existsSync("/run/systemd/timesync/synchronized") : null };
}

export function lookAtPlace(directory: string): PlaceSample {
  const { bavail, blocks, bsize } = fs.statfsSync(directory);
  return {
    directory,
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    fileSystem: fileSystemOf(fs.realpathSync(directory)),
  };
}

/** The type of the mount with the longest path that the directory lies below. */
function fileSystemOf(directory: string): string {
  let best = { at: "", type: "unknown" };
  for (const line of (readOrNull("/proc/self/mounts") ?? "").split("\n")) {
    const [, at = "", type = ""] = line.split(" ");
    const isAbove = at === "/" || directory === at || directory.startsWith(`${at}/`);
    if (isAbove && at.length >= best.at.length) best = { at, type: type.replace(/^(nfs|fuse).*/, "$1") };
  }
  return best.type;
}

export function lookAtHost(env: Readonly<Record<string, string | undefined>>): HostSample {
  const found = (name: string): boolean =>
    `${env["PATH"] ?? ""}:/usr/sbin:/usr/bin:/sbin:/bin`.split(":").some((dir) => fs.existsSync(path.join(dir, name)));
  const openFiles = /^Max open files\s+\S+\s+(\d+)/m.exec(readOrNull("/proc/self/limits") ?? "")?.[1];
  return {
    node: process.versions.node,
    cores: os.availableParallelism(),
    zoneData: zoneDataVersion(),
    openFiles: openFiles === undefined ? null : Number(openFiles),
    missing: ["flock", "setpriv", "sh"].filter((name) => !found(name)),
    isRoot: process.getuid?.() === 0,
  };
}

function readOrNull(file: string): string | null {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
