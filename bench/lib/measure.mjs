/** Measuring: several rounds, their median, and how far they spread. Everything else is left to the machine. */
import { execFileSync } from "node:child_process";
import { cpus, loadavg, totalmem } from "node:os";

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Half the distance between the fastest and the slowest round, as a share of the median. */
export function spread(values) {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}

/** The value that `share` of all values do not exceed (nearest rank); null of none. */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/** Operations per second of `batch(count)`, which must do `count` operations; the count is found so that a round takes `roundMs`. */
export function roundsOf(batch, { rounds, roundMs }) {
  let count = 1;
  for (;;) {
    const took = timeOf(batch, count);
    if (took > roundMs / 4 || count > 1e8) {
      count = Math.max(1, Math.round((count * roundMs) / Math.max(took, 0.01)));
      break;
    }
    count *= 4;
  }
  return Array.from({ length: rounds }, () => (count * 1000) / timeOf(batch, count));
}

function timeOf(batch, count) {
  const started = process.hrtime.bigint();
  batch(count);
  return Number(process.hrtime.bigint() - started) / 1e6;
}

function commandVersion(command, args) {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

export function machine() {
  return {
    node: process.version,
    v8: process.versions.v8,
    tz: process.versions.tz,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    /** Of the last minute, before anything is measured: more than 0 means that others are working beside it. */
    load: Math.round(loadavg()[0] * 10) / 10,
  };
}

export function goVersion() {
  return commandVersion("go", ["version"]);
}

/** The command prefix that keeps a process on one core, where the tool for it exists. */
export function pinned(command, args) {
  return commandVersion("taskset", ["--version"]) === null
    ? [command, args]
    : ["taskset", ["-c", "0", command, ...args]];
}
