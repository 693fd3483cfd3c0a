/** From measurements to verdicts. Pure: thresholds and words are here, and are shown by tables. */
import type { ServerSample } from "../../persist/postgres/place.js";
import { type Finding, rounded, type Sample, sampleOf } from "./model.js";

const MB = 1024 * 1024;
const ENOUGH_FREE_BYTES = 512 * MB;
const LITTLE_FREE_BYTES = 64 * MB;
/** A disk that takes longer than this for a sync makes every start that much later. */
const SLOW_SYNC_MS = 50;
/** Faster than any disk answers: what is synced is not on it. */
const IMPLAUSIBLE_SYNC_MS = 0.02;
const SLOW_SPAWNS = 300;
const LATE_TIMER_MS = 20;
const VERY_LATE_TIMER_MS = 100;
/** S6: more than this is a jump; a clock that drifts less is slewed. */
const CLOCK_STEP_MS = 50;
const FEW_FILES = 4_096;

/** Jobs per commit when thousands are due in the same second: what the daemon's group commit reaches. */
const GROUP = 500;

export function judgeSync(sync: Sample): Finding {
  const figures = { p50_ms: rounded(sync.p50), p99_ms: rounded(sync.p99), max_ms: rounded(sync.max) };
  const perSecond = rounded(Math.min(20_000, (1_000 / sync.p50) * GROUP));
  const seen = `a durable write takes ${figures.p50_ms} ms (p99 ${figures.p99_ms} ms)`;
  const means = `a start waits that long; about ${perSecond} starts a second can be claimed`;
  const base = { check: "fsync", figures };
  if (sync.p50 < IMPLAUSIBLE_SYNC_MS) {
    const advice =
      "check that the state directory is on a disk that keeps what it confirms; a power cut may lose claims";
    return { ...base, verdict: "warn", message: `${seen}: faster than a disk can be`, advice };
  }
  if (sync.p99 > SLOW_SYNC_MS) {
    const advice = "put the state directory on a faster disk, or on one that other programs do not keep busy";
    return { ...base, verdict: "warn", message: `${seen}; ${means}`, advice };
  }
  return { ...base, verdict: "ok", message: `${seen}; ${means}`, advice: null };
}

const SLOW_COMMIT_MS = 50;

/** Of a store that lies on a server: what there is instead of our own disk. */
export function judgeServer({ version, isSynced, answersMs, commitsMs }: ServerSample): Finding {
  const [answer, commit] = [sampleOf(answersMs), sampleOf(commitsMs)];
  const figures = {
    answer_p50_ms: rounded(answer.p50),
    commit_p50_ms: rounded(commit.p50),
    commit_p99_ms: rounded(commit.p99),
  };
  const kept = `something kept takes ${figures.commit_p50_ms} ms (p99 ${figures.commit_p99_ms} ms)`;
  const message = `PostgreSQL ${version} answers in ${figures.answer_p50_ms} ms; ${kept}, and a start waits that long`;
  const base = { check: "store", figures, message };
  if (!isSynced) {
    const advice = "set fsync = on there: a power cut may lose claims, and the whole database";
    return { ...base, verdict: "bad", message: `${message}; it does not wait for its disk`, advice };
  }
  if (commit.p99 <= SLOW_COMMIT_MS) return { ...base, verdict: "ok", advice: null };
  const advice = "use a server that is nearer, or one with faster disks; every start waits for it";
  return { ...base, verdict: "warn", advice };
}

export interface SpawnSample {
  readonly count: number;
  readonly armedMs: number;
  readonly releasedMs: number;
}

export function judgeSpawn({ count, armedMs, releasedMs }: SpawnSample): Finding {
  const arming = rounded((count / armedMs) * 1_000);
  const releasing = rounded((count / releasedMs) * 1_000);
  const figures = { armed_per_s: arming, started_per_s: releasing, processes: count };
  const thousand = rounded(1_000 / releasing);
  const message = `${arming} processes a second are made ready, ${releasing} started; 1,000 due at once take about ${thousand} s`;
  const base = { check: "spawn", figures, message };
  if (releasing >= SLOW_SPAWNS && arming >= SLOW_SPAWNS) return { ...base, verdict: "ok", advice: null };
  const advice = "spread starts with windows (kron forecast shows the peaks), or give the machine more cores";
  return { ...base, verdict: "warn", advice };
}

