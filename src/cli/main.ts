/** What the programs have in common: arguments in, an exit code out. */
import { EXIT } from "./exit.js";
import { systemIo } from "./io.js";
import { type Program, runProgram } from "./program.js";

/** `end` is told the exit code when everything has been done. */
export function main(program: Program, end: (exitCode: number) => void): void {
  runProgram(program, process.argv.slice(2), systemIo()).then(end, (error: unknown) => {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${program.name}: internal error: ${what}\n`);
    end(EXIT.fatal);
  });
}

/** The program ends by itself: what is still to be written is. */
export function endByItself(exitCode: number): void {
  process.exitCode = exitCode;
}

/** What had to be durable is; a timer or a pipe that is left over must not keep a refused or stopped daemon alive. */
export function endAtOnce(exitCode: number): void {
  process.exit(exitCode);
}
