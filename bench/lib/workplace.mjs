/** Where a benchmark keeps its files, and how it waits for what others do. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** On the disk of the checkout: a temporary directory may be memory, where being durable costs nothing. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const LOOK_MS = 20;

/** A directory of our own, which is gone afterwards whatever happens. */
export async function inWorkplace(name, use) {
  mkdirSync(CACHE, { recursive: true });
  const directory = mkdtempSync(join(CACHE, `bench-${name}-`));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What `look` gives as soon as it gives something; throws after `limitMs`. */
export async function eventually(look, limitMs, what) {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > giveUpAt) throw new Error(`${what}: not done after ${Math.round(limitMs / 1000)} s`);
    await wait(LOOK_MS);
  }
}

/** In whole milliseconds of the wall clock; at once when that has passed. */
export async function until(at) {
  const leftMs = at - Date.now();
  if (leftMs > 0) await wait(leftMs);
}
