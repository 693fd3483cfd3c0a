#!/usr/bin/env node
import { KROND } from "./commands/krond/index.js";
import { EXIT } from "./exit.js";
import { systemIo } from "./io.js";
import { runProgram } from "./program.js";

runProgram(KROND, process.argv.slice(2), systemIo()).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(
      `krond: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = EXIT.fatal;
  },
);
