/**
 * R17: a daemon with many jobs and endpoints, watched for a while: memory, descriptors and files of the daemon and its launchers
 * must not grow, nor may its starts come later and later. `--hours 8 --jobs 10000`; needs the built package (`npm run build`),
 * or with `--programs DIRECTORY` another one. Ends with 1 where something has grown.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { ALLOWED, grown, pointsOf, slopeOf, WARM_UP_SHARE } from "./soak-judge.mjs";

const root = resolve(import.meta.dirname, "../..");
const SAMPLE_MS = 5_000;
const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const RUNS_A_SECOND = 8;
/** Every so many of those that run is a request. */
const REQUEST_EVERY = 4;
const ENDPOINTS = 50;
const ENDPOINT_EVERY = "10s";
/** One answer in so many is an error, so that people are told of some. */
const ERROR_EVERY = 20;

/** So many of them run every minute that the machine is busy and not overloaded; the others rest. */
function configuration(count, url) {
  const busy = Math.min(count, RUNS_A_SECOND * 60);
  const jobs = Array.from({ length: count }, (_, index) => ({
    identity: `soak/${index}`,
    schedule: index < busy ? "* * * * *" : `${index % 60} ${index % 24} * * *`,
    window: { mode: "after", duration: index < busy ? "59s" : "30m" },
    policy: { deadline: "30s" },
    ...(index < busy && index % REQUEST_EVERY === 0
      ? { http: { url } }
      : { command: ["/bin/echo", "said"], output: index < busy ? { keep: 3 } : { to: "discard" } }),
  }));
  const kept = "history: { keep: 3 }\nledger: { max_records: 1000 }\n";
  return `${kept}http: { allow: [127.0.0.1] }\njobs:\n${jobs.map((job) => `  - ${JSON.stringify(job)}\n`).join("")}`;
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

/** Gives what has grown. */
function report(samples, { minutes, slack }, events) {
  console.log(
    `R17: ${minutes} min, ${events.started} runs, ${events.notified} messages, errors: ${[...events.errors].map(([what, count]) => `${count} ${what}`).join(", ") || "none"}; slopes over the last ${(minutes * (1 - WARM_UP_SHARE)).toFixed(1)} min:`,
  );
  for (const name of Object.keys(ALLOWED)) {
    const points = pointsOf(samples, name);
    if (points.length === 0) continue;
    const all = points.map(([, value]) => value);
    const text = `${name}: ${slopeOf(points).toFixed(3)} a minute (from ${all[0].toFixed(1)} to ${all.at(-1).toFixed(1)}, ${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)})`;
    console.log(`R17:   ${text}`);
  }
  const faults = grown(samples, slack);
  for (const fault of faults) console.log(`R17: grown: ${fault}`);
  return faults;
}

/** Answers at once, now and then with an error, and takes what people are told. */
async function openServer() {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    const isError = request.url === "/run" && ++asked % ERROR_EVERY === 0;
    request.on("end", () => response.writeHead(isError ? 503 : 200).end("well"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

/** As a tenant makes them, over the control socket. */
async function makeEndpoints(programs, folder, state, url) {
  const kron = (...args) =>
    promisify(execFile)(process.execPath, [join(programs, "kron.js"), ...args, "--state", state], { cwd: folder });
  await kron("job", "create", "soak", "--notify", `${url}/told`);
  const endpoints = Array.from({ length: ENDPOINTS }, (_, index) => ({
    name: `e${index}`,
    url: `${url}/run`,
    baselineIntervalMs: Number.parseInt(ENDPOINT_EVERY, 10) * 1_000,
  }));
  const file = join(folder, "endpoints.json");
  writeFileSync(file, JSON.stringify({ job: "soak", endpoints }));
  await kron("endpoint", "apply", file);
}

function noteError(errors, { event, error_code: code }) {
  const what = code ?? event;
  errors.set(what, (errors.get(what) ?? 0) + 1);
}

/** As the log tells time; a slot of an interval has a place within its second. */
function wholeSecond(at) {
  return Math.floor(Date.parse(at) / 1_000) * 1_000;
}

/** What the log says, line by line; how late half of the starts were since it was asked last. */
function followed(stdout) {
  const events = { started: 0, errors: new Map(), notified: 0 };
  let [rest, late] = ["", []];
  const ready = new Promise((resolveReady) => {
    stdout.on("data", (piece) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.includes('"event":"started"')) {
          events.started += 1;
          const { time, period_id: slot, source } = JSON.parse(line);
          if (source === "interval") late.push(Date.parse(time) - wholeSecond(slot));
        } else if (line.includes('"event":"notified"')) events.notified += 1;
        else if (line.includes('"level":"error"')) noteError(events.errors, JSON.parse(line));
        else if (line.includes('"event":"ready"')) resolveReady();
      }
    });
  });
  const lateness = () => {
    const sorted = late.sort((one, other) => one - other);
    late = [];
    return sorted.length === 0 ? null : sorted[Math.floor(sorted.length / 2)];
  };
  return { events, ready, lateness };
}

async function main() {
  const options = {
    hours: { type: "string", default: "1" },
    minutes: { type: "string" },
    // How much more than in hours may come on top in minutes, while caches still fill.
    slack: { type: "string", default: "1" },
    programs: { type: "string", default: join(root, "dist") },
    jobs: { type: "string", default: "10000" },
    // Without a bound a heap grows for hours before it is worth a collection, and a leak cannot be told from that.
    heap: { type: "string", default: "200" },
  };
  const { values } = parseArgs({ options });
  const [minutes, jobs] = [Number(values.minutes ?? Number(values.hours) * HOUR_MINUTES), Number(values.jobs)];
  const { server, url } = await openServer();
  const folder = mkdtempSync(join(tmpdir(), "kron-soak-"));
  const [config, state] = [join(folder, "jobs.yaml"), join(folder, "state")];
  writeFileSync(config, configuration(jobs, `${url}/run`));
  const heap = `--max-old-space-size=${Number(values.heap)}`;
  const args = [
    heap,
    join(values.programs, "krond.js"),
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
  const { events, ready, lateness } = followed(daemon.stdout);
  try {
    await Promise.race([ready, ended.then(([status]) => Promise.reject(new Error(`krond: exit ${status}`)))]);
    await makeEndpoints(values.programs, folder, state, url);
    const begunAt = Date.now();
    const samples = [];
    while (Date.now() - begunAt < minutes * MINUTE_MS) {
      samples.push({
        minute: (Date.now() - begunAt) / MINUTE_MS,
        values: { ...sample(daemon.pid, state), "half of the runs of endpoints are later than, ms": lateness() },
      });
      await sleep(SAMPLE_MS);
    }
    process.exitCode = report(samples, { minutes, slack: Number(values.slack) }, events).length === 0 ? 0 : 1;
  } finally {
    daemon.kill("SIGTERM");
    await ended;
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
