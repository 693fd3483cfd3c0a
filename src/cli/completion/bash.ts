/** Completion for bash. Jobs are asked for from the daemon, by what was typed so far, and at most a screenful. */
import type { CompletedCommand, CompletedOption, CompletedProgram, ValueKind } from "./words.js";

const HELPERS = `
# Jobs whose identity begins with $1, as the daemon or its store knows them.
__kron_jobs() {
  local -a state=()
  [[ -n $__kron_state ]] && state=(--state "$__kron_state")
  command kron list --identity "$1*" --count 200 -o jsonl "\${state[@]}" 2>/dev/null |
    sed -n 's/^{"identity":"\\([^"\\\\]*\\)".*/\\1/p'
}

# Bash breaks words at : and @, which identities contain: the line is split at blanks instead, and what bash will not
# replace is taken off again.
__kron_begin() {
  local line=\${COMP_LINE:0:COMP_POINT}
  read -ra __kron_words <<<"$line"
  [[ $line == *[[:space:]] ]] && __kron_words+=("")
  __kron_cur=\${__kron_words[-1]}
  __kron_prev=\${__kron_words[\${#__kron_words[@]}-2]}
  __kron_verb=\${__kron_words[1]}
  __kron_state=
  local index
  for ((index = 2; index < \${#__kron_words[@]} - 1; index++)); do
    case \${__kron_words[index]} in
      --state | -s) __kron_state=\${__kron_words[index + 1]} ;;
      --state=*) __kron_state=\${__kron_words[index]#--state=} ;;
    esac
  done
  local last=\${COMP_WORDS[COMP_CWORD]}
  [[ $last == [:=@]* ]] && last=\${last#?}
  __kron_kept=\${__kron_cur%"$last"}
}

# Those of the lines on standard input that begin with what was typed.
__kron_offer() {
  local word
  while IFS= read -r word; do
    if [[ -n $word && $word == "$__kron_cur"* ]]; then
      printf -v word %q "\${word#"$__kron_kept"}"
      COMPREPLY+=("$word")
    fi
  done
}
`;

export function bashCompletion(programs: readonly CompletedProgram[]): string {
  const functions = programs.map(programFunction).join("\n");
  const names = programs.map(({ name }) => `complete -F __${name}_complete ${name}`).join("\n");
  return `# Completion for bash: source <(kron completion bash)\n${HELPERS}\n${functions}\n${names}\n`;
}

function programFunction({ name, commands }: CompletedProgram): string {
  const verbs = commands.map((command) => command.name);
  return `__${name}_complete() {
  COMPREPLY=()
  local __kron_words __kron_cur __kron_prev __kron_verb __kron_state __kron_kept
  __kron_begin
  if ((\${#__kron_words[@]} <= 2)); then
    __kron_offer < <(printf '%s\\n' ${verbs.join(" ")} --help --version)
    return
  fi
  case $__kron_verb in
${commands.map(commandCase).join("\n")}
  esac
}`;
}

function commandCase(command: CompletedCommand): string {
  const values = command.options.flatMap(valueCase);
  const names = command.options.flatMap((option) => option.names.slice(0, 1));
  return `    ${command.name})
      case $__kron_prev in
${values.join("\n")}
      esac
      if [[ $__kron_cur == -* ]]; then
        __kron_offer < <(printf '%s\\n' ${names.join(" ")})
        return
      fi
${argumentLines(command)}
      ;;`;
}

function valueCase({ names, value }: CompletedOption): string[] {
  if (value === null) return [];
  return [`        ${names.join(" | ")}) ${valueAction(value)}; return ;;`];
}

function valueAction(kind: ValueKind): string {
  if (kind === "free") return "true";
  if (kind === "directory") return 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$__kron_cur")';
  if (kind === "file") return 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$__kron_cur")';
  return `__kron_offer < <(printf '%s\\n' ${kind.words.join(" ")})`;
}

function argumentLines({ words, takes }: CompletedCommand): string {
  const lines = [];
  if (words.length > 0) {
    const action = valueAction({ words });
    lines.push(`      if ((\${#__kron_words[@]} == 3)); then ${action}; return; fi`);
  }
  if (takes === "job") lines.push('      __kron_offer < <(__kron_jobs "$__kron_cur")');
  if (takes === "file") lines.push(`      ${valueAction("file")}`);
  return lines.join("\n");
}
