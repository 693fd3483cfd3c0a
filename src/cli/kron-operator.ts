#!/usr/bin/env node
/** The operator alone, for images: `kron-operator start` is `kron operator`, and loads no store. */
import { ENGINE_VERSION } from "../core/base/version.js";
import { lazily } from "./command.js";
import { OPERATOR } from "./commands/specs/operator.js";
import { EXIT } from "./exit.js";
import { systemIo } from "./io.js";
import { runProgram } from "./program.js";

const PROGRAM = {
  name: "kron-operator",
  summary: "kron-operator: runs KronJobs on Kubernetes, at most one Job a period.",
  version: ENGINE_VERSION,
  commands: [lazily({ ...OPERATOR, name: "start" }, async () => (await import("./commands/operator.js")).run)],
};

runProgram(PROGRAM, process.argv.slice(2), systemIo()).then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(
      `kron-operator: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(EXIT.fatal);
  },
);
