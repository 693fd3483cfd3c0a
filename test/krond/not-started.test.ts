/** S46: a slot whose start keeps failing is told of as it is: in list, why, history, metrics, the log and to people. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();
const place = placesIn(temporary, programs);

const REASON = "not_started:command-not-found";

test("an interval job without its program: said once, durable, and over with the first run that succeeds", async () => {
  const directory = temporary();
  const [program, heard] = [path.join(directory, "program"), path.join(directory, "heard")];
  const notify = `[{ command: [/bin/sh, -c, "cat >> ${heard}"] }]`;
  const here = place(`  - { identity: t/poll, every: 1s, command: [${program}], notify: ${notify} }\n`);
  const first = startKrond(here.config, here.state);
  await first.ready();
  const told = await first.event("not_started", { identity: "t/poll", source: "interval", reason: REASON });
  await first.event("notified", { identity: "t/poll", of: "failure" });
  // Tried again, and again: nothing more is said of it.
  await first.event("error", { identity: "t/poll" }, first.lines.length);
  expect(here.kron("list").out).toMatch(new RegExp(`t/poll .*${REASON} since `));
  expect(here.kron("list", "--failed").out).toContain("t/poll");
  const [row] = JSON.parse(here.kron("list", "-o", "json").out) as { start_failure: unknown }[];
  expect(row?.start_failure).toMatchObject({ source: "interval", slot: told["period_id"], reason: REASON });
  expect(here.kron("why", "t/poll").out).toContain("it could not be started: the command does not exist");
  expect(here.kron("why", `t/poll@${String(told["period_id"])}`).out).toContain("due since");
  expect(here.kron("history", "t/poll", "--failed").out.match(new RegExp(REASON, "g"))).toHaveLength(1);
  await first.kill("SIGKILL");
  const second = startKrond(here.config, here.state);
  await second.ready();
  await second.event("error", { identity: "t/poll" });
  expect(here.kron("list").out).toContain(REASON);
  fs.writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  await second.event("completed", { identity: "t/poll" });
  await second.event("notified", { identity: "t/poll", of: "recovered" });
  expect(here.kron("list").out).not.toContain(REASON);
  expect([...first.lines, ...second.lines].filter(({ event }) => event === "not_started")).toHaveLength(1);
  await second.kill("SIGTERM");
  const events = fs
    .readFileSync(heard, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string });
  expect(events.map(({ event }) => event)).toEqual(["failure", "recovered"]);
  expect(events[0]).toMatchObject({ source: "interval", result: REASON, reason: REASON });
});
