/**
 * One library with its tasks, in a process of its own, told by its parent over IPC what to do next. Memory and processor
 * time are read by the parent; only what nobody else can see is measured here: how long registering took, and how late
 * each callback was.
 */
import { quantile } from "../lib/measure.mjs";
import { REGISTRARS } from "./registrars.mjs";

const [library, count, directory] = [process.argv[2], Number(process.argv[3]), process.argv[4]];
const lateness = new Float64Array(count);
let fired = 0;
let dueAt = 0;
/** What a scheduler holds must not be collected. */
let held = null;

function nowMs() {
  return performance.timeOrigin + performance.now();
}

/** What is left is what the library holds, and not what it has dropped. */
function collectGarbage() {
  for (let i = 0; i < 3; i += 1) globalThis.gc();
}

function report() {
  const seen = lateness.subarray(0, fired);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(seen, share));
  process.send({ type: "fired", count: fired, p50, p99, max });
}

function onFired() {
  if (fired === count) return;
  lateness[fired] = nowMs() - dueAt;
  fired += 1;
  if (fired === count) report();
}

const register = await REGISTRARS[library](directory);

const HANDLERS = {
  async register(message) {
    dueAt = message.dueAt;
    const startedAt = performance.now();
    held = await register({ count, dueAt, fired: onFired });
    const registrationMs = performance.now() - startedAt;
    process.send({ type: "registered", registrationMs, isHeld: held !== null });
  },
  async settle() {
    collectGarbage();
    process.send({ type: "settled" });
  },
  async report() {
    report();
  },
};

process.on("message", (message) => HANDLERS[message.type](message));
process.on("disconnect", () => process.exit(0));
process.send({ type: "ready" });
