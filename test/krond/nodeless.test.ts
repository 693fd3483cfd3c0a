import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

function job(name: string, more: string): string {
  return `  - { identity: t/${name}, schedule: "${NEVER}", command: [/bin/true]${more} }\n`;
}

test("S49: a daemon that is alone runs jobs of other nodes itself, and says so at its start and at a reload", async () => {
  const here = place(
    [job("a", ""), job("b", ", node: db1"), job("c", ", pool: gpu"), job("d", ", pool: any")].join(""),
  );
  const first = startKrond(here.config, here.state);
  expect(await first.event("no_nodes")).toMatchObject({ level: "warn", jobs: 2, identity: "t/b" });
  await first.ready();
  expect(here.kron("run", "t/b", "--wait").status).toBe(0);

  here.write(job("a", ", node: db9"));
  expect(here.krond("reload").status).toBe(0);
  await first.kill("SIGTERM");
  const told = first.lines.filter(({ event }) => event === "no_nodes");
  expect(told.map(({ jobs, identity }) => [jobs, identity])).toEqual([
    [2, "t/b"],
    [1, "t/a"],
  ]);
});
