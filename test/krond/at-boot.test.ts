/** S44: a job that runs at boot, on the machine that this is. */
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const CONFIG = '  - { identity: t/a, schedule: "@reboot", command: ["true"] }\n';
const ADDED = `${CONFIG}  - { identity: t/b, schedule: "@reboot", command: ["true"] }\n`;

test("once in this boot, whatever becomes of the daemon; one that is added later waits for the next", async () => {
  const here = place(CONFIG);
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  await krond.event("completed", { identity: "t/a", source: "reboot" });
  expect(here.kron("list").out).toMatch(/t\/a +@reboot UTC +at boot/);
  expect(here.kron("why", "t/a").out).toContain("executed at boot: started");
  await krond.kill("SIGKILL");
  here.write(ADDED);
  const later = startKrond(here.config, here.state);
  await later.event("boot", { identity: "t/b", is_due: false });
  await later.ready();
  expect(here.kron("run", "t/a").status).toBe(0);
  await later.event("completed", { identity: "t/a", source: "manual" });
  expect(here.kron("history", "t/a").out.match(/\(reboot\)/g)).toHaveLength(1);
  expect(here.kron("why", "t/b").out).toContain("it waits for the next boot");
});
