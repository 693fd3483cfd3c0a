/** Completion for fish: one line for each thing that can be said. */
import type { CompletedCommand, CompletedOption, CompletedProgram, ValueKind } from "./words.js";

const JOBS = `function __kron_jobs
    set -l state
    set -l words (commandline -opc)
    for index in (seq (count $words))
        if contains -- $words[$index] --state -s
            set state --state $words[(math $index + 1)]
        end
    end
    command kron list --identity (commandline -ct)'*' --count 200 -o jsonl $state 2>/dev/null |
        string match -rg '^{"identity":"([^"\\\\\\\\]*)"'
end`;

export function fishCompletion(programs: readonly CompletedProgram[]): string {
  const lines = programs.flatMap(programLines).join("\n");
  return `# Completion for fish: kron completion fish | source\n\n${JOBS}\n\n${lines}\n`;
}

function programLines({ name, commands }: CompletedProgram): string[] {
  return [`complete -c ${name} -f`, ...commands.flatMap((command) => commandLines(name, command))];
}

function commandLines(program: string, { name, summary, options, words, takes }: CompletedCommand): string[] {
  const start = `complete -c ${program}`;
  const seen = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
  const first = words.length === 0 ? [] : [`${start} ${seen} -a ${quoted(words.join(" "))}`];
  const rest =
    takes === "job" ? [`${start} ${seen} -a '(__kron_jobs)'`] : takes === "file" ? [`${start} ${seen} -F`] : [];
  return [
    `${start} -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...first,
    ...rest,
    ...options.map((option) => `${start} ${seen} ${optionWords(option)}`),
  ];
}

function optionWords({ names, help, value }: CompletedOption): string {
  const named = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  return [...named, ...(value === null ? [] : valueWords(value)), `-d ${quoted(help)}`].join(" ");
}

function valueWords(kind: ValueKind): string[] {
  if (kind === "free") return ["-x"];
  if (kind === "directory") return ["-x", "-a '(__fish_complete_directories)'"];
  return kind === "file" ? ["-r", "-F"] : ["-x", `-a ${quoted(kind.words.join(" "))}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