export function judgeTimers(late: Sample): Finding {
  const figures = { p50_ms: rounded(late.p50), p99_ms: rounded(late.p99), max_ms: rounded(late.max) };
  const message = `timers are ${figures.p50_ms} ms late (p99 ${figures.p99_ms} ms, at most ${figures.max_ms} ms)`;
  const base = { check: "timer", figures, message };
  if (late.p99 <= LATE_TIMER_MS) return { ...base, verdict: "ok", advice: null };
  const advice = "the machine is busy or paused by its host: starts will be as late as its timers";
  return { ...base, verdict: late.p99 > VERY_LATE_TIMER_MS ? "bad" : "warn", advice };
}

export interface ClockSample {
  /** How far the wall clock moved against the monotonic one, while it was watched. */
  readonly driftMs: number;
  readonly watchedMs: number;
  /** null: nothing on this machine says so. */
  readonly isSynchronised: boolean | null;
  readonly source: string | null;
}

export function judgeClock({ driftMs, watchedMs, isSynchronised, source }: ClockSample): Finding {
  const figures = { drift_ms: rounded(driftMs), watched_ms: rounded(watchedMs), source: source ?? "unknown" };
  const base = { check: "clock", figures };
  if (Math.abs(driftMs) > CLOCK_STEP_MS) {
    const message = `the clock moved by ${figures.drift_ms} ms in ${figures.watched_ms} ms`;
    const advice = "something sets the clock: let one service slew it; Kron treats jumps as lost time (S6)";
    return { ...base, verdict: "bad", message, advice };
  }
  if (isSynchronised === false) {
    const advice = "turn on time synchronisation: jobs start by this clock";
    return { ...base, verdict: "warn", message: "the clock is not synchronised with a time service", advice };
  }
  const state = isSynchronised === null ? "whether it is synchronised cannot be told here" : "synchronised";
  const verdict = isSynchronised === null ? "unknown" : "ok";
  return { ...base, verdict, message: `the clock runs evenly (source ${figures.source}); ${state}`, advice: null };
}

export interface PlaceSample {
  readonly directory: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly fileSystem: string;
}

const VOLATILE = ["tmpfs", "ramfs"];
const REMOTE = ["nfs", "cifs", "smb2", "9p", "fuse"];

export function judgePlace({ directory, freeBytes, totalBytes, fileSystem }: PlaceSample): Finding {
  const figures = { free_mb: rounded(freeBytes / MB), total_mb: rounded(totalBytes / MB), file_system: fileSystem };
  const base = { check: "state", figures };
  const where = `${directory} is on ${fileSystem}, ${figures.free_mb} MB free`;
  if (freeBytes < LITTLE_FREE_BYTES) {
    const advice = "a full disk ends the daemon (exit 5) before anything is started twice: make room";
    return { ...base, verdict: "bad", message: where, advice };
  }
  if (VOLATILE.includes(fileSystem)) {
    const advice = "state that a restart of the machine forgets lets periods run twice: use a disk";
    return { ...base, verdict: "bad", message: `${where}: it is lost when the machine restarts`, advice };
  }
  if (REMOTE.includes(fileSystem)) {
    const advice = "locks and syncs of network file systems are not to be relied on: use a local disk";
    return { ...base, verdict: "bad", message: where, advice };
  }
  const isLittle = freeBytes < ENOUGH_FREE_BYTES;
  const advice = isLittle ? "a million jobs with their history need about 2 GB" : null;
  return { ...base, verdict: isLittle ? "warn" : "ok", message: where, advice };
}

export interface HostSample {
  readonly node: string;
  readonly cores: number;
  readonly zoneData: string;
  readonly openFiles: number | null;
  /** Programs that the daemon calls, and that are not there. */
  readonly missing: readonly string[];
  readonly isRoot: boolean;
}

export function judgeHost({ node, cores, zoneData, openFiles, missing, isRoot }: HostSample): Finding {
  const figures = { node, cores, zone_data: zoneData, open_files: openFiles ?? "unknown", root: String(isRoot) };
  const message = `Node ${node}, ${cores} cores, zone data ${zoneData}, ${openFiles ?? "unknown"} open files`;
  const base = { check: "host", figures };
  if (missing.length > 0) {
    const advice = "install util-linux: without flock the daemon does not start, without setpriv no job has a user";
    return { ...base, verdict: "bad", message: `${message}; not found: ${missing.join(", ")}`, advice };
  }
  if (openFiles !== null && openFiles < FEW_FILES) {
    const advice = `raise the limit of open files (LimitNOFILE=): ${openFiles} allow some ${Math.floor(openFiles / 4)} jobs at a time`;
    return { ...base, verdict: "warn", message, advice };
  }
  return { ...base, verdict: "ok", message, advice: null };
}
