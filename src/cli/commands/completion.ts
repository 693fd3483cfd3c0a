import type { ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { bashCompletion } from "../completion/bash.js";
import { fishCompletion } from "../completion/fish.js";
import { completedProgram } from "../completion/words.js";
import { zshCompletion } from "../completion/zsh.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import type { Program } from "../program.js";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

function isShell(name: string): name is keyof typeof SHELLS {
  return Object.hasOwn(SHELLS, name);
}

/** `programs` is asked late: this command is part of one of them. */
export function completionCommand(programs: () => readonly Program[]): Command {
  async function run({ positionals }: ParsedArgs, io: CliIo): Promise<ExitCode> {
    const [shell = "", ...more] = positionals;
    if (!isShell(shell) || more.length > 0) {
      throw usageError("completion takes the name of a shell", `one of ${Object.keys(SHELLS).join(", ")}`);
    }
    await io.out(SHELLS[shell](programs().map(completedProgram)));
    return EXIT.ok;
  }
  return {
    name: "completion",
    summary: "print what a shell needs to complete commands, options and jobs",
    usage: "bash|zsh|fish",
    details: `
Prints a script for the shell. Jobs are completed by asking the daemon.

  source <(kron completion bash)            in ~/.bashrc
  source <(kron completion zsh)             in ~/.zshrc, after compinit
  kron completion fish | source             in ~/.config/fish/config.fish`,
    options: [],
    run,
  };
}
