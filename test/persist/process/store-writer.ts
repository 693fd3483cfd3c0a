/**
 * Commits n, n + 1, … to everything a batch can touch and says n when it is durable, until it is killed, its input
 * ends, or a write fails: then it says why, tries once more, and ends.
 */
import { KronError } from "../../../src/core/base/errors/kron-error.js";
import { BACKENDS } from "../../../src/persist/backends.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireDirectoryLock } from "../../../src/persist/lock.js";
import type { BackendName } from "../../../src/persist/marker.js";
import type { Batch } from "../../../src/persist/store.js";

const [directory = "", backend = "lmdb", bytes = "100", jobs = "20"] = process.argv.slice(2);

function say(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function batchOf(n: number): Batch {
  const filler = "x".repeat(Number(bytes));
  const identities = Array.from({ length: Number(jobs) }, (_, index) => `job/${index}`);
  return {
    documents: identities.map((identity) => ({ key: documentKey(identity), text: `${n} ${filler}` })),
    ledger: identities.map((identity) => ({ identity, at: n, kind: "outcome", text: `${n}` })),
    meta: [{ key: "last", text: `${n}` }],
  };
}

const term = acquireDirectoryLock(directory);
if (!term.ok) throw term.error;
const store = await BACKENDS[backend as BackendName].open(term.value);
if (!store.ok) throw store.error;
process.on("unhandledRejection", (error) => say({ unhandled: String(error) }));

const codeOf = (error: unknown): string => (error instanceof KronError ? error.code : String(error));
let n = Number((await store.value.meta("last")) ?? 0) + 1;
let failure: string | null = null;
while (failure === null) {
  try {
    await store.value.commit(term.value, batchOf(n));
    say({ durable: n });
    n += 1;
  } catch (error) {
    failure = codeOf(error);
  }
}
const again = await store.value.commit(term.value, batchOf(n)).then(() => "committed", codeOf);
say({ failed: n, code: failure, again });
await store.value.close();
say({ closed: true });
