/**
 * Reading a million jobs leaves a heap full of what was only needed to read them, and V8 sees no reason to give it back
 * while nothing happens afterwards. After a start or reload of many jobs it is asked to.
 */
import * as v8 from "node:v8";
import { runInNewContext } from "node:vm";

/** Below this there is nothing worth asking for. */
const WORTHWHILE_HEAP_BYTES = 128 * 1024 * 1024;
/** By then whoever has read the jobs has let go of them, and the threads that helped have ended. */
const AFTER_MS = 5_000;
/** What is found the first time is given back to the system by the second. */
const TIMES = 4;

type Collect = (options: { readonly type: "major"; readonly execution: "async" }) => Promise<void>;

let collect: Collect | null = null;
/** Counts who has asked: the last one is who is served. */
let asked = 0;

/** Only what programs of ours may know: whether it is worth the pause is decided then. */
export function trimMemorySoon(): void {
  asked += 1;
  trimAfterwards(asked, TIMES);
}

function trimAfterwards(turn: number, times: number): void {
  const timer = setTimeout(() => {
    if (turn !== asked) return;
    // Memory that stays is no reason to end.
    const goOn = (): void => (times > 1 ? trimAfterwards(turn, times - 1) : undefined);
    trimMemory().then(goOn, () => undefined);
  }, AFTER_MS);
  timer.unref();
}

async function trimMemory(): Promise<void> {
  const { heapTotal, external } = process.memoryUsage();
  if (heapTotal + external < WORTHWHILE_HEAP_BYTES) return;
  collect ??= collector();
  await collect({ type: "major", execution: "async" });
}

/** Node offers it as a flag only, which can be set while it runs: contexts made from then on have the function. */
function collector(): Collect {
  v8.setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as Collect;
  v8.setFlagsFromString("--no-expose-gc");
  return gc;
}
