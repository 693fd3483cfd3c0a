/** Completion for zsh, in the words of its own helpers. */
import type { CompletedCommand, CompletedOption, CompletedProgram, ValueKind } from "./words.js";

const JOBS = `_kron_jobs() {
  local -a found state
  [[ -n \${opt_args[(i)--state]} && -n \${opt_args[--state]} ]] && state=(--state "\${opt_args[--state]}")
  found=("\${(@f)$(command kron list --identity "\${PREFIX}*" --count 200 -o jsonl "\${state[@]}" 2>/dev/null |
    sed -n 's/^{"identity":"\\([^"\\\\]*\\)".*/\\1/p')}")
  found=(\${found:#})
  compadd -a found
}`;

export function zshCompletion(programs: readonly CompletedProgram[]): string {
  const names = programs.map(({ name }) => name).join(" ");
  const functions = programs.map(programFunction).join("\n\n");
  const bindings = programs.map(({ name }) => `compdef _${name} ${name}`).join("\n");
  return `#compdef ${names}\n# Completion for zsh: source <(kron completion zsh), after compinit\n\n${JOBS}\n\n${functions}\n\n${bindings}\n`;
}

function programFunction({ name, commands }: CompletedProgram): string {
  const verbs = commands.map((command) => `    ${quoted(`${command.name}:${command.summary}`)}`).join("\n");
  const cases = commands.map(commandCase).join("\n");
  return `_${name}() {
  local -a verbs
  verbs=(
${verbs}
  )
  if ((CURRENT == 2)); then
    _describe command verbs
    return
  fi
  local verb=\${words[2]}
  shift words
  ((CURRENT--))
  case $verb in
${cases}
  esac
}`;
}

function commandCase({ name, options, words, takes }: CompletedCommand): string {
  const first = words.length === 0 ? [] : [quoted(`1:word:(${words.join(" ")})`)];
  const rest = takes === "job" ? [quoted("*:job:_kron_jobs")] : takes === "file" ? [quoted("*:file:_files")] : [];
  const specs = [...options.flatMap(optionSpecs), ...first, ...rest].map((spec) => `        ${spec}`).join(" \\\n");
  return `    ${name})\n      _arguments -s \\\n${specs}\n      ;;`;
}

function optionSpecs({ names, help, value }: CompletedOption): string[] {
  const action = value === null ? "" : `:value:${actionOf(value)}`;
  const text = help.replaceAll("[", "\\[").replaceAll("]", "\\]").replaceAll(":", "\\:");
  return names.map((name) => quoted(`${name}[${text}]${action}`));
}

function actionOf(kind: ValueKind): string {
  if (kind === "free") return " ";
  if (kind === "directory") return "_files -/";
  return kind === "file" ? "_files" : `(${kind.words.join(" ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
