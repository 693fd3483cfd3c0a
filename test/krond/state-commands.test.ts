import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses, runProgram } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("krond state", () => {
  test("S30: export and import carry everything over, from one backend to the other", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" });
    await krond.kill("SIGTERM");
    const [copy, other] = [path.join(here.state, "../copy"), path.join(here.state, "../other")];
    expect(here.krond("state", "export", copy).status).toBe(0);
    const into = ["state", "import", copy, "--store", "files", "--state", other];
    expect(runProgram(programs().krond, into).status).toBe(0);
    const [one, two] = [here.state, other].map((state) =>
      runProgram(programs().kron, ["history", "t/a", "-o", "json", "--state", state]),
    );
    expect(two?.out).toBe(one?.out);
    expect(runProgram(programs().krond, ["state", "check", "--state", other]).status).toBe(0);
  });

  test("S32: a store that is gone is refused with 3, until recover --fence", async () => {
    const here = place(job("t/a", "true"));
    const first = startKrond(here.config, here.state);
    await first.ready();
    await first.kill("SIGTERM");
    fs.rmSync(path.join(here.state, "kron.mdb"));
    const second = startKrond(here.config, here.state);
    expect(await second.ended).toBe(3);
    expect(here.krond("state", "recover", "--fence", "--config", here.config).status).toBe(0);
    await startKrond(here.config, here.state).ready();
    expect(here.kron("list", "-o", "json").out).toContain("state_recovered");
  });
});
