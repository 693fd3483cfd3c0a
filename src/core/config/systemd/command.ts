/** ExecStart and its like: what is run, as a list of arguments, and what its prefixes ask for. */
import { err, ok, type Result } from "../../base/result.js";
import { expandSpecifiers, type SpecifierPlace } from "./specifiers.js";
import { splitWords, type Word } from "./words.js";

export interface UnitCommand {
  readonly argv: readonly string[];
  /** `-`: its failure is not one. */
  readonly mayFail: boolean;
  /** `+` and `!`: with full privileges, whatever User= says. */
  readonly isPrivileged: boolean;
}

export interface CommandPlace extends SpecifierPlace {
  /** What Environment= sets: `$NAME` is filled in here and now. */
  readonly env: Readonly<Record<string, string>>;
}

/** The commands of one line: a `;` of its own stands between two. */
export function readCommands(line: string, place: CommandPlace): Result<readonly UnitCommand[], string> {
  const words = splitWords(line);
  if (!words.ok) return words;
  const commands: UnitCommand[] = [];
  for (const part of separated(words.value)) {
    const read = readCommand(part, place);
    if (!read.ok) return read;
    commands.push(read.value);
  }
  return commands.length === 0 ? err("there is no command") : ok(commands);
}

function separated(words: readonly Word[]): readonly (readonly Word[])[] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (word.text === ";" && !word.isQuoted) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.filter((part) => part.length > 0);
}

function readCommand(words: readonly Word[], place: CommandPlace): Result<UnitCommand, string> {
  const [first, ...others] = words;
  const [, prefixes = "", program = ""] = /^([@\-:+!|]*)(.*)$/s.exec(first?.text ?? "") ?? [];
  if (program === "") return err("there is no program behind the prefix");
  if (prefixes.includes("@")) return err("@ gives the program another name for itself, which cannot be done here");
  if (prefixes.includes("|")) return err("| runs the command in the user's own shell, which cannot be done here");
  const argv: string[] = [];
  for (const word of [{ text: program, isQuoted: true }, ...others]) {
    const expanded = expandSpecifiers(word.text, place);
    if (!expanded.ok) return expanded;
    const filled = prefixes.includes(":") ? ok([expanded.value]) : fillVariables(expanded.value, place.env);
    if (!filled.ok) return filled;
    argv.push(...filled.value);
  }
  return ok({ argv, mayFail: prefixes.includes("-"), isPrivileged: /[+!]/.test(prefixes) });
}

const VARIABLE = /\$(?:\$|\{([A-Za-z_]\w*)\})/g;

/** A whole word `$NAME` becomes as many words as its value has; `${NAME}` stays a part of one. `$$` is a dollar. */
function fillVariables(word: string, env: Readonly<Record<string, string>>): Result<readonly string[], string> {
  const whole = /^\$([A-Za-z_]\w*)$/.exec(word)?.[1];
  if (whole !== undefined) {
    const value = env[whole];
    return value === undefined ? err(unknownVariable(whole)) : ok(value.split(/\s+/).filter((part) => part !== ""));
  }
  let unknown: string | null = null;
  const filled = word.replace(VARIABLE, (written, braced: string | undefined) => {
    if (braced === undefined) return written === "$$" ? "$" : written;
    if (env[braced] === undefined) unknown ??= braced;
    return env[braced] ?? "";
  });
  return unknown === null ? ok([filled]) : err(unknownVariable(unknown));
}

function unknownVariable(name: string): string {
  return `the value of ${name} is not in Environment=: write it, or run a shell: /bin/sh -c '...'`;
}

/** For a shell: several commands one after the other, until one fails that may not. */
export function shellText(commands: readonly UnitCommand[]): string {
  return commands
    .map(({ argv, mayFail }) => {
      const text = argv.map(quoted).join(" ");
      return mayFail ? `{ ${text} || :; }` : text;
    })
    .join(" && ");
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
