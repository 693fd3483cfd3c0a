#!/usr/bin/env node
import { KROND } from "./commands/krond/index.js";
import { EXIT } from "./exit.js";
import { systemIo } from "./io.js";
import { keepOwnBits } from "./own-bits.js";
import { runProgram } from "./program.js";

keepOwnBits();
runProgram(KROND, process.argv.slice(2), systemIo()).then(
  (exitCode) => {
    // What had to be durable is; a timer or a pipe that is left over must not keep a refused or stopped daemon alive.
    process.exit(exitCode);
  },
  (error: unknown) => {
    process.stderr.write(
      `krond: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(EXIT.fatal);
  },
);
