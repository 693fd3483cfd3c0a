#!/usr/bin/env node
import { KRON } from "./commands/index.js";
import { EXIT } from "./exit.js";
import { systemIo } from "./io.js";
import { keepOwnBits } from "./own-bits.js";
import { runProgram } from "./program.js";

keepOwnBits();
runProgram(KRON, process.argv.slice(2), systemIo()).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(
      `kron: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = EXIT.fatal;
  },
);
