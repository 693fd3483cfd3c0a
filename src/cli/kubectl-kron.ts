#!/usr/bin/env node
/** A plugin of kubectl: `kubectl kron run report`. It speaks to the cluster that kubectl would speak to. */
import { KUBECTL_KRON } from "./commands/kube/index.js";
import { EXIT } from "./exit.js";
import { systemIo } from "./io.js";
import { runProgram } from "./program.js";

runProgram(KUBECTL_KRON, process.argv.slice(2), systemIo()).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(
      `kubectl-kron: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = EXIT.fatal;
  },
);
