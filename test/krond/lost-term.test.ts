import * as path from "node:path";
import { expect, test } from "vitest";
import { KronError } from "../../src/core/base/errors/kron-error.js";
import { ok, type Result } from "../../src/core/base/result.js";
import { startDaemon } from "../../src/krond/boot/boot.js";
import type { DaemonEvent } from "../../src/krond/log/log.js";
import { BACKENDS, type StorePlace } from "../../src/persist/backends.js";
import type { LockTerm } from "../../src/persist/lock.js";
import { builtPrograms } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const place = placesIn(temporaryDirectories(), programs);

/** A store of files whose term can be taken away, as that of a store elsewhere can. */
function fleeting(at: string): { readonly store: StorePlace; lose(error: KronError): void } {
  let lose: (error: KronError) => void = () => undefined;
  const lost = new Promise<KronError>((resolve) => {
    lose = resolve;
  });
  const acquire = async (where: string): Promise<Result<LockTerm, KronError>> => {
    const held = requireOk(await BACKENDS.files.acquire(where));
    const term = {
      place: held.place,
      lost,
      release: () => held.release(),
      get isReleased() {
        return held.isReleased;
      },
    };
    return ok(term as LockTerm);
  };
  return { store: { backend: { ...BACKENDS.files, acquire }, at }, lose: (error) => lose(error) };
}

test("S31: a daemon whose term was taken away ends at once, and says why", async () => {
  const here = place(job("t/a", "true"));
  const { store, lose } = fleeting(here.state);
  const told: DaemonEvent[] = [];
  const daemon = requireOk(
    await startDaemon({
      sources: [{ path: here.config, name: path.basename(here.config) }],
      trust: null,
      stateDirectory: here.state,
      store,
      log: { supervisor: () => undefined, daemon: (event) => told.push(event) },
      metrics: null,
      env: {},
    }),
  );
  expect(told.map(({ event }) => event)).toContain("ready");
  lose(new KronError("lock-unavailable", "somebody else writes here now", { component: "persist", operation: "lock" }));
  expect(await daemon.ended).toBe(5);
  expect(told.at(-1)).toMatchObject({ event: "fatal", fields: { error_code: "lock-unavailable" } });
  await daemon.closeDoors();
});
