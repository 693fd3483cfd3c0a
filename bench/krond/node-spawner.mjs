/**
 * What a scheduler inside a grown Node process does: one with a heap of 1 GB spawns the commands itself. Arguments: how
 * many, then the command. Told over IPC when; says when all have ended, and how late its event loop was meanwhile.
 */
import { spawn } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";

const HEAP_BYTES = 2 ** 30;
const RESOLUTION_MS = 20;
const HASTE_MS = 5;
const [count, program, ...args] = process.argv.slice(2);

/** Small objects, as programs hold them, and not one large buffer outside the heap. */
function grow() {
  const held = [];
  while (process.memoryUsage().heapUsed < HEAP_BYTES) {
    for (let i = 0; i < 100_000; i += 1) held.push({ index: i, text: `value ${i}`, next: null });
  }
  return held;
}

function spawnAll() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let left = Number(count);
  const ended = () => {
    left -= 1;
    if (left > 0) return;
    histogram.disable();
    process.send({ type: "ended", loopDelayMs: Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS) });
  };
  // A turn of the loop after each, as timers of their own would have it.
  const next = (index) => {
    spawn(program, args, { stdio: "ignore" }).on("exit", ended);
    if (index + 1 < Number(count)) setImmediate(next, index + 1);
  };
  next(0);
}

const heap = grow();
process.on("message", ({ at }) => {
  const wait = () => {
    const leftMs = at - Date.now();
    if (leftMs > 0) setTimeout(wait, Math.min(leftMs, HASTE_MS));
    else spawnAll();
  };
  wait();
});
process.on("disconnect", () => process.exit(0));
process.send({ type: "ready", held: heap.length });
