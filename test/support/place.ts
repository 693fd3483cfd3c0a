/** A directory with a configuration, and the programs that work on it: for tests of real daemons. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Programs } from "./built-programs.js";
import { type CommandResult, MARK, runProgram } from "./krond.js";

export interface Place {
  readonly root: string;
  readonly state: string;
  readonly config: string;
  /** Jobs of the configuration; they can be told from all other processes. */
  write(jobs: string): void;
  kron(...args: string[]): CommandResult;
  krond(...args: string[]): CommandResult;
}

export function placesIn(temporary: () => string, programs: () => Programs): (jobs: string) => Place {
  return (jobs) => {
    const root = temporary();
    fs.chmodSync(root, 0o700);
    const [state, config] = [path.join(root, "state"), path.join(root, "jobs.yaml")];
    const write = (text: string): void =>
      fs.writeFileSync(config, `defaults:\n  env: { ${MARK}: "${state}" }\njobs:\n${text}`, { mode: 0o644 });
    write(jobs);
    return {
      root,
      state,
      config,
      write,
      kron: (...args) => runProgram(programs().kron, [...args, "--state", state]),
      krond: (...args) => runProgram(programs().krond, [...args, "--state", state]),
    };
  };
}

/** Far enough away for every test. */
export const NEVER = "0 0 1 1 *";

export function job(identity: string, command: string, more = ""): string {
  return `  - { identity: ${identity}, schedule: "${NEVER}", shell: true, command: '${command}'${more} }\n`;
}
