import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const newDirectory = temporaryDirectories();
const place = placesIn(newDirectory, programs);

/** What the error model asks of every error line. */
const CONTRACT = ["identity", "period_id", "component", "error_type", "operation", "message"];

interface Refusal {
  readonly title: string;
  readonly status: number;
  readonly line: Readonly<Record<string, unknown>>;
  readonly more?: readonly string[];
  prepare(here: Place): unknown;
}

const foreignVersion = (here: Place): void => {
  const exported = path.join(here.root, "export");
  startOnce(here, ["--store", "files"]);
  expect(here.krond("state", "export", exported).status).toBe(0);
  const file = fs.readdirSync(here.state).find((name) => name.endsWith(".json") && !name.startsWith("kron-"));
  if (file === undefined) throw new Error("no document was written");
  const document = path.join(here.state, file);
  fs.writeFileSync(document, fs.readFileSync(document, "utf8").replace('"Version":"1"', '"Version":"2"'));
};

/** From nothing to a store with a document, and down again. */
function startOnce(here: Place, more: readonly string[]): void {
  const script = `"$@" & p=$!; until "$KRON" list --state "$STATE" >/dev/null 2>&1 && [ -S "$STATE/krond.sock" ]; do :; done; kill $p; wait $p`;
  const kron = path.join(here.root, "kron");
  fs.writeFileSync(kron, `#!/bin/sh\nexec "${process.execPath}" "${programs().kron}" "$@"\n`, { mode: 0o755 });
  const argv = [process.execPath, programs().krond, "start", "--config", here.config, "--state", here.state, ...more];
  const { status } = spawnSync("sh", ["-c", script, "sh", ...argv], {
    env: { ...process.env, KRON: kron, STATE: here.state },
  });
  expect(status).toBe(0);
}

const refusals: readonly Refusal[] = [
  {
    title: "2: an invalid configuration",
    status: 2,
    prepare: (here) => here.write(`  - { identity: t/a, schedule: "61 * * * *", command: [x] }\n`),
    line: { error_type: "ValidationError", component: "config", operation: "start" },
  },
  {
    title: "2: a configuration that strangers may write",
    status: 2,
    prepare: (here) => fs.chmodSync(here.config, 0o666),
    line: { error_type: "ConfigurationError", component: "config", operation: "start" },
  },
  {
    title: "3: a state directory that is open to others",
    status: 3,
    prepare: (here) => {
      fs.mkdirSync(here.state);
      fs.chmodSync(here.state, 0o755);
    },
    line: { error_type: "PersistenceError", error_code: "state-permissions", operation: "open" },
  },
  {
    title: "3: a document of an unknown version",
    status: 3,
    more: ["--store", "files"],
    prepare: foreignVersion,
    line: { error_type: "IncompatibleStateError", identity: "t/a", component: "persist" },
  },
  {
    title: "4: the lock is held",
    status: 4,
    prepare: (here) => startKrond(here.config, here.state).ready(),
    line: { error_type: "SystemError", error_code: "lock-held", operation: "lock" },
  },
  {
    title: "5: an address that is not ours",
    status: 5,
    more: ["--metrics", "192.0.2.1:9"],
    prepare: () => undefined,
    line: { error_type: "SystemError", error_code: "socket-unavailable" },
  },
];

describe("ERROR-MODEL: a refused start", () => {
  test.each(refusals)("$title: one line at ERROR before the exit, and words for people", async (refusal) => {
    const here = place(job("t/a", "true"));
    await refusal.prepare(here);
    const krond = startKrond(here.config, here.state, refusal.more ?? []);
    expect(await krond.ended).toBe(refusal.status);
    const fatal = krond.lines.filter(({ event }) => event === "fatal");
    expect(fatal).toMatchObject([{ level: "error", fatal: true, ...refusal.line }]);
    for (const line of krond.lines.filter(({ level }) => level === "error")) {
      expect(Object.keys(line)).toEqual(expect.arrayContaining(CONTRACT));
    }
    expect(krond.stderr).toMatch(/^krond: ./m);
  });

  test("every problem of a configuration is a line with its place and its job", async () => {
    const here = place(
      `  - { identity: t/a, schedule: "61 * * * *", command: [x] }\n  - { identity: t/b, schedule: "* * * * *" }\n`,
    );
    const krond = startKrond(here.config, here.state);
    await krond.ended;
    const errors = krond.lines.filter(({ event }) => event === "error");
    expect(errors).toMatchObject([
      { identity: "t/a", line: 4, error_type: "ValidationError" },
      { identity: "t/b", line: 5, error_type: "ConfigurationError" },
    ]);
  });

  test("in text form the line has the same fields, and nobody is told how to stop what never ran", () => {
    const here = place(job("t/a", "true"));
    fs.mkdirSync(here.state);
    fs.chmodSync(here.state, 0o755);
    const { status, out, err } = here.krond("start", "--config", here.config, "--log-format", "text");
    expect(status).toBe(3);
    expect(out).toMatch(
      / level=error component=persist event=fatal error_type=PersistenceError operation=open message="/,
    );
    expect(err).not.toContain("Ctrl-C");
  });

  test("where log and words both go to the journal, the line is enough, with the priority of an error", () => {
    const here = place(job("t/a", "true"));
    fs.mkdirSync(here.state);
    fs.chmodSync(here.state, 0o755);
    const file = path.join(newDirectory(), "journal");
    const stream = fs.openSync(file, "w");
    const { dev, ino } = fs.fstatSync(stream);
    const { status } = spawnSync(
      process.execPath,
      [programs().krond, "start", "--config", here.config, "--state", here.state],
      { stdio: ["ignore", stream, stream], env: { ...process.env, JOURNAL_STREAM: `${dev}:${ino}` } },
    );
    fs.closeSync(stream);
    expect(status).toBe(3);
    const lines = fs.readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^<3>\{"level":"error",/);
  });
});
