import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "../../../src/krond/boot/boot.js";
import type { DaemonOptions } from "../../../src/krond/boot/daemon-parts.js";
import { phaseWithLog } from "../../../src/krond/boot/start.js";
import type { DaemonEvent } from "../../../src/krond/log/log.js";
import { BACKENDS } from "../../../src/persist/backends.js";
import { builtPrograms } from "../../support/krond.js";
import { job, placesIn } from "../../support/place.js";
import { requireOk } from "../../support/results.js";
import { temporaryDirectories } from "../../support/temporary.js";

const programs = builtPrograms();
const place = placesIn(temporaryDirectories(), programs);

/** What an embedding program would see: the log is its own, and so is the phase. */
function embedded(yaml: string) {
  const here = place(yaml);
  const told: DaemonEvent[] = [];
  const log = { supervisor: () => undefined, daemon: (event: DaemonEvent) => void told.push(event) };
  const phase = phaseWithLog(log);
  const options: DaemonOptions = {
    sources: [{ path: here.config, name: path.basename(here.config) }],
    trust: null,
    stateDirectory: here.state,
    store: { backend: BACKENDS.files, at: here.state },
    log,
    metrics: null,
    env: {},
    phase,
  };
  const ways = (): readonly string[] =>
    told.flatMap(({ event, fields }) => (event === "phase" ? [`${fields?.["from"]} > ${fields?.["to"]}`] : []));
  return { here, told, phase, options, ways };
}

const UP = [
  "booting.configuring > booting.locking",
  "booting.locking > booting.opening",
  "booting.opening > recovering",
  "recovering > introducing",
  "introducing > running",
];

test("S29: the whole life of a daemon, as its log has it: from where to where", async () => {
  const { phase, options, ways, told } = embedded(job("t/a", "true"));
  const daemon = requireOk(await startDaemon(options));
  await daemon.reload();
  phase.tell({ type: "STOP", signal: "SIGTERM" });
  expect(await daemon.ended).toBe(0);
  expect(ways()).toEqual([
    ...UP,
    "running > reloading.reading",
    "reloading.reading > reloading.changing",
    "reloading.changing > running",
    "running > draining",
    "draining > closing",
    "closing > stopped",
  ]);
  const ends = told.flatMap(({ event, fields }) =>
    event === "draining" || event === "stopped" ? [[event, fields]] : [],
  );
  expect(ends).toEqual([
    ["draining", { signal: "SIGTERM", graceful: false }],
    ["stopped", {}],
  ]);
});

test("S35: a start that is refused opens nothing, and another one finds the lock free", async () => {
  const { here, options, ways } = embedded(job("t/a", "true").replace("schedule:", "schedul:"));
  expect(await startDaemon(options)).toMatchObject({ ok: false, error: { exitCode: 2, error: null } });
  expect(ways()).toEqual(["booting.configuring > failed"]);
  here.write(job("t/a", "true"));
  const again = phaseWithLog(options.log);
  const daemon = requireOk(await startDaemon({ ...options, phase: again }));
  again.tell({ type: "STOP" });
  expect(await daemon.ended).toBe(0);
});

test("a start that is broken off is no failure, and leaves nothing to be reached", async () => {
  const { here, phase, options, ways } = embedded(job("t/a", "true"));
  const starting = startDaemon(options);
  phase.tell({ type: "STOP", signal: "SIGTERM" });
  expect(await starting).toMatchObject({ ok: false, error: { exitCode: 0, findings: [], error: null } });
  expect(ways()).toEqual(["booting.configuring > stopped"]);
  expect(fs.existsSync(path.join(here.state, "control.sock"))).toBe(false);
});
