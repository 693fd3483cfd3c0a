import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { newDocument } from "../../../src/core/state/document.js";
import { serialiseDocument } from "../../../src/core/state/serialise.js";
import { exportSnapshot } from "../../../src/krond/state/snapshot.js";
import { BACKENDS } from "../../../src/persist/backends.js";
import { documentKey } from "../../../src/persist/keys.js";
import { acquireDirectoryLock, type LockTerm } from "../../../src/persist/lock.js";
import type { BackendName } from "../../../src/persist/marker.js";
import type { StateStore } from "../../../src/persist/store.js";
import { builtPrograms, krondProcesses } from "../../support/krond.js";
import { job, placesIn } from "../../support/place.js";
import { requireErr, requireOk } from "../../support/results.js";
import { FAST_PARENT, temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories(FAST_PARENT);
const JOBS = Array.from({ length: 1_000 }, (_, index) => `job/${index}`);

interface Busy {
  readonly directory: string;
  readonly target: string;
  stop(): Promise<number>;
}

/** Writes all documents, and a record of each, in one transaction after another, until it is stopped. */
async function busyStore(backend: BackendName): Promise<Busy> {
  const root = temporary();
  const directory = path.join(root, "state");
  fs.mkdirSync(directory, { mode: 0o700 });
  const term = requireOk(acquireDirectoryLock(directory));
  const store = requireOk(await BACKENDS[backend].open(term));
  let [isStopped, rounds] = [false, 0];
  const writing = (async () => {
    for (; !isStopped; rounds += 1) await writeRound(store, term, rounds);
  })();
  while (rounds < 3) await new Promise((resolve) => setImmediate(resolve));
  const stop = async (): Promise<number> => {
    isStopped = true;
    await writing;
    await store.close();
    term.release();
    return rounds;
  };
  return { directory, target: path.join(root, "copy"), stop };
}

async function writeRound(store: StateStore, term: LockTerm, round: number): Promise<void> {
  await store.commit(term, {
    documents: JOBS.map((identity) => {
      const text = serialiseDocument({ ...newDocument(identity), LastReason: `round ${round}` });
      return { key: documentKey(identity), text };
    }),
    ledger: JOBS.slice(0, 100).map((identity) => ({ identity, at: round, kind: "period", text: `round ${round}` })),
    meta: [{ key: "round", text: `round ${round}` }],
  });
}

/** Every round that anything in it is of. */
async function roundsIn(directory: string): Promise<ReadonlySet<string>> {
  const term = requireOk(acquireDirectoryLock(directory));
  const reader = requireOk(await BACKENDS.files.open(term));
  const found = new Set<string>();
  for await (const page of reader.documents()) {
    for (const { text } of page) found.add((JSON.parse(text) as { LastReason: string }).LastReason);
  }
  for (const identity of JOBS.slice(0, 100)) {
    const [newest] = await reader.ledgerLatest(identity, 1);
    found.add(newest?.text ?? "none");
  }
  found.add((await reader.meta("round")) ?? "none");
  await reader.close();
  term.release();
  return found;
}

describe("an export beside somebody who writes", () => {
  test("S30: is of one instant", async () => {
    const { directory, target, stop } = await busyStore("lmdb");
    const report = requireOk(
      await exportSnapshot({ place: { backend: BACKENDS.lmdb, at: directory }, target, isLive: false }),
    );
    const exportedAt = await stop();
    expect(report).toMatchObject({ documents: JOBS.length, damaged: 0 });
    expect(exportedAt).toBeGreaterThan(3);
    const rounds = await roundsIn(target);
    expect([...rounds]).toEqual([expect.stringMatching(/^round \d+$/)]);
    expect(fs.readdirSync(path.dirname(target)).sort()).toEqual(["copy", "state"]);
  });

  test("S30: a store of files is refused, unless it may be of different instants", async () => {
    const { directory, target, stop } = await busyStore("files");
    const request = { place: { backend: BACKENDS.files, at: directory }, target, isLive: false };
    expect(requireErr(await exportSnapshot(request)).code).toBe("lock-held");
    expect(fs.existsSync(target)).toBe(false);
    expect(requireOk(await exportSnapshot({ ...request, isLive: true })).documents).toBe(JOBS.length);
    await stop();
    const again = { ...request, target: `${target}.again` };
    expect(requireOk(await exportSnapshot(again)).documents).toBe(JOBS.length);
    expect((await roundsIn(again.target)).size).toBe(1);
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("krond state export beside a running daemon", () => {
  test("works, and leaves the daemon alone", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" });
    const copy = path.join(here.root, "copy");
    expect(here.krond("state", "export", copy).status).toBe(0);
    expect(fs.readdirSync(copy)).toContain(documentKey("t/a"));
    expect(here.kron("run", "t/a").status).toBe(0);
    expect(await krond.kill("SIGTERM")).toBe(0);
  });

  test("is refused with 4 for a store of files, and says what to do", async () => {
    const here = place(job("t/a", "true"));
    await startKrond(here.config, here.state, ["--store", "files"]).ready();
    const copy = path.join(here.root, "copy");
    const refused = here.krond("state", "export", copy);
    expect([refused.status, refused.err]).toEqual([4, expect.stringContaining("--live")]);
    expect(here.krond("state", "export", copy, "--live").status).toBe(0);
  });
});
