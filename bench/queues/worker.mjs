/**
 * One contender in a process of its own, told by its parent over IPC what to do next. Lateness counts from the moment all
 * is due to the first line of each callback.
 */
import { quantile } from "../lib/measure.mjs";
import { CONTENDERS } from "./contenders.mjs";

const [contender, countText, environment] = process.argv.slice(2);
const count = Number(countText);
const lateness = new Float64Array(count);
let fired = 0;
let dueAt = 0;
let held = null;

function sinceDue() {
  return performance.timeOrigin + performance.now() - dueAt;
}

function report(settledMs) {
  const seen = lateness.subarray(0, fired);
  const [first, p50, p99, max] = [0, 0.5, 0.99, 1].map((share) => quantile(seen, share));
  process.send({ type: "fired", count: fired, first, p50, p99, max, settledMs });
}

function onFired() {
  if (fired === count) return;
  lateness[fired] = sinceDue();
  fired += 1;
  if (fired === count) setImmediate(settle);
}

/** Stopping waits for what is under way, so that the ends of all runs are known to the store. */
async function settle() {
  await held?.stop();
  report(sinceDue());
}

const register = await CONTENDERS[contender].open(JSON.parse(environment));

const HANDLERS = {
  async register(message) {
    dueAt = message.dueAt;
    const startedAt = performance.now();
    held = await register({ count, dueAt, fired: onFired });
    process.send({ type: "registered", registrationMs: performance.now() - startedAt });
  },
  async report() {
    report(null);
  },
};

process.on("message", (message) => HANDLERS[message.type](message));
process.on("disconnect", () => process.exit(0));
process.send({ type: "ready" });
