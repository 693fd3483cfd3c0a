/** What people call endpoints, whose jobs have names that nobody knows: asked for when one is first shown, many at once. */
import { signal } from "@preact/signals";
import { get } from "../data.js";
import { nameOf } from "../parts/job-name.js";
import type { JobRow, Page } from "../shapes.js";

const OF_ENDPOINT = /^endpoint:[^@]+/;
const AT_ONCE = 50;
const GATHERED_MS = 50;

const known = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();
let waiting: string[] = [];

/** An actor's name as people say it; until that is known, as it is. */
export function called(sessionId: string): string {
  const identity = OF_ENDPOINT.exec(sessionId)?.[0];
  if (identity === undefined) return sessionId;
  if (!asked.has(identity)) {
    asked.add(identity);
    if (waiting.push(identity) === 1) setTimeout(() => void ask(), GATHERED_MS);
  }
  return (known.value.get(identity) ?? identity) + sessionId.slice(identity.length);
}

async function ask(): Promise<void> {
  const all = waiting;
  waiting = [];
  for (let first = 0; first < all.length; first += AT_ONCE) {
    const wanted = all.slice(first, first + AT_ONCE).map((identity) => ["identities", identity]);
    const query = new URLSearchParams([...wanted, ["limit", String(AT_ONCE)]]);
    // Whoever may not ask sees them as they are.
    const { rows } = await get<Page<JobRow>>(`/schedules?${query}`).catch(() => ({ rows: [] }));
    known.value = new Map([...known.value, ...rows.map((row) => [row.identity, nameOf(row)] as const)]);
  }
}
