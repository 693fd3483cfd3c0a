import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

function job(name: string, policy: string): string {
  return `  - { identity: t/${name}, schedule: "${NEVER}", command: [/bin/true]${policy} }\n`;
}

test("S19: a start says once how many jobs a restart could cost a period, and nothing where none is", async () => {
  const rows = [job("a", ""), job("b", ", policy: { deadline: 0s }"), job("c", ", policy: { suspend: true }")];
  const here = place([...rows, job("d", ", policy: { deadline: window }")].join(""));
  const first = startKrond(here.config, here.state);
  const line = await first.event("no_deadline");
  expect(line).toMatchObject({ level: "info", jobs: 2, message: expect.stringContaining("kron lint") });
  await first.kill("SIGTERM");
  expect(first.lines.filter(({ event }) => event === "no_deadline")).toHaveLength(1);

  here.write(job("d", ", policy: { deadline: window }"));
  const second = startKrond(here.config, here.state);
  await second.ready();
  // By the time it answers and ends, all that the start has to say was said.
  expect(here.kron("list").status).toBe(0);
  await second.kill("SIGTERM");
  expect(second.lines.filter(({ event }) => event === "no_deadline")).toEqual([]);
});
