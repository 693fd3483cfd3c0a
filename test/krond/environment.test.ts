/** Variables that stand in no definition, in a real daemon: they reach the job, and nothing else. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses, MARK } from "../support/krond.js";
import { NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const CANARY = "canary-5up3r";

function everythingIn(directory: string): string {
  const names = fs.readdirSync(directory, { recursive: true, encoding: "latin1" });
  const files = names.map((name) => path.join(directory, name)).filter((file) => fs.statSync(file).isFile());
  return files.map((file) => fs.readFileSync(file, "latin1")).join("\n");
}

test.each(["lmdb", "files"])(
  "they reach the job, are on no record (%s) and in no log, and are read anew",
  async (store) => {
    const here = place("");
    const credentials = path.join(here.root, "credentials");
    fs.mkdirSync(credentials, { mode: 0o700 });
    fs.writeFileSync(path.join(credentials, "db"), `${CANARY}-credential\n`);
    const file = path.join(here.root, "job.env");
    fs.writeFileSync(file, `FROM_FILE="${CANARY}-file"\nPLAIN=file\n`, { mode: 0o600 });
    const sources = `env_file: "${file}", pass_env: [PASSED], env_credentials: { SECRET: db }, env: { PLAIN: definition, ${MARK}: "${here.state}" }`;
    const seen = path.join(here.root, "seen");
    const command = `echo "$FROM_FILE $PASSED $SECRET $PLAIN $NOT_PASSED" > ${seen}`;
    here.write(`  - { identity: t/a, schedule: "${NEVER}", shell: true, command: '${command}', ${sources} }\n`);
    const own = { PASSED: `${CANARY}-passed`, NOT_PASSED: "x", CREDENTIALS_DIRECTORY: credentials };
    const krond = startKrond(here.config, here.state, ["--store", store], own);
    await krond.ready();
    expect(here.kron("run", "t/a").status).toBe(0);
    await krond.event("completed", { identity: "t/a", exit_code: 0 });
    expect(fs.readFileSync(seen, "utf8")).toBe(`${CANARY}-file ${CANARY}-passed ${CANARY}-credential definition \n`);
    fs.writeFileSync(file, `FROM_FILE=changed\n`);
    const from = krond.lines.length;
    here.kron("run", "t/a");
    await krond.event("completed", { identity: "t/a" }, from);
    expect(fs.readFileSync(seen, "utf8")).toContain("changed ");
    // What cannot be used is told where it was asked for, and mended without a reload.
    fs.writeFileSync(file, `FROM_FILE=1\n${CANARY}\n`);
    const refused = here.kron("run", "t/a");
    expect([refused.status, refused.err]).toEqual([1, expect.stringContaining(`${file}:2: expected NAME=value`)]);
    fs.writeFileSync(file, "");
    expect(here.kron("run", "t/a").status).toBe(0);
    expect(await krond.kill("SIGTERM")).toBe(0);
    const told = [krond.lines.map((line) => JSON.stringify(line)).join(), krond.stderr, refused.out, refused.err];
    expect(told.join() + everythingIn(here.state)).not.toContain(CANARY);
  },
);
