import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses, runProgram } from "../support/krond.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const temporary = temporaryDirectories();

test("S35: on_invalid: quarantine starts without the invalid job, and says so with its place", async () => {
  const root = temporary();
  fs.chmodSync(root, 0o700);
  const [state, config] = [path.join(root, "state"), path.join(root, "jobs.yaml")];
  const jobs = [
    "on_invalid: quarantine",
    "jobs:",
    '  - { identity: t/bad, schedule: "61 * * * *", command: [/bin/true] }',
    '  - { identity: t/good, schedule: "0 0 1 1 *", command: [/bin/true] }',
  ];
  fs.writeFileSync(config, `${jobs.join("\n")}\n`, { mode: 0o644 });
  const krond = startKrond(config, state);
  await krond.ready();
  await krond.event("error", { identity: "t/bad", error_type: "ValidationError", operation: "start", line: 3 });
  const list = runProgram(programs().kron, ["list", "-o", "json", "--state", state]);
  expect((JSON.parse(list.out) as { identity: string }[]).map(({ identity }) => identity)).toEqual(["t/good"]);
});
