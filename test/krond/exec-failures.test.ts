/**
 * S24, ERROR-MODEL: a command that gets past its gate and cannot be executed all the same. The process was created and has
 * its claim, so that the period is executed, with the exit code that the gate leaves in its place; nothing is tried again.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, childrenOf, krondProcesses } from "../support/krond.js";
import { NEVER, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

/** ELF, 64 bits, and nothing that could be loaded. */
const NO_BINARY = "\x7fELF\x02\x01\x01 and nothing more";
const KIB = "x".repeat(1_024);

interface Row {
  readonly name: string;
  readonly content: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly said: string;
}

const ROWS: readonly Row[] = [
  { name: "ENOENT: an interpreter that is not there", content: "#!/no/such/sh\n", code: 127, said: "not found" },
  { name: "EACCES: an interpreter that is none", content: "#!/etc/passwd\n", code: 126, said: "Permission denied" },
  { name: "ENOEXEC: a binary of another kind", content: NO_BINARY, code: 126, said: "Exec format error" },
  { name: "ETXTBSY: somebody writes it", content: "#!/bin/sh\n", code: 126, said: "Text file busy" },
  {
    name: "E2BIG: what fitted without the environment does not with it",
    content: "#!/bin/sh\n",
    args: Array.from({ length: 4 }, () => KIB.repeat(110)),
    env: Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`V${index}`, KIB.repeat(25)])),
    code: 126,
    said: "Argument list too long",
  },
];

/** Arguments and environment may take a quarter of the stack together; a process has the limit of the one that made it. */
function shrinkStacks(daemon: number): void {
  for (const pid of childrenOf(daemon)) spawnSync("prlimit", ["--pid", String(pid), "--stack=2097152:"]);
}

function write(here: Place, name: string, content: string): string {
  const file = path.join(here.root, name);
  fs.writeFileSync(file, content, { mode: 0o755 });
  return file;
}

describe("S24: exec fails after GO", () => {
  test.each(ROWS)("$name: executed, exit code $code, told as an ExecutionError", async (row) => {
    const here = place("");
    const file = write(here, "command", row.content);
    const command = JSON.stringify([file, ...(row.args ?? [])]);
    const env = JSON.stringify(row.env ?? {});
    here.write(`  - { identity: t/x, schedule: "${NEVER}", command: ${command}, env: ${env} }\n`);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    shrinkStacks(krond.pid);
    const writer = row.said === "Text file busy" ? fs.openSync(file, "r+") : null;
    expect(here.kron("run", "t/x").status).toBe(0);
    const told = await krond.event("completed", { identity: "t/x", exit_code: row.code, signal: null });
    const category = { level: "error", error_type: "ExecutionError", error_code: "exec-failed" };
    expect(told).toMatchObject({ ...category, operation: "run", fatal: false });
    if (writer !== null) fs.closeSync(writer);
    const [run] = JSON.parse(here.kron("history", "t/x", "-o", "json").out) as Record<string, unknown>[];
    expect(run).toMatchObject({ source: "manual", exit_code: row.code, signal: null, reason: "exec-failed" });
    expect(here.kron("logs", "t/x").out).toContain(row.said);
    expect(krond.lines.filter(({ event }) => event === "started")).toHaveLength(1);
  });
});
