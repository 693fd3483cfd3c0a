/** What jobs print, in the daemon's log: with their names, within bounds, and without a hold on the job (S29). */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { OUTPUT_LINE_LIMITS } from "../../src/actors/runner/output-lines.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const TO_LOG = ", output: { to: log }";

function printed({ lines }: RunningKrond): unknown[] {
  return lines.filter(({ event }) => event === "output").map(({ line }) => line);
}

test("each line is one of the log, with job, period and attempt, before the run is said to be over; kron logs has it too", async () => {
  const here = place(
    job("t/a", 'echo "one password=x"; echo two >&2; printf three', TO_LOG) + job("t/b", "echo quiet"),
  );
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  for (const identity of ["t/a", "t/b"]) {
    here.kron("run", identity);
    await krond.event("completed", { identity });
  }
  expect(printed(krond)).toEqual(["one password=[redacted]", "two", "three"]);
  const [started] = krond.lines.filter(({ event }) => event === "started");
  const lines = krond.lines.filter(({ event }) => event === "output");
  for (const line of lines) {
    const { identity, period_id, attempt_id } = started ?? {};
    expect(line).toMatchObject({ identity, period_id, attempt_id, component: "executor", level: "info" });
  }
  const events = krond.lines.filter(({ identity }) => identity === "t/a").map(({ event }) => event);
  // That it was started may be told a moment later, when much is being started.
  const said = events.filter((event) => event === "output" || event === "completed");
  expect(said).toEqual(["output", "output", "output", "completed"]);
  expect(here.kron("logs", "t/a").out).toBe("one password=x\ntwo\nthree");
});

test("a flood is cut short, and what was left out is counted to the line", async () => {
  const here = place(job("t/flood", "seq 1 20000", TO_LOG));
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  here.kron("run", "t/flood");
  await krond.event("completed", { identity: "t/flood" });
  const told = printed(krond);
  expect(told.slice(0, 3)).toEqual(["1", "2", "3"]);
  expect(told.length).toBeGreaterThanOrEqual(OUTPUT_LINE_LIMITS.burst);
  const leftOut = krond.lines.filter(({ event }) => event === "output_left_out");
  expect(leftOut.map(({ level }) => level)).toContain("warn");
  expect(told.length + leftOut.reduce((sum, { lines }) => sum + Number(lines), 0)).toBe(20_000);
});

test("S29: a job outlives its daemon, and the next one tells what comes from then on, once", async () => {
  const here = place("");
  const gate = path.join(here.root, "gate");
  const command = `echo before; while [ ! -e ${gate} ]; do sleep 0.05; done; echo after`;
  here.write(job("t/long", command, TO_LOG));
  const first = startKrond(here.config, here.state);
  await first.ready();
  here.kron("run", "t/long");
  await first.event("output", { line: "before" });
  await first.kill("SIGKILL");
  const second = startKrond(here.config, here.state);
  await second.ready();
  await second.event("adopted", { identity: "t/long", outcome: "watching" });
  fs.writeFileSync(gate, "");
  await second.event("completed", { identity: "t/long" });
  expect(printed(second)).toEqual(["after"]);
  expect(here.kron("logs", "t/long").out).toBe("before\nafter\n");
});
