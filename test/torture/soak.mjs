/**
 * R17: a daemon with many jobs, watched for a while: memory, descriptors and files of the daemon and its launchers must
 * not grow. `--minutes 10 --jobs 10000`; needs the built package (`npm run build`).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const SAMPLE_MS = 5_000;
const MINUTE_MS = 60_000;
/** The beginning is left out: caches fill, code is compiled. */
const WARM_UP_SHARE = 0.35;
const RUNS_A_SECOND = 8;

/** So many of them run every minute that the machine is busy and not overloaded; the others rest. */
function configuration(count) {
  const busy = Math.min(count, RUNS_A_SECOND * 60);
  const jobs = Array.from({ length: count }, (_, index) => ({
    identity: `soak/${index}`,
    schedule: index < busy ? "* * * * *" : `${index % 60} ${index % 24} * * *`,
    window: { mode: "after", duration: index < busy ? "59s" : "30m" },
    policy: { deadline: "30s" },
    command: ["/bin/echo", "said"],
    output: index < busy ? { keep: 3 } : { to: "discard" },
  }));
  return `history: { keep: 3 }\nledger: { max_records: 2000 }\njobs:\n${jobs.map((job) => `  - ${JSON.stringify(job)}\n`).join("")}`;
}

/** Of its own: pages of mapped files are the kernel's to take back. */
function memoryOf(pid) {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
}

function descriptorsOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

function launchersOf(daemon) {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === daemon);
}

function filesIn(directory) {
  let [files, bytes] = [0, 0];
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      const inner = filesIn(path);
      files += inner.files;
      bytes += inner.bytes;
    } else {
      files += 1;
      bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  return { files, bytes };
}

function sample(daemon, state) {
  const launchers = launchersOf(daemon);
  const sum = (of) => launchers.reduce((total, pid) => total + of(pid), 0);
  const { files, bytes } = filesIn(state);
  return {
    "memory of the daemon, MB": memoryOf(daemon),
    "descriptors of the daemon": descriptorsOf(daemon),
    "memory of the launchers, MB": sum(memoryOf),
    "descriptors of the launchers": sum(descriptorsOf),
    "files of the state directory": files,
    "bytes of the state directory, MB": bytes / 2 ** 20,
  };
}

/** Least squares, a minute. */
function slopeOf(points) {
  const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const over = points.reduce((total, [x, y]) => total + (x - meanX) * (y - meanY), 0);
  return over / points.reduce((total, [x]) => total + (x - meanX) ** 2, 0);
}

function report(samples, minutes, events) {
  const begin = samples.filter(({ minute }) => minute >= minutes * WARM_UP_SHARE);
  console.log(
    `R17: ${minutes} min, ${events.started} runs, ${events.errors} errors; slopes over the last ${(minutes * (1 - WARM_UP_SHARE)).toFixed(1)} min:`,
  );
  for (const name of Object.keys(samples[0].values)) {
    const points = begin.map(({ minute, values }) => [minute, values[name]]);
    const all = points.map(([, value]) => value);
    const text = `${name}: ${slopeOf(points).toFixed(3)} a minute (from ${all[0].toFixed(1)} to ${all.at(-1).toFixed(1)}, ${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)})`;
    console.log(`R17:   ${text}`);
  }
}

async function main() {
  const options = {
    minutes: { type: "string", default: "60" },
    jobs: { type: "string", default: "10000" },
    // Without a bound a heap grows for hours before it is worth a collection, and a leak cannot be told from that.
    heap: { type: "string", default: "200" },
  };
  const { values } = parseArgs({ options });
  const [minutes, jobs] = [Number(values.minutes), Number(values.jobs)];
  const folder = mkdtempSync(join(tmpdir(), "kron-soak-"));
  const [config, state] = [join(folder, "jobs.yaml"), join(folder, "state")];
  writeFileSync(config, configuration(jobs));
  const heap = `--max-old-space-size=${Number(values.heap)}`;
  const args = [
    heap,
    join(root, "dist/krond.js"),
    "start",
    "--config",
    config,
    "--state",
    state,
    "--log-format",
    "json",
  ];
  const daemon = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(daemon, "close");
  const events = { started: 0, errors: 0 };
  let rest = "";
  const ready = new Promise((resolveReady) => {
    daemon.stdout.on("data", (piece) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.includes('"event":"started"')) events.started += 1;
        else if (line.includes('"level":"error"')) events.errors += 1;
        else if (line.includes('"event":"ready"')) resolveReady();
      }
    });
  });
  try {
    await Promise.race([ready, ended.then(([status]) => Promise.reject(new Error(`krond: exit ${status}`)))]);
    const begunAt = Date.now();
    const samples = [];
    while (Date.now() - begunAt < minutes * MINUTE_MS) {
      samples.push({ minute: (Date.now() - begunAt) / MINUTE_MS, values: sample(daemon.pid, state) });
      await sleep(SAMPLE_MS);
    }
    report(samples, minutes, events);
  } finally {
    daemon.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
